"""Recordings that somebody changed behind a digest of their own: every one is read, or refused with the file's name."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest
from tests.recordings import crowded

from agora.benchmark.results import recording_shards, shard, store
from agora.benchmark.results.recordings import recordings
from agora.errors import AgoraError

KEY = "suite/stage/0/planner/0"
STRANGE = (None, [], {}, -1, 10**9, 1e300, float("nan"), "x", b"\xff", [None], [[]], [1.0] * 7)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("tracks") / "whole.parquet"
    recording_shards.write_recordings(path, {KEY: crowded(np.arange(30) * 0.1, 2)})
    return path


def refused_or_read(path):
    """Return the message of a refusal, or None; only errors of Agora's own leave reading."""
    try:
        recording_shards.read_recordings(path)
    except AgoraError as error:
        assert str(path) in str(error)
        return str(error)
    return None


def test_bytes_that_were_flipped_behind_a_forged_digest_end_in_no_traceback(whole, tmp_path):
    path, data, said = tmp_path / "flipped.parquet", whole.read_bytes(), []
    for seed in range(150):
        chance, flipped = random.Random(seed), bytearray(data)
        for _ in range(chance.choice((1, 2, 8))):
            flipped[chance.randrange(len(data) // 2 if seed % 2 else 4, len(data))] = chance.randrange(256)
        head, tail = shard._around_digest(bytes(flipped))
        path.write_bytes(head + shard._digest(head, tail) + tail)
        said.append(refused_or_read(path))
    assert sum(one is not None for one in said) > 50


def test_values_of_other_kinds_behind_a_forged_digest_are_refused(whole, tmp_path):
    path, [row] = tmp_path / "strange.parquet", shard.read(whole).to_pylist()
    read = []
    for name in row:
        for strange in STRANGE:
            try:
                data = shard.encode(pa.Table.from_pylist([{**row, name: strange}]))
            except (pa.ArrowException, ValueError):  # no such file can be written
                continue
            path.write_bytes(data)
            if refused_or_read(path) is None:
                read.append((name, strange))
    allowed = {"key": str, "map_name": str, "failure": str, "contacts": list}
    for name, strange in read:
        assert isinstance(strange, allowed.get(name, (float, int, type(None)))), (name, strange)


def test_a_column_that_is_missing_is_named(whole, tmp_path):
    table, path = shard.read(whole), tmp_path / "less.parquet"
    for name in table.column_names:
        path.write_bytes(shard.encode(table.drop_columns([name])))
        said = refused_or_read(path)
        assert said is None or name in said or "damaged" in said


def test_a_run_with_a_forged_recording_has_the_others(whole, tmp_path, monkeypatch):
    run = tmp_path / "run"
    (run / "trajectories").mkdir(parents=True)
    (run / "run.yaml").write_text("suite: {name: suite, stages: []}\nplanners: [planner]\n")
    row = shard.read(whole).to_pylist()[0]
    bad = pa.Table.from_pylist([{**row, "key": "suite/stage/1/planner/0", "time": "soon"}])
    shard.write(run / "trajectories" / "a.parquet", shard.encode(bad))
    shard.write(run / "trajectories" / "b.parquet", whole.read_bytes())
    kept = recordings(run, [KEY, "suite/stage/1/planner/0"])
    assert list(kept) == [KEY]
    assert np.array_equal(kept[KEY].time, crowded(np.arange(30) * 0.1, 2).time)


def test_rows_without_a_key_are_no_rows(tmp_path):
    shard.write(tmp_path / "episodes" / "a.parquet", shard.encode(pa.table({"episode": [1, 2]})))
    assert store.read_rows(tmp_path / "episodes") == []
    assert "no rows" in next(iter(store.damaged_shards(tmp_path / "episodes").values()))
