"""The common part of loops over control periods: goals one after the other, scans of some worlds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agora.core.recording import Outcome
from agora.engine.observe import Observer
from agora.engine.wiring import Wiring
from agora.episode import Conditions, Episodes
from agora.interfaces import Setting
from agora.maps.grid import Map
from agora.optics.lidar import Lidar
from agora.planners.local.go_to_goal import GoToGoal
from agora.planners.presets import named_planner
from agora.world.world import World
from tests.starts import DISC, people, start

TWO_GOALS = [[2.0, 0.4, 0.0], [-3.0, 2.0, 0.0]]


def run(starts):
    return {k: recordings[0] for k, recordings in Episodes(starts, GoToGoal(), Conditions())}


def test_a_goal_reached_at_the_time_limit_is_not_followed_by_the_next():
    passed = run([start(goal=TWO_GOALS, timeout=30.0)])[0]
    assert passed.outcome is Outcome.REACHED
    near = np.hypot(*(passed.pose[:, :2] - TWO_GOALS[0][:2]).T) < passed.goal_tolerance
    for step in (int(2 * np.argmax(near)) - 1, int(2 * np.argmax(near))):
        recordings = run([start(goal=TWO_GOALS, timeout=step * 0.05), start(goal=[5.0, 5.0, 0.0], timeout=9.0)])
        assert recordings[0].outcome is Outcome.TIMEOUT
        assert recordings[0].goal.tolist() == np.float32(TWO_GOALS[0]).tolist()
        assert recordings[1].outcome is Outcome.REACHED


def test_a_noisy_scan_of_some_worlds_is_that_of_all_and_leaves_the_others():
    crowd = people([[1.0, 1.4], [-2.0, 0.3]], [[[5.0, 5.0]], [[4.0, 0.0]]])
    starts = [start(pose=(0.3 * k, -0.2 * k, 0.7 * k), crowd=crowd, entry=f"test/stage/{k}") for k in range(4)]
    lidar = Lidar(beams=45, noise=0.1, dropout=0.1, range_max=6.0)

    def observer() -> tuple[World, Observer]:
        made = World.of(starts, dt=0.05)
        for w in range(4):
            made.reset(w, starts[w])
        return made, Observer(made, Wiring.of({"scan"}, Setting(lidar)), 0.1)

    (_, whole), (world, parts) = observer(), observer()
    whole.measure()
    all_of_them = whole.observe().scan.copy()
    parts.measure([1, 3])
    assert np.array_equal(parts.observe().scan[[1, 3]], all_of_them[[1, 3]])
    assert not parts.observe().scan[[0, 2]].any()
    parts.measure([2])
    parts.measure([0])
    assert np.array_equal(parts.observe().scan, all_of_them)
    assert world.tick == 0
    assert len(np.unique(all_of_them)) > 10


@pytest.mark.parametrize("planner", ["dwa_ros", "dwa_scan", "teb_ros"])
def test_a_disc_drives_among_robots_with_outlines_as_it_drives_alone(planner):
    post = Map.from_shapes(bounds=(-7.3, -4.1, 9.0, 8.0), discs=[[1.9, 0.75, 0.2]], name="post")
    scanning = replace(DISC, lidar=Lidar(beams=60))
    outlined = replace(scanning, name="outlined", radius=0.4, footprint=((0.3, 0.2), (-0.2, 0.2), (-0.2, -0.2)))
    starts = [start(model=model, place=post, timeout=3.0) for model in (scanning, outlined)]
    part = named_planner(planner)[1].part
    alone = [next(iter(Episodes([one], part, Conditions())))[1][0] for one in starts]
    together = dict(Episodes(starts, part, Conditions()))
    for k, one in enumerate(alone):
        assert (together[k][0].pose == one.pose).all()


def test_a_robot_whose_disc_fits_nowhere_through_gets_the_path_of_the_disc_inside_its_outline():
    walls = [[2.0, -4.1, 2.0, 1.1], [2.0, 1.9, 2.0, 8.0]]
    gap = Map.from_shapes(bounds=(-7.3, -4.1, 9.0, 8.0), segments=walls, resolution=0.05, name="gap")
    long = replace(DISC, name="long", radius=0.6, footprint=((0.55, 0.2), (-0.2, 0.2), (-0.2, -0.2), (0.55, -0.2)))
    begun = start((0.0, 1.5, 0.0), (4.0, 1.5, 0.0), place=gap, model=long)
    ((_, (recording,)),) = Episodes([begun], named_planner("pure_pursuit")[1].part, Conditions())
    assert recording.outcome.label == "reached"
