"""What a run kept is read back with its maps, and the report is made of it."""

from __future__ import annotations

import numpy as np
import pytest

from agora.benchmark.bench import Options, bench
from agora.benchmark.kept import figures, recordings, report
from agora.errors import ResultsError, UnknownNameError
from agora.planners.presets import named_planner
from agora.tasks.suite import load_suite

SUITE = """
name: two
seed: 3
stages:
  - name: hall
    episodes: 2
    world: {name: folder, path: hall}
    robots: {name: random, distance: 3.0}
    obstacles: {name: random, dynamic: [1, 2], static: [1, 1]}
    crowd: {model: waypoint}
    timeout: 6.0
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept")
    (folder / "two.yaml").write_text(SUITE)
    suite = load_suite(folder / "two.yaml")
    rows = bench(suite, dict([named_planner("go_to_goal")]), folder / "run", Options(workers=0))
    return folder / "run", suite, rows


def test_recordings_have_the_map_of_their_episode(run):
    folder, suite, rows = run
    keys = [row["key"] for row in rows]
    kept = recordings(folder, keys)
    assert list(kept) == keys
    for row in rows:
        place = suite.start("hall", row["episode"]).map
        assert np.array_equal(kept[row["key"]].map.discs, place.discs)
    assert not np.array_equal(kept[keys[0]].map.discs, kept[keys[1]].map.discs)


def test_the_report_names_the_run_and_replays_its_episodes(run):
    folder, _, rows = run
    page = report(folder).read_text()
    assert "go_to_goal" in page
    assert all(row["key"] in page for row in rows)


def test_a_rotten_shard_of_trajectories_does_not_cost_the_report(run, caplog):
    folder, _, _ = run
    rotten = folder / "trajectories" / "1.parquet"
    rotten.write_bytes(b"PAR1 nothing of the kind")
    assert report(folder).exists()
    rotten.unlink()
    assert "1.parquet" in caplog.text


def test_figures_are_written_and_a_wrong_metric_is_named(run):
    folder, _, _ = run
    assert [p.name for p in figures(folder, ["path_length"], "svg")] == ["outcomes.svg", "path_length.svg"]
    with pytest.raises(UnknownNameError, match="did you mean 'path_length'"):
        figures(folder, ["path_lenght"], "svg")


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(ResultsError, match=r"no run\.yaml"):
        report(tmp_path)
