"""Shards: whole or not there, and aware of every change."""

from __future__ import annotations

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agora.benchmark.results import shard
from agora.errors import ResultsError


@pytest.fixture
def table():
    wave = np.sin(np.arange(400) * 0.01).astype(np.float32)
    return pa.table({"name": ["a", None], "wave": pa.array([wave, wave[:7]], pa.list_(pa.float32()))})


def test_a_shard_is_a_parquet_file_that_holds_the_table(tmp_path, table):
    path = tmp_path / "new" / "folder" / "x.parquet"
    shard.write(path, shard.encode(table, ["wave.list.element"]))
    assert shard.read(path).to_pylist() == table.to_pylist()
    assert pq.read_table(path).to_pylist() == table.to_pylist()
    assert [p.name for p in path.parent.iterdir()] == ["x.parquet"]


def test_equal_tables_give_equal_bytes_whatever_their_names_and_chunks(tmp_path, table):
    shard.write(tmp_path / "x.parquet", shard.encode(table, ["wave.list.element"]))
    shard.write(tmp_path / "y.parquet", shard.encode(pa.concat_tables([table.slice(0, 1), table.slice(1)]), ["wave.list.element"]))
    assert (tmp_path / "x.parquet").read_bytes() == (tmp_path / "y.parquet").read_bytes()


def test_every_cut_and_every_changed_byte_is_noticed(tmp_path):
    path = tmp_path / "x.parquet"
    shard.write(path, shard.encode(pa.table({"a": [1.5, None], "b": ["x", "y"]})))
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert shard.read(path) == "truncated or changed since it was written"
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert shard.read(path) == "truncated or changed since it was written"
    path.write_bytes(whole)
    assert not isinstance(shard.read(path), str)


def test_a_parquet_file_of_someone_else_is_no_shard(tmp_path, table):
    pq.write_table(table, tmp_path / "x.parquet")
    assert isinstance(shard.read(tmp_path / "x.parquet"), str)
    assert "cannot be read" in shard.read(tmp_path / "missing.parquet")


def test_a_failed_write_leaves_the_old_shard_and_no_part(tmp_path, table, monkeypatch):
    path = tmp_path / "x.parquet"
    shard.write(path, shard.encode(table))
    before = path.read_bytes()

    def fail(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(ResultsError, match="x.parquet: cannot be written.*No space"):
        shard.write(path, shard.encode(table.slice(0, 1)))
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["x.parquet"]


def test_a_folder_that_is_a_file_is_said_so(tmp_path, table):
    (tmp_path / "results").write_text("")
    with pytest.raises(ResultsError, match="cannot be written"):
        shard.write(tmp_path / "results" / "x.parquet", shard.encode(table))
