from __future__ import annotations

import math

import numpy as np
import pytest
from tests.planners.local.driving import drive, limits, look

from agora.planners.local.go_to_goal import GoToGoal

START = (1.3, -2.1, 0.4)


def ahead(start, distance, aside=0.0, heading=0.9):
    c, s = math.cos(start[2]), math.sin(start[2])
    return (start[0] + distance * c - aside * s, start[1] + distance * s + aside * c, heading)


def test_a_free_straight_run_takes_as_long_as_its_trapezoid_of_speed():
    dt, speed, acceleration, distance = 0.05, 0.9, 1.25, 5.0
    planner = GoToGoal(speed=speed, tolerance=0.1)
    robot = limits(acceleration=acceleration)
    poses, twists = drive(planner, START, ahead(START, distance, heading=START[2]), 9.0, robot=robot, dt=dt)
    left = distance - 0.05
    stop = speed**2 / (2 * acceleration) + speed * dt / 2
    expected = (left - stop) / speed + speed / acceleration
    still = np.flatnonzero(np.abs(twists[:, 0]) < 1e-4)[0] * dt
    assert still == pytest.approx(expected, abs=3 * dt)
    assert 0.05 - 1e-3 < np.hypot(*(poses[-1] - ahead(START, distance))[:2]) < 0.052 + 1e-3


def test_braking_for_the_goal_never_exceeds_the_deceleration_that_the_robot_has():
    dt, acceleration = 0.1, 0.8
    _, twists = drive(GoToGoal(), START, ahead(START, 4.0, 1.0), 14.0, robot=limits(acceleration=acceleration), dt=dt)
    assert np.diff(twists[:, 0]).min() >= -acceleration * dt - 1e-3
    assert twists[-1, 0] == 0.0


def test_the_robot_ends_at_the_goal_with_the_goal_s_heading():
    for kind in (limits(), limits(max_vy=0.5)):
        goal = ahead(START, -2.0, 1.5, heading=-2.7)
        poses, twists = drive(GoToGoal(), START, goal, 12.0, robot=kind)
        assert np.hypot(*(poses[-1] - goal)[:2]) < 0.1
        assert abs(math.remainder(poses[-1, 2] - goal[2], 2 * math.pi)) < 1e-3
        assert np.abs(twists[-1]).max() < 1e-3


def test_a_holonomic_robot_goes_straight_to_the_goal_without_turning_first():
    goal = ahead(START, 2.0, 2.0)
    poses, _ = drive(GoToGoal(), START, goal, 5.0, robot=limits(max_vy=1.0))
    line = np.subtract(goal[:2], START[:2]) / math.dist(goal[:2], START[:2])
    across = (poses[:, :2] - START[:2]) @ (-line[1], line[0])
    assert np.abs(across).max() < 0.02


@pytest.mark.parametrize("aside", [0.5, -0.5])
def test_a_car_reaches_a_goal_inside_its_turning_circle_and_never_turns_tighter(aside):
    radius = 0.8
    goal = ahead(START, 0.1, aside)
    poses, twists = drive(GoToGoal(tolerance=0.2), START, goal, 20.0, robot=limits(turning_radius=radius))
    assert np.all(np.abs(twists[:, 2]) * radius <= np.abs(twists[:, 0]) + 1e-5)
    assert np.hypot(*(poses[-1] - goal)[:2]) < 0.2


def test_walls_and_pedestrians_make_no_difference():
    free, walled = (look(START, (0.3, 0.0, 0.1), ahead(START, 3.0, 1.0), discs=d) for d in ((), [(*ahead(START, 1.0)[:2], 0.5)]))
    assert np.array_equal(GoToGoal().act(free, {}).twists, GoToGoal().act(walled, {}).twists)
