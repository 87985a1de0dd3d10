"""ArtPlanner on the local costmap: it goes through lengthwise, plans once a second, and follows its plan as its gains say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.planners.local.driving import limits, look

from agora.core.recording import Outcome, Reason
from agora.episode import Conditions, Episodes
from agora.maps.grid import Map
from agora.planners.global_.artplanner import ArtPlanner as GlobalArtPlanner
from agora.planners.local.artplanner import ArtPlanner
from agora.planners.presets import named_planner
from agora.robots.model import RobotModel
from agora.world.start import PedestrianStarts, RobotStart, Start

TORSO = ((0.655, 0.325), (-0.655, 0.325), (-0.655, -0.325), (0.655, -0.325))
ANYMAL = RobotModel("anymal", "legged", 0.732, (-0.5, 0.5), 0.5, vy=0.1, ax=1.0, ay=0.5, alpha=1.5, footprint=TORSO)
LEGS = limits(min_vx=-0.8, max_vx=0.8, max_vy=0.8, max_omega=1.2)


def corridor(width):
    """Two rooms with a 3 m corridor between them."""
    occupied = np.zeros((50, 102), bool)
    occupied[[0, -1]] = occupied[:, [0, -1]] = True
    occupied[:, 41:71] = True
    low = 22 - round(width / 0.2)
    occupied[low : low + round(width / 0.1), 41:71] = False
    return Map("corridor", 0.1, (-1.3, 2.2), occupied)


def walk(place, pose, goal, planner, **conditions):
    robot = RobotStart(ANYMAL, np.array(pose, float), np.array([goal], float))
    start = Start("corridor/1", 1, place, (robot,), PedestrianStarts.none(), timeout=90.0, **conditions)
    ((_, (recording,)),) = Episodes([start], planner, Conditions(global_planner=GlobalArtPlanner()))
    return recording


def test_a_robot_of_65_cm_turns_and_walks_through_a_corridor_of_90_cm_lengthwise():
    recording = walk(corridor(0.9), (0.4, 5.0, 1.6), (7.6, 4.0, 0.0), ArtPlanner())
    assert recording.outcome == Outcome.REACHED
    inside = (recording.pose[:, 0] > 3.2) & (recording.pose[:, 0] < 5.5)
    assert inside.sum() > 20
    assert np.abs(np.sin(recording.pose[inside, 2])).max() < 0.25


def test_it_stands_at_the_goal_as_it_is_told():
    recording = walk(corridor(2.4), (0.4, 5.0, 1.6), (2.2, 4.4, -2.0), ArtPlanner(), heading_tolerance=0.2)
    assert recording.outcome == Outcome.REACHED
    assert abs(math.remainder(recording.pose[-1, 2] + 2.0, math.tau)) < 0.25


def test_near_the_goal_speeds_are_gains_times_errors():
    o = look((2.0, 1.0, 0.3), (0, 0, 0), (2.0 + 0.1 * math.cos(0.3), 1.0 + 0.1 * math.sin(0.3), 0.3), robot=LEGS)
    twist = ArtPlanner().act(o, {}).twists[0]
    assert twist == pytest.approx([0.2, 0.0, 0.0], abs=0.02)
    assert ArtPlanner(position_gain=1.0).act(o, {}).twists[0] == pytest.approx([0.1, 0.0, 0.0], abs=0.01)


def test_ahead_it_walks_at_full_speed_and_to_what_is_behind_it_walks_backwards():
    ahead = ArtPlanner().act(look((0, 0, 0.4), (0, 0, 0), (2.0 * math.cos(0.4), 2.0 * math.sin(0.4), 0), robot=LEGS), {})
    assert ahead.twists[0, 0] == pytest.approx(0.8, abs=0.02)
    back = ArtPlanner().act(look((0, 0, 0.4), (0, 0, 0), (-1.0 * math.cos(0.4), -1.0 * math.sin(0.4), 0), robot=LEGS), {})
    assert back.twists[0, 0] == pytest.approx(-0.8, abs=0.02)


def test_what_comes_after_a_plan_is_seen_at_the_next_a_second_later():
    planner, pose, goal = ArtPlanner(), (0.0, 0.0, 0.0), (2.5, 0.0, 0.0)
    clear, shut = (
        look(pose, (0, 0, 0), goal, robot=LEGS, discs=discs, dt=0.1)
        for discs in ((), [(1.0, 0.1 * k, 0.1) for k in range(-30, 31)])
    )
    answer = planner.act(clear, {})
    for step in range(1, 12):
        answer = planner.act(shut, answer.memory)
        stands = not answer.twists.any()
        assert stands == (step >= 10)
    assert answer.notes["reason"][0] == Reason.BLOCKED
    assert answer.memory["plans"][0] == 2


def test_a_new_goal_is_planned_to_at_once():
    planner = ArtPlanner()
    answer = planner.act(look((0, 0, 0), (0, 0, 0), (2.0, 0.0, 0.0), robot=LEGS), {})
    answer = planner.act(look((0, 0, 0), (0, 0, 0), (-2.0, 0.0, 0.0), robot=LEGS), answer.memory)
    assert answer.twists[0, 0] == pytest.approx(-0.8, abs=0.02)


def test_feet_do_not_stand_on_unknown_cells():
    o = look((0, 0, 0), (0, 0, 0), (2.0, 0.0, 0.0), robot=LEGS)
    o.costmap.cost[0, :, 75:95] = 255  # from 0.75 m to 1.75 m ahead
    assert ArtPlanner().act(o, {}).notes["reason"][0] == Reason.BLOCKED
    assert ArtPlanner(foot_reach=0.0).act(o, {}).notes["reason"][0] == Reason.NONE


def test_the_preset_has_the_published_numbers():
    planner = named_planner("artplanner_anymal")[1].part
    assert (planner.lon, planner.lat, planner.yaw, planner.near, planner.start_radius) == (0.5, 0.1, 0.5, 0.2, 0.2)
    assert (planner.position_gain, planner.heading_gain, planner.replan, planner.edge) == (2.0, 5.0, 1.0, 0.5)
