from __future__ import annotations

import math

import numpy as np
import pytest
from tests.planners.local.driving import drive, limits, look

from agora.planners.adapters import as_batch_planner, observation_of_row
from agora.planners.local.pure_pursuit import PurePursuit

START = (-3.2, 4.7, 2.2)


def in_frame(points, start=START):
    c, s = math.cos(start[2]), math.sin(start[2])
    points = np.asarray(points, float)
    return np.stack((start[0] + c * points[..., 0] - s * points[..., 1], start[1] + s * points[..., 0] + c * points[..., 1]), -1)


def plan(planner, observation):
    return planner.plan(observation_of_row(observation, 0), None)[0]


def test_the_curvature_is_that_of_the_circle_through_the_pursued_point():
    path = in_frame([(0.0, 0.6), (6.0, 0.6)])
    seen = look(START, (0.5, 0.0, 0.0), (*path[-1], 0.0), path=path)
    vx, vy, omega = plan(PurePursuit(lookahead=0.8, speed=0.7), seen)
    assert (vx, vy) == (pytest.approx(0.7), 0.0)
    assert omega / vx == pytest.approx(2 * 0.6 / (0.8**2 + 0.6**2), rel=1e-5)


def test_a_path_of_two_points_is_followed_like_one_of_many():
    sparse = in_frame([(-1.0, 0.3), (5.0, -0.4)])
    dense = np.linspace(*sparse, 90)
    twists = [plan(PurePursuit(), look(START, (0.5, 0.0, 0.0), (*sparse[-1], 0.0), path=p)) for p in (sparse, dense)]
    assert twists[0] == pytest.approx(twists[1], abs=1e-5)


def test_a_circle_is_followed_within_the_error_of_its_chord():
    radius, lookahead = 2.0, 0.6
    angle = np.linspace(0.0, 1.5 * math.pi, 300)
    path = in_frame(np.stack((radius * np.sin(angle), radius * (1 - np.cos(angle))), -1))
    poses, _ = drive(as_batch_planner(PurePursuit(lookahead=lookahead, speed=0.8)), START, (*path[-1], 0.0), 14.0, path=path)
    centre = in_frame((0.0, radius))
    away = np.hypot(*(poses[:, :2] - centre).T)
    assert np.abs(away - radius).max() < lookahead**2 / (8 * radius) + 0.02
    assert math.dist(poses[-1, :2], path[-1]) < 0.06


def test_the_robot_stops_at_the_end_within_its_deceleration():
    for robot in (limits(acceleration=0.9), limits(acceleration=0.9, max_vy=0.6), limits(acceleration=0.9, turning_radius=0.7)):
        path = in_frame([(0.0, 0.0), (3.0, 0.4)])
        poses, twists = drive(as_batch_planner(PurePursuit()), START, (*path[-1], 0.0), 8.0, path=path, robot=robot)
        speed = np.hypot(twists[:, 0], twists[:, 1])
        assert np.diff(speed).min() >= -0.9 * 0.05 - 1e-3
        assert speed[-1] < 1e-3
        assert math.dist(poses[-1, :2], path[-1]) == pytest.approx(0.05, abs=0.01)


def test_a_robot_that_faces_away_turns_in_place_and_a_car_turns_as_tightly_as_it_can():
    path = in_frame([(0.0, 0.0), (-4.0, 0.5)])
    seen = look(START, (0.0, 0.0, 0.0), (*path[-1], 0.0), path=path)
    assert plan(PurePursuit(), seen) == (0.0, 0.0, pytest.approx(1.5))
    car = look(START, (0.0, 0.0, 0.0), (*path[-1], 0.0), path=path, robot=limits(turning_radius=1.1))
    vx, _, omega = plan(PurePursuit(), car)
    assert omega / vx == pytest.approx(1 / 1.1, rel=1e-5)


def test_a_mirrored_scene_gives_the_mirrored_twist():
    path = np.array([(0.0, 0.1), (1.0, 0.4), (2.0, 1.5), (2.5, 3.0)])
    start = (0.0, 0.0, 0.3)
    twist = plan(PurePursuit(), look(start, (0.2, 0.0, 0.1), (2.5, 3.0, 0.0), path=path))
    mirror = plan(PurePursuit(), look((0.0, 0.0, -0.3), (0.2, 0.0, -0.1), (2.5, -3.0, 0.0), path=path * (1, -1)))
    assert mirror == pytest.approx((twist[0], -twist[1], -twist[2]))


def test_without_a_path_it_stands():
    seen = look(START, (0.5, 0.0, 0.0), (0.0, 0.0, 0.0), path=np.zeros((0, 2)))
    assert (as_batch_planner(PurePursuit()).act(seen, {}).twists == 0.0).all()
