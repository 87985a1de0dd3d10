"""Tables of numbers."""

from __future__ import annotations

import pytest

from agora.datasets.tables import once_per_file, read_table
from agora.errors import InputError


def test_rows_are_read_whatever_the_white_space(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("  1.0e+00\t2  \n\n3 -4.5\n")
    assert read_table(path, 2).tolist() == [[1.0, 2.0], [3.0, -4.5]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2\n3\n", r"t\.txt:2: expected 2 finite numbers, got '3'"),
        ("1 2\n\n3 x\n", r"t\.txt:3: expected 2 numbers, got '3 x'"),
        ("1 nan\n", r"t\.txt:1: expected 2 finite numbers"),
        ("1 1e999\n", r"t\.txt:1: expected 2 finite numbers"),
        ("\n\n", r"t\.txt:1: expected rows of 2 numbers, got none"),
    ],
)
def test_a_wrong_row_is_named_with_its_line(tmp_path, text, message):
    path = tmp_path / "t.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_table(path, 2)


def test_a_header_must_be_the_expected_one(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n")
    assert read_table(path, 2, separator=",", header="a,b").tolist() == [[1.0, 2.0]]
    with pytest.raises(InputError, match="expected the header 'b,a', got 'a,b'"):
        read_table(path, 2, separator=",", header="b,a")
    path.write_text("")
    with pytest.raises(InputError, match="an empty file"):
        read_table(path, 2, header="a,b")


def test_a_file_is_read_once_until_it_changes_and_a_missing_one_is_asked_for_again(tmp_path):
    path, reads = tmp_path / "t.txt", []

    @once_per_file
    def read(path):
        reads.append(path)
        return path.read_text()

    for text in ("one", "other"):
        path.write_text(text)
        assert [read(path), read(path)] == [text, text]
    assert len(reads) == 2
    path.unlink()
    for _ in range(2):
        with pytest.raises(FileNotFoundError):
            read(path)
