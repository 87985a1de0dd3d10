"""Whole episodes converge when the physics step becomes smaller: the error of a first-order method falls with the step."""

from __future__ import annotations

import numpy as np
import pytest

from agora.core.recording import Recording
from agora.draft.periods import Periods
from agora.episode import Conditions, Episodes
from agora.planners.presets import named_planner
from agora.registry import available, make
from agora.robots.model import load_robot, robot_names
from agora.testing.crowds import hall
from agora.world.start import PedestrianStarts, RobotStart, Start
from tests.test_symmetry import HERE, scene

STEPS = (0.1, 0.02, 0.005)  # s; the last one is the reference
CONTROL = 0.2  # s, the same for every step, because a planner with another control period is another planner
TIMES = np.arange(CONTROL, 4.01, CONTROL)


def played(start: Start, **more) -> list[tuple[np.ndarray, np.ndarray]]:
    """Positions of the robot and of people at `TIMES`, for each of `STEPS`, m."""
    found = []
    for step in STEPS:
        conditions = Conditions(ends=0, periods=Periods(step, CONTROL, step, CONTROL), **more)
        episodes = Episodes([start], named_planner("pure_pursuit")[1].part, conditions)
        found += [positions(recording) for _, [recording] in episodes]
    return found


def positions(recording: Recording) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the robot and of people at `TIMES`; the last position after the end."""
    at = np.minimum(np.searchsorted(recording.time, TIMES - 1e-6), len(recording.time) - 1)
    return recording.pose[at, :2], recording.pedestrian_position[at]


def errors(found: list[np.ndarray]) -> list[np.ndarray]:
    """The largest error of each body over time, relative to the smallest step, m."""
    return [np.hypot(*np.moveaxis(each - found[-1], -1, 0)).max(0) for each in found[:-1]]


@pytest.mark.parametrize("model", sorted(available("crowd_models")))
def test_a_crowd_converges_with_the_physics_step(model):
    """The median over people is used, because people who just miss each other amplify every difference."""
    crowd = (make("crowd_models", model),)
    coarse, fine = np.hstack(
        [errors([people for _, people in played(scene(hall(), HERE, seed), crowd=crowd)]) for seed in (2, 3, 4)]
    )
    assert np.median(fine) < 0.4 * np.median(coarse) + 0.002
    assert np.median(fine) < 0.25


@pytest.mark.parametrize("name", robot_names())
def test_a_robot_converges_with_the_physics_step(name):
    place = hall()
    low, high = np.array(place.origin) + 2.0, np.add(place.origin, place.size) - 2.0
    robot = RobotStart(load_robot(name), np.array([*low, 0.4]), np.array([[*high, 1.0]]))
    found = [pose for pose, _ in played(Start("convergence", 5, place, (robot,), PedestrianStarts.none(), timeout=6.0))]
    assert np.hypot(*(found[-1][-1] - found[-1][0])) > 0.5
    coarse, fine = errors([pose[:, None] for pose in found])
    assert fine < 0.4 * coarse + 0.003
