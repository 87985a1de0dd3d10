"""The kept recordings of a run are enough to compute its rows again, and to write its report again."""

from __future__ import annotations

import logging
import re
import shutil

import numpy as np
import pytest
from tests.suites import planners, suite, write_world

from agora.benchmark import store
from agora.benchmark.account import account
from agora.benchmark.bench import run_all
from agora.benchmark.kept import completed, figures, recordings, report
from agora.benchmark.merged import merged
from agora.benchmark.request import Options, Request
from agora.benchmark.run_folder import RunFolder
from agora.errors import ResultsError, UnknownNameError
from agora.metrics.clean import CAUSES
from agora.metrics.planning_time import TIMING
from agora.metrics.registered import metrics


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


def test_keys_that_were_not_kept_are_left_out(kept):
    folder, _, rows = kept
    assert list(recordings(folder / "run", ["small/orca/99/go_to_goal/0", rows[1]["key"]])) == [rows[1]["key"]]
    assert recordings(folder / "run", []) == {}


def test_a_folder_without_a_run_is_refused(tmp_path):
    for read in (RunFolder.read, report, lambda folder: recordings(folder, ["a"])):
        with pytest.raises(ResultsError, match=r"no run\.yaml"):
            read(tmp_path)


@pytest.mark.parametrize("order", [("orca", "helbing", "pysocial"), ("pysocial", "helbing", "orca")])
def test_the_report_has_stages_in_the_suite_s_order(kept, tmp_path, order):
    folder, _, _ = kept
    run_all(
        Request(suite(folder / "room", episodes=1, timeout=0.5, crowds=order), planners("go_to_goal"), tmp_path, Options(workers=0))
    )
    page = report(tmp_path).read_text()
    assert f"<dd>{', '.join(order)}</dd>" in page


def test_the_report_is_written_from_the_folder_alone_and_replays_its_episodes(kept, tmp_path):
    folder, _, rows = kept
    shutil.copytree(folder / "run", tmp_path / "run")
    page = report(tmp_path / "run").read_text()
    assert page == report(tmp_path / "run").read_text()
    assert all(row["key"] in page for row in rows)


def test_the_report_counts_every_control_call(kept):
    folder, _, rows = kept
    planning = report(folder / "run").read_text().partition("<caption>Planning time, ms</caption>")[2]
    counted = sum(map(int, re.findall(r'data-value="go_to_goal · [01]">go_to_goal · [01]</th><td data-value="(\d+)">', planning)))
    samples = [len(one.time) for one in recordings(folder / "run", [row["key"] for row in rows]).values()]
    assert counted == sum(samples) - len(samples) > 30


def test_a_rotten_shard_of_trajectories_does_not_cost_the_report(kept, tmp_path, caplog):
    shutil.copytree(kept[0] / "run", tmp_path / "run")
    (tmp_path / "run" / "trajectories" / "1.parquet").write_bytes(b"PAR1 nothing of the kind")
    assert report(tmp_path / "run").exists()
    assert "1.parquet" in caplog.text


def test_figures_are_written_and_a_wrong_metric_is_named(kept, tmp_path):
    shutil.copytree(kept[0] / "run", tmp_path / "run")
    assert [path.name for path in figures(tmp_path / "run", ["path_length"], "svg")] == [
        "outcomes.svg",
        "overview.svg",
        "path_length.svg",
    ]
    with pytest.raises(UnknownNameError, match="did you mean 'path_length'"):
        figures(tmp_path / "run", ["path_lenght"], "svg")


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
    old = account(run).rows
    assert len(old) == len(rows) == 4 and all("clean_arrival" not in row for row in old)
    assert {row["outcome"] for row in old} > {"reached"}
    for found in (completed(run, old), merged([run]).rows):
        assert {row["key"]: [row[name] for name in ("clean_arrival", *CAUSES)] for row in found} == {
            key: [row[name] for name in ("clean_arrival", *CAUSES)] for key, row in rows.items()
        }
    assert "not measured" not in report(run).read_text(encoding="utf-8")


def test_clean_arrivals_of_an_older_run_without_recordings_are_not_measured(arrivals, tmp_path):
    shutil.copytree(arrivals[0], tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "trajectories")
    old = account(tmp_path / "run").rows
    assert len(old) == 4 and completed(tmp_path / "run", old) == old
    assert "not measured" in report(tmp_path / "run").read_text(encoding="utf-8")
