"""The kept recordings of a run are enough to compute its rows again."""

from __future__ import annotations

import logging
import shutil

import numpy as np
import pytest
from tests.suites import planners, suite, write_world

from agora.benchmark.bench import run_all
from agora.benchmark.request import Options, Request
from agora.benchmark.results import store
from agora.benchmark.results.audit import audit_run
from agora.benchmark.results.recordings import complete_rows, recordings
from agora.metrics.clean import CAUSES
from agora.metrics.planning_time import TIMING
from agora.metrics.registered import metrics
from agora.reporting.merged_runs import merged
from agora.reporting.report import report


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept")
    small = suite(write_world(folder / "room"), episodes=3, timeout=6.0, crowds=["orca"])
    rows = run_all(Request(small, planners("go_to_goal"), folder / "run", Options(workers=0)))
    return folder, small, rows


def test_every_metric_computed_again_from_what_was_kept_is_that_of_the_row(kept):
    folder, small, rows = kept
    found = recordings(folder / "run", [row["key"] for row in rows])
    assert list(found) == [row["key"] for row in rows]
    assert {row["outcome"] for row in rows} > {"timeout"}
    for row in rows:
        recording = found[row["key"]]
        assert recording.outcome.label == row["outcome"]
        assert recording.map is not None
        assert np.array_equal(recording.map.discs, small.start("orca", row["episode"]).map.discs)
        again = {m.name: m(recording) for m in metrics() if m.name not in TIMING}
        assert again == {name: row[name] for name in again}


def test_keys_that_were_not_kept_are_left_out(kept):
    folder, _, rows = kept
    assert list(recordings(folder / "run", ["small/orca/99/go_to_goal/0", rows[1]["key"]])) == [rows[1]["key"]]
    assert recordings(folder / "run", []) == {}


def test_recordings_of_worlds_that_are_gone_are_shown_without_maps(kept, tmp_path, caplog):
    folder, _, rows = kept
    shutil.copytree(folder / "run", tmp_path / "run")
    text = (tmp_path / "run" / "run.yaml").read_text()
    (tmp_path / "run" / "run.yaml").write_text(text.replace(str(folder / "room"), str(folder / "ruin")))
    with caplog.at_level(logging.WARNING):
        found = recordings(tmp_path / "run", [row["key"] for row in rows])
    assert len(found) == len(rows) and all(recording.map is None for recording in found.values())
    assert "there is no folder" in caplog.text
    assert report(tmp_path / "run").is_file()


@pytest.fixture(scope="module")
def arrivals(tmp_path_factory):
    """A run as made before clean arrivals were measured: its rows lack the columns."""
    folder = tmp_path_factory.mktemp("arrivals")
    small = suite(write_world(folder / "room"), episodes=2, timeout=40.0, crowds=["orca"])
    rows = run_all(Request(small, planners("pure_pursuit"), folder / "run", Options(workers=0)))
    for shard in list(store.shards(folder / "run" / "episodes")):
        old = [{name: value for name, value in row.items() if name not in ("clean_arrival", *CAUSES)} for row in shard.rows]
        shard.path.write_bytes(store.encode_rows(old, shard.run))
    return folder / "run", {row["key"]: row for row in rows}


def test_clean_arrivals_of_an_older_run_are_computed_from_its_recordings(arrivals):
    run, rows = arrivals
    old = audit_run(run).rows
    assert len(old) == len(rows) == 4 and all("clean_arrival" not in row for row in old)
    assert {row["outcome"] for row in old} > {"reached"}
    for found in (complete_rows(run, old), merged([run]).rows):
        assert {row["key"]: [row[name] for name in ("clean_arrival", *CAUSES)] for row in found} == {
            key: [row[name] for name in ("clean_arrival", *CAUSES)] for key, row in rows.items()
        }
    assert "not measured" not in report(run).read_text(encoding="utf-8")


def test_clean_arrivals_of_an_older_run_without_recordings_are_not_measured(arrivals, tmp_path):
    shutil.copytree(arrivals[0], tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "trajectories")
    old = audit_run(tmp_path / "run").rows
    assert len(old) == 4 and complete_rows(tmp_path / "run", old) == old
    assert "not measured" in report(tmp_path / "run").read_text(encoding="utf-8")
