"""The report of a run is written from its folder alone."""

from __future__ import annotations

import re
import shutil

import pytest
from tests.suites import planners, suite, write_world

from agora.benchmark.bench import run_all
from agora.benchmark.request import Options, Request
from agora.benchmark.results.recordings import recordings
from agora.benchmark.results.run_folder import RunFolder
from agora.errors import ResultsError, UnknownNameError
from agora.reporting.report import figures, report


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept")
    small = suite(write_world(folder / "room"), episodes=3, timeout=6.0, crowds=["orca"])
    rows = run_all(Request(small, planners("go_to_goal"), folder / "run", Options(workers=0)))
    return folder, small, rows


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
