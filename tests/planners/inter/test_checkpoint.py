"""Checkpoints: ends of the sampling planner's splines, a new one near the last, none near the goal."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.planners.local.driving import limits, look

from agora.core.recording import Reason
from agora.episode import Conditions, Episodes
from agora.errors import InputError
from agora.maps.grid import Map
from agora.planners.inter.checkpoint import Checkpoint
from agora.planners.local.sampling import Sampling
from agora.planners.presets import named_planner
from agora.robots.model import load_robot
from agora.world.start import PedestrianStarts, RobotStart, Start

START = (2.3, -4.1, 0.6)
ROBOT = limits(max_vx=1.2, max_omega=1.1)


def ahead(distance, aside=0.0):
    c, s = math.cos(START[2]), math.sin(START[2])
    return (START[0] + distance * c - aside * s, START[1] + distance * s + aside * c, START[2])


def scene(pose, goal, speed=0.0, **more):
    return look(pose, (speed, 0.0, 0.0), goal, robot=ROBOT, size=14.0, **more)


@pytest.mark.parametrize(("speed", "least", "most"), [(0.0, 2.5, 4.8), (1.2, 4.0, 7.0)])
def test_a_checkpoint_is_where_the_best_spline_of_six_seconds_ends(speed, least, most):
    seen = scene(START, ahead(12.0, 1.0), speed)
    found, memory = Checkpoint().guide(seen, {})
    best = Sampling(window=Checkpoint().window, max_final_time=6.0).best(seen, np.arange(1))
    assert found.goal[0] == pytest.approx(best.ends(seen.pose)[0], abs=1e-5) and memory["going"].all()
    assert least < math.dist(found.goal[0, :2], START[:2]) < most  # from standing at most 6 s * 1.2 m/s / 1.5
    way = found.path[0, : found.path_count[0]]
    assert way[0] == pytest.approx(START[:2]) and way[-1] == pytest.approx(found.goal[0, :2])
    leg = np.diff(way[:3], axis=0)
    assert math.atan2(leg[0, 1], leg[0, 0]) == pytest.approx(START[2], abs=0.05) and (np.hypot(*leg.T) < 0.5).all()
    assert found.reason.tolist() == [Reason.NONE] and found.speed.tolist() == [1.0]


def test_it_stays_until_the_robot_is_within_a_metre_and_then_there_is_another():
    first, memory = Checkpoint().guide(scene(START, ahead(12.0, 1.0)), {})
    x, y, heading = first.goal[0].tolist()
    for gap, stays in ((1.3, True), (1.02, True), (0.98, False)):
        place = (x - gap * math.cos(heading), y - gap * math.sin(heading), heading)
        found, _ = Checkpoint().guide(scene(place, ahead(12.0, 1.0), 1.0), memory)
        assert np.array_equal(found.goal, first.goal) == stays
    assert math.dist(found.goal[0, :2], ahead(12.0, 1.0)[:2]) < math.dist((x, y), ahead(12.0, 1.0)[:2]) - 0.5


def test_near_the_goal_the_path_is_as_it_was():
    for distance, given in ((4.9, True), (5.1, False)):
        seen = scene(START, ahead(distance))
        found, memory = Checkpoint().guide(seen, {})
        assert np.array_equal(found.path[:, :80], seen.path) == given == (not memory["going"][0])
        assert np.array_equal(found.goal, seen.goal) == given


def test_without_a_spline_or_a_path_nothing_is_changed():
    ring = [(START[0] + 0.55 * math.cos(a), START[1] + 0.55 * math.sin(a), 0.3) for a in np.arange(0.0, 6.3, 0.2)]
    seen = scene(START, ahead(9.0), discs=ring, radius=0.2)
    found, memory = Checkpoint().guide(seen, {})
    assert np.array_equal(found.path, seen.path) and found.reason.tolist() == [Reason.BLOCKED] and not memory["going"].any()
    lost = replace(seen, path_count=np.zeros(1, np.int32))
    found, memory = Checkpoint().guide(lost, memory | {"going": np.ones(1, np.bool_)})
    assert found.path_count.tolist() == [0] and not memory["going"].any()


def test_orca_arrives_by_way_of_checkpoints_round_a_wall():
    cells = np.zeros((180, 260), np.bool_)  # 13 m x 9 m; a wall from the lower side up to y = 0.5
    cells[:80, 130:134] = True
    place = Map("wall", 0.05, (-7.3, -3.5), cells)
    pose, goal = np.array([-5.0, -1.3, 0.4]), np.array([[4.0, -1.0, 0.0]])
    start = Start("wall/0", 5, place, (RobotStart(load_robot("pioneer3dx"), pose, goal),), PedestrianStarts.none(), timeout=40.0)
    _, planner = named_planner("orca(window={size: 14, sources: [map]})+checkpoint")
    (recording,) = dict(Episodes([start], planner.part, Conditions()))[0]
    assert recording.outcome.label == "reached" and recording.time[-1] < 16.0


def test_parameters_that_make_no_sense_are_refused():
    with pytest.raises(InputError, match="horizon: expected a number in"):
        Checkpoint(horizon=0.0)
