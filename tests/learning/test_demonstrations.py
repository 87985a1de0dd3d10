"""Demonstrations out of benchmarks; those out of bags are with the bags."""

from __future__ import annotations

import numpy as np
import pytest
from tests.suites import planners, suite, write_world

from agora.benchmark.bench import run_all
from agora.benchmark.request import Options, Request
from agora.benchmark.results.recordings import recordings
from agora.errors import InputError
from agora.learning.demonstrations import demonstration_of, write_demonstrations_of_run
from agora.robots.model import load_robot


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("taught")
    small = suite(write_world(folder / "room"), episodes=2, timeout=3.0, crowds=("helbing",))
    run_all(Request(small, planners("orca"), folder / "run", Options(workers=0, record=("scan",))))
    run_all(Request(small, planners("orca"), folder / "blind", Options(workers=0)))
    return folder


def test_there_is_a_sample_for_each_call_of_the_planner(run):
    written = write_demonstrations_of_run(run / "run", run / "out")
    assert sorted(path.name for path in written) == [f"helbing.{k}.orca.{r}.npz" for k in (0, 1) for r in (0, 1)]
    keys = [f"small/helbing/{k}/orca/{r}" for k in (0, 1) for r in (0, 1)]
    for path, recording in zip(sorted(written), recordings(run / "run", keys).values(), strict=True):
        with np.load(path) as file:
            arrays = dict(file)
        count = len(recording.time) - 1
        lidar = load_robot("jackal" if path.stem.endswith("0") else "burger").lidar
        assert arrays["scan"].shape == (count, lidar.beams) and (arrays["scan"] <= arrays["range_max"]).all()
        assert arrays["command"] == pytest.approx(recording.command) and arrays["angles"] == pytest.approx(lidar.angles)
        assert np.diff(arrays["time"]) == pytest.approx(0.1)
        away = recording.goal[:2] - recording.pose[:-1, :2]
        assert np.hypot(*arrays["local_goal"].T) == pytest.approx(np.hypot(*away.T), abs=1e-5)
        ahead = np.arctan2(*arrays["local_goal"].T[::-1]) + recording.pose[:-1, 2]
        assert np.cos(ahead - np.arctan2(*away.T[::-1])) == pytest.approx(1.0, abs=1e-5)


def test_a_scan_is_the_one_that_the_planner_had(run):
    """The nearest wall, from where the robot is."""
    (recording,) = recordings(run / "run", ["small/helbing/0/orca/0"]).values()
    arrays = demonstration_of(recording, load_robot("jackal").lidar)
    assert recording.map is not None
    lidar = load_robot("jackal").lidar
    for k in (0, len(arrays["scan"]) - 1):
        beam, (x, y, heading) = int(np.argmin(arrays["scan"][k])), recording.pose[k]
        at = np.array([x + np.cos(heading) * lidar.x, y + np.sin(heading) * lidar.x])
        bearing = heading + lidar.heading + arrays["angles"][beam]
        hit = at + arrays["scan"][k, beam] * np.array([np.cos(bearing), np.sin(bearing)])
        people = np.hypot(*(recording.pedestrian_position[k] - hit).T) - recording.pedestrian_radius
        assert min(abs(recording.map.gap(hit[None])[0]), np.abs(people).min()) < 0.02


def test_a_run_without_scans_says_how_it_would_have_them(run):
    with pytest.raises(InputError, match=r"blind.*small/helbing/0/orca/0: the recording has no scans.*--record scan"):
        write_demonstrations_of_run(run / "blind", run / "none")
    assert not (run / "none").exists()
    (recording,) = recordings(run / "run", ["small/helbing/0/orca/0"]).values()
    with pytest.raises(InputError, match="scans of 720 beams, but the robot's lidar has 360"):
        demonstration_of(recording, load_robot("burger").lidar)
