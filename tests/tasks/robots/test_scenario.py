"""Robots of a scenario, at its poses or shifted a little."""

from __future__ import annotations

import numpy as np
import pytest

from agora.config import parse
from agora.errors import InputError, PlacementError
from agora.tasks.copies import digest_of
from agora.tasks.suite import Suite

CORRIDOR = """
name: jitter
seed: 3
stages:
  - name: one
    episodes: 30
    world: {name: folder, path: corridor, scenarios: [counterflow]}
    robots: ROBOTS
    obstacles: scenario
"""


def suite_of(robots: str) -> Suite:
    return parse(CORRIDOR.replace("ROBOTS", robots), Suite, "jitter.yaml")


def test_jitter_makes_episodes_of_one_scenario_differ_by_at_most_its_value():
    plain, shifted = suite_of("scenario"), suite_of("{name: scenario, jitter: 0.3}")
    (robot,) = plain.start("one", 0).robots
    starts = [shifted.start("one", k) for k in range(30)]
    assert len({digest_of(shifted.stages[0], start) for start in starts}) == 30
    poses = np.array([start.robots[0].pose for start in starts]) - robot.pose
    goals = np.array([start.robots[0].goals[0] for start in starts]) - robot.goals[0]
    for shift in (poses, goals):
        distance = np.hypot(shift[:, 0], shift[:, 1])
        assert distance.min() > 0.0 and distance.max() <= 0.3 and (shift[:, 2] == 0.0).all()
        # uniform over a disc of radius R: the mean distance is 2 R / 3, its deviation R / sqrt(18)
        assert distance.mean() == pytest.approx(0.2, abs=3.0 * 0.3 / np.sqrt(18.0 * 30.0))


def test_jitter_moves_only_robots_and_depends_only_on_seed_and_episode():
    plain, shifted = suite_of("scenario").start("one", 4), suite_of("{name: scenario, jitter: 0.3}").start("one", 4)
    assert np.array_equal(plain.pedestrians.position, shifted.pedestrians.position)
    assert np.array_equal(plain.pedestrians.waypoints, shifted.pedestrians.waypoints)
    again = suite_of("{name: scenario, jitter: 0.3}").start("one", 4)
    assert np.array_equal(again.robots[0].pose, shifted.robots[0].pose)


def test_without_jitter_the_start_is_that_of_the_scenario():
    own = suite_of("{name: scenario, jitter: 0}").start("one", 7).robots[0]
    assert own.pose.tolist() == [1.0, 1.5, 0.0] and own.goals.tolist() == [[17.0, 1.5, 0.0]]


def test_an_invalid_jitter_or_one_without_room_is_refused():
    with pytest.raises(InputError, match="jitter"):
        suite_of("{name: scenario, jitter: -0.1}")
    with pytest.raises(PlacementError, match="robot 0: no room within the jitter of 5000 m around its start and goal in 100 tries"):
        suite_of("{name: scenario, jitter: 5000.0}").start("one", 0)
