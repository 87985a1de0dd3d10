"""A file is there whole or not at all."""

from __future__ import annotations

import os

import pytest

from agora.files import write_whole


def test_a_file_is_written_in_place_of_the_one_that_is_there(tmp_path):
    write_whole(tmp_path / "page", "grün\n")
    write_whole(tmp_path / "page", b"\x00bytes")
    assert (tmp_path / "page").read_bytes() == b"\x00bytes"
    write_whole(tmp_path / "page", "grün\n")
    assert (tmp_path / "page").read_text(encoding="utf-8") == "grün\n"
    assert [path.name for path in tmp_path.iterdir()] == ["page"]


def test_a_full_disk_leaves_what_was_there_and_the_error_names_the_file(tmp_path, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    write_whole(tmp_path / "page", "whole")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*/page'"):
        write_whole(tmp_path / "page", "half")
    assert [path.name for path in tmp_path.iterdir()] == ["page"]
    assert (tmp_path / "page").read_text() == "whole"
