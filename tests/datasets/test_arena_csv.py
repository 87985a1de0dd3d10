"""Folders as Arena 3.0's recorder writes them, with its times."""

from __future__ import annotations

import numpy as np
import pytest
from tests.small_sets import arena_folder, arena_time

from agora.benchmark.external_results import write_played
from agora.benchmark.results.recordings import recordings
from agora.core.recording import Outcome
from agora.datasets.recorded import Unsaid, read_all
from agora.errors import InputError
from agora.metrics.registered import metrics
from agora.reporting.report import report


@pytest.fixture
def folder(tmp_path):
    return arena_folder(tmp_path / "jackal_0")


def test_lines_before_the_first_message_are_passed_over(folder):
    """Arena's recorder writes an empty field for a topic that has said nothing yet."""
    for name in ("odom.csv", "pedsim_agents_data.csv"):
        header, *lines = (folder / name).read_text().splitlines()
        (folder / name).write_text("\n".join([header, f"{arena_time(11.5)},", f"{arena_time(12.0)},", *lines]) + "\n")
    header, *lines = (folder / "episode.csv").read_text().splitlines()
    (folder / "episode.csv").write_text("\n".join([header, f"{arena_time(11.5)},0", *lines]) + "\n")
    first, _ = read_all([folder.parent], Unsaid())
    assert first.robots[0].recording.time.tolist() == [0.0, 0.5, 1.25, 2.0]


def test_times_are_seconds_again_and_metrics_follow(folder):
    first, second = read_all([folder.parent], Unsaid())
    recording = first.robots[0].recording
    assert recording.time.tolist() == [0.0, 0.5, 1.25, 2.0]
    value = {m.name: first.robots[0].measure(m) for m in metrics()}
    assert value["velocity_average"] == pytest.approx(0.4) and value["time_to_goal"] == pytest.approx(2.0)
    assert (recording.outcome, second.robots[0].recording.outcome) == (Outcome.REACHED, Outcome.TIMEOUT)
    assert first.robots[0].planner == "teb+polite" and first.entry == "arena/sim_burger/0"
    assert value["collisions"] is None and value["closest_pedestrian_distance_min"] == pytest.approx(
        1.0 - 0.3 - recording.radius, abs=0.6
    )
    assert recording.map is not None and recording.map.name == "map_empty"


def test_pedestrians_who_leave_are_absent(folder):
    recording = read_all([folder], Unsaid())[0].robots[0].recording
    assert recording.pedestrian_present[:, 0].tolist() == [True, True, True, False]
    assert recording.pedestrian_velocity[1, 0].tolist() == pytest.approx([1.6, 0.0], abs=0.3)
    assert np.allclose(recording.pedestrian_heading[:3, 0], 0.3)


def test_a_folder_with_pedestrians_becomes_results_with_a_report(folder, tmp_path):
    rows = write_played(tmp_path / "results", read_all([folder], Unsaid()))
    assert [row["outcome"] for row in rows] == ["reached", "timeout"]
    kept = recordings(tmp_path / "results", [row["key"] for row in rows])
    assert [r.pedestrian_group.tolist() for r in kept.values()] == [[[-1]] * 4] * 2
    assert "arena/sim_burger/0" in report(tmp_path / "results").read_text()


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("odom.csv", "time,data", "time,odom", r"odom\.csv:1: expected the header 'time,data'"),
        ("odom.csv", "120250000000.0", "129999999999.0", r"odom\.csv:2: time: .*nanoseconds below 10\^9"),
        ("odom.csv", "'velocity': [0.4", "'velocity': [nan", r"odom\.csv:2: data: cannot be read"),
        ("odom.csv", "'position'", "'place'", r"odom\.csv:2: data: expected position and velocity"),
        ("odom.csv", "120750000000.0", "110500000000.0", r"odom\.csv:3: is earlier than the first line of episode\.csv"),
        ("episode.csv", ",0", ",zero", r"episode\.csv:2: episode: expected an integer, got 'zero'"),
        ("start_goal.csv", "[0.9, 1.5, 0]", "[0.9]", r"start_goal\.csv:2: goal: expected 2 finite numbers"),
        ("pedsim_agents_data.csv", "'theta'", "'angle'", r"pedsim_agents_data\.csv:2: data: expected a list of pedestrians"),
    ],
)
def test_errors_name_file_and_line(folder, file, old, new, message):
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        read_all([folder], Unsaid())
