"""The time that a task gives follows from the way and the robot."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.starts import plane

from agora.episode import Conditions, Episodes
from agora.maps.grid import Map
from agora.planners.global_.astar import geodesic_length
from agora.registry import make
from agora.robots.model import RobotModel, load_robot
from agora.tasks.budget import RIDES, SPARE, measured, shortest_way, time_budget
from agora.tasks.generator import TaskGenerator
from agora.tasks.settings import Settings
from agora.world.start import RobotStart


def robot(name, *goals):
    return RobotStart(load_robot(name), np.zeros(3), np.array(goals, float).reshape(-1, 3))


def test_it_is_60_s_and_three_times_the_ride_with_half_a_turn_at_every_goal():
    for name in ("burger", "jackal"):
        model, goals = load_robot(name), ((3.0, 4.0, 0.0), (3.0, 1.0, 1.0))
        ride = 8.0 / model.vx[1] + 2 * math.pi / model.omega
        assert time_budget([measured(plane(), robot(name, *goals))]) == math.ceil(SPARE + RIDES * ride)


def test_the_slowest_robot_decides_and_nobody_has_less_than_60_s():
    far, near = measured(plane(), robot("burger", (9.0, 0.0, 0.0))), measured(plane(), robot("jackal", (0.1, 0.0, 0.0)))
    assert time_budget([near, far]) == time_budget([far]) > 180.0
    assert time_budget([near]) >= 60.0 and time_budget([]) == 60.0


def test_a_goal_without_a_way_counts_straight():
    lost = measured(plane(), robot("jackal", (100.0, 0.0, 0.0)))
    assert math.isinf(lost.legs[0]) and time_budget([lost]) == pytest.approx(60.0 + 3.0 * (50.0 + math.pi / 4.0), abs=1.0)


@pytest.mark.parametrize("mode", ["random", "explore", "guided"])
def test_every_mode_has_a_time_and_a_number_still_counts(mode):
    asked = {"tm_robots": mode, "tm_obstacles": "none", "world": "hall", "robot": "burger"}
    start = TaskGenerator(Settings(), **asked).start(0)
    assert 60.0 < start.timeout < 3600.0 and start.timeout == round(start.timeout)
    assert TaskGenerator(Settings(timeout=31.5), **asked).start(0).timeout == 31.5


def test_a_slow_robot_reaches_a_goal_that_60_s_would_not_let_it_reach():
    generator = TaskGenerator(tm_obstacles="none", world="map_empty", robot="burger", seed=0)
    start = max((generator.start(k) for k in range(3)), key=lambda s: s.robots[0].legs[0])
    ((_, (recording,)),) = Episodes([start], make("planners", "orca"), Conditions.of(generator.stage))
    assert recording.outcome.label == "reached" and recording.time[-1] > 60.0
    assert recording.shortest_path == start.robots[0].legs[0] and recording.shortest_turn == start.robots[0].turn


def test_a_box_has_a_way_where_the_disc_about_it_does_not_fit():
    """Through a gap of 0.55 m leads the way of the largest disc inside it."""
    corners = ((0.3, 0.2), (-0.3, 0.2), (-0.3, -0.2), (0.3, -0.2))
    box = RobotModel(name="box", kinematics="differential", radius=0.37, vx=(-1.0, 1.0), omega=1.0, footprint=corners)
    place = Map.from_shapes(segments=[[2.0, -3.0, 2.0, 0.2], [2.0, 0.75, 2.0, 4.0]], bounds=(-3.0, -3.0, 7.0, 4.0), resolution=0.05)
    assert box.inscribed_radius < 0.275 < box.radius
    assert math.isinf(geodesic_length(place, (-2.0, -1.5), (6.0, -1.5), box.radius))
    start, goal = np.array([-2.0, -1.5, 0.0]), np.array([6.0, -1.5])
    length, turn = shortest_way(place, start, goal, box)
    assert 2 * math.hypot(4.0, 1.7) < length < 2 * math.hypot(4.0, 2.25)
    rise = math.atan2(1.7, 4.0) + math.asin(box.inscribed_radius / math.hypot(4.0, 1.7))  # past the end of the wall
    assert turn == pytest.approx(3.0 * rise, abs=0.02), "up from the heading, and down again as steeply"
    assert shortest_way(place, start, np.array([-1.0, -2.5]), box) == pytest.approx((math.sqrt(2.0), math.pi / 4.0))
    shut = Map.from_shapes(segments=[[2.0, -3.0, 2.0, 4.0]], bounds=(-3.0, -3.0, 7.0, 4.0), resolution=0.05)
    assert shortest_way(shut, start, goal, box) == (math.inf, None)


def test_the_first_turn_is_from_the_heading_and_the_next_legs_do_not_count():
    start = RobotStart(load_robot("jackal"), np.array([1.0, 2.0, -2.5]), np.array([[4.0, 6.0, 0.0], [0.0, 6.0, 0.0]]))
    assert measured(plane(), start).turn == pytest.approx(2.0 * math.pi - 2.5 - math.atan2(4.0, 3.0))
    assert measured(plane(), robot("jackal", (100.0, 0.0, 0.0))).turn is None
