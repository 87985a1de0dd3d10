"""Trajectory roll-out: as its plain twin, on hand-made grids, and driven through small worlds."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from tests.planners.local.driving import drive, limits, look
from tests.planners.local.dwa.test_planner import START, ahead, corners_of, row_of
from tests.planners.local.trajectory_rollout.twin import Twin

from agora.core.jit import lean
from agora.core.recording import Reason
from agora.costmap.window import Window
from agora.errors import InputError
from agora.planners._rollouts import grids
from agora.planners.local.trajectory_rollout import TrajectoryRollout
from agora.planners.local.trajectory_rollout import _plan as trajectory_rollout_plan
from agora.planners.local.trajectory_rollout._plan import Recall
from agora.planners.presets import named_planner
from agora.testing import observation

remember = lean(trajectory_rollout_plan.remember.py_func)
clear, open_under = lean(grids.reset_grid.py_func), lean(grids.open_footprint.py_func)

WINDOW = Window(size=6.0)
BARN = named_planner("trajectory_rollout_barn")[1].part
REVERSING = limits(min_vx=-0.5)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ({}, {"dwa": True, "meter_scoring": True}),
        ({"max_vy": 0.6}, {}),
        ({"turning_radius": 0.7, "corners": 4}, {"dwa": True}),
        ({"corners": 4}, {"occdist_scale": 1.0}),
    ],
    ids=["differential", "holonomic", "car", "per cell"],
)
def test_the_kernel_drives_what_its_plain_twin_drives(kind, fields):
    planner = ros(window=Window(size=4.2), vx_samples=4, vtheta_samples=9, **fields)
    exact = rows = 0
    for seed in (4, 5):
        seen = observation(3, seed=seed, window=planner.window, **kind)
        memory = planner.act(seen, {}).memory
        blank = {name: np.zeros_like(array) for name, array in memory.items()}
        for state in ({}, {"escaping": True}, {"only": (True, False)}, {"only": (False, True), "escaping": True}):
            given = {name: array.copy() for name, array in blank.items()}
            for name, value in state.items():
                given[name][:] = value
            given["escape"][:] = seen.pose
            twists = planner.act(seen, given).twists
            for n in range(3):
                twin = Twin(planner, corners=corners_of(planner, seen, n), **row_of(seen, n))
                drive_, score = twin.best(**state)
                same = np.abs(np.subtract(drive_, twists[n])).max() < 1e-5
                exact, rows = exact + same, rows + 1
                if not same and score is not None:  # a point on a cell's border may fall to either side
                    other, _ = twin.score(tuple(twists[n].astype(float).tolist()))
                    assert other <= score + 0.05 * max(score, 1.0)
    assert exact >= 0.9 * rows


def ros(**fields):
    """The planner with the limits of the package, and other fields."""
    planner = named_planner("trajectory_rollout_ros")[1].part
    assert isinstance(planner, TrajectoryRollout)
    return dataclasses.replace(planner, **fields)


def test_on_an_empty_map_it_drives_straight_at_top_speed_and_arrives_when_arithmetic_says():
    """From the window's end on its speed is what it can drive in sim_time to the end of its path."""
    distance, dt = 4.0, 0.05
    planner = dataclasses.replace(BARN, window=WINDOW)
    poses, twists = drive(planner, START, ahead(distance), 9.0, dt=dt)
    travelled = np.hypot(*(poses[:, :2] - START[:2]).T)
    cruising = (travelled[1:] > 0.3) & (travelled[1:] < distance - 2.0 * 0.5 - 0.2)
    assert twists[cruising, 0] == pytest.approx(0.5)
    at_three = np.interp(2.8, travelled, np.arange(len(poses)) * dt)
    assert at_three == pytest.approx(2.8 / 0.5, abs=3 * dt)
    assert np.abs((poses[:, :2] - START[:2]) @ (-math.sin(0.6), math.cos(0.6))).max() < 0.1


def test_at_the_goal_it_stops_within_the_tolerance_and_turns_to_the_goal_s_heading():
    goal = ahead(2.0, 0.4, heading=-2.2)
    planner = dataclasses.replace(BARN, window=WINDOW)
    poses, twists = drive(planner, START, goal, 16.0)
    assert math.dist(poses[-1, :2], goal[:2]) < planner.xy_goal_tolerance
    assert abs(math.remainder(poses[-1, 2] - goal[2], 2 * math.pi)) < planner.yaw_goal_tolerance
    assert np.all(twists[-1] == 0.0)


def test_before_a_dead_end_it_backs_up_straight_until_it_has_the_way_and_not_before():
    """A niche as wide as the robot: no turn, no curve, only back; the escape ends after escape_reset_dist."""
    side = [(*ahead(x, y)[:2], 0.03) for x in np.arange(-0.5, 0.36, 0.05) for y in (-0.39, 0.39)]
    front = [(*ahead(0.36, y)[:2], 0.03) for y in np.arange(-0.4, 0.41, 0.05)]
    planner = ros(window=Window(size=6.0), escape_vel=-0.3, escape_reset_dist=0.2)
    goal = ahead(3.0)
    seen = look(START, (0.0, 0.0, 0.0), goal, discs=side + front, robot=REVERSING, radius=0.3)
    box = np.array([[[0.3, 0.3], [-0.3, 0.3], [-0.3, -0.3], [0.3, -0.3]]], np.float32)
    cost = np.where(seen.costmap.cost == 253, 200, seen.costmap.cost).astype(np.uint8)
    seen = dataclasses.replace(seen, footprint=box, costmap=dataclasses.replace(seen.costmap, cost=cost))
    answer = planner.act(seen, {})
    first, memory = answer.twists, answer.memory
    assert first[0] == pytest.approx((-0.3, 0.0, 0.0))
    assert memory["escaping"][0]
    assert answer.notes["reason"][0] == Reason.ESCAPING
    for gone, still in ((0.1, True), (0.21, False)):
        moved = dataclasses.replace(seen, pose=np.array([ahead(-gone)], np.float32))
        after = planner.act(moved, memory).memory
        assert after["escaping"][0] == still


@pytest.mark.parametrize(("behind", "blindly", "backs_up"), [(0.0, False, True), (0.5, False, False), (0.5, True, True)])
def test_it_backs_up_into_nothing_unless_it_is_told_to(behind, blindly, backs_up):
    """A niche as wide as the robot, with somebody who closes it from behind."""
    side = [(*ahead(x, y)[:2], 0.03) for x in np.arange(-0.5, 0.36, 0.05) for y in (-0.42, 0.42)]
    front = [(*ahead(0.36, y)[:2], 0.03) for y in np.arange(-0.4, 0.41, 0.05)]
    back = [(*ahead(-behind, y)[:2], 0.03) for y in np.arange(-0.4, 0.41, 0.05)] if behind else []
    planner = ros(window=Window(size=6.0), escape_vel=-0.3, escape_blindly=blindly)
    seen = look(START, (0.0, 0.0, 0.0), ahead(3.0), discs=side + front + back, robot=REVERSING, radius=0.3)
    box = np.array([[[0.3, 0.3], [-0.3, 0.3], [-0.3, -0.3], [0.3, -0.3]]], np.float32)
    cost = np.where(seen.costmap.cost == 253, 200, seen.costmap.cost).astype(np.uint8)
    seen = dataclasses.replace(seen, footprint=box, costmap=dataclasses.replace(seen.costmap, cost=cost))
    answer = planner.act(seen, {})
    twists, _memory = answer.twists, answer.memory
    assert twists[0] == pytest.approx((-0.3 if backs_up else 0.0, 0.0, 0.0))
    assert (answer.notes["reason"][0] == Reason.ESCAPING) == backs_up


def test_a_robot_whose_centre_is_inscribed_stands():
    """The goal's waves do not reach it: upstream's planner fails here, and move_base's recovery begins."""
    wall = [(*ahead(0.30, y)[:2], 0.03) for y in np.arange(-1.0, 1.01, 0.05)]
    seen = look(START, (0.0, 0.0, 0.0), ahead(-3.0), discs=wall, robot=REVERSING, radius=0.3)
    column, row = ((seen.pose[0, :2] - seen.costmap.origin[0]) / 0.05).astype(int)
    assert seen.costmap.cost[0, row, column] == 253
    small = dataclasses.replace(seen, radius=np.array([0.2], np.float32))
    answer = ros(window=WINDOW).act(small, {})
    twists, _memory = answer.twists, answer.memory
    assert np.all(twists == 0.0)
    assert answer.notes["reason"][0] == Reason.BLOCKED


def test_unknown_ground_no_path_and_a_path_elsewhere_stop_it():
    seen = look(START, (0.3, 0.0, 0.0), ahead(4.0), robot=REVERSING)
    unknown = dataclasses.replace(seen, costmap=dataclasses.replace(seen.costmap, cost=np.full_like(seen.costmap.cost, 255)))
    planner = dataclasses.replace(BARN, window=WINDOW)
    answer = planner.act(unknown, {})
    twists, _memory = answer.twists, answer.memory
    assert np.all(twists == 0.0)
    assert answer.notes["reason"][0] == Reason.BLOCKED
    for path in (np.zeros((0, 2)), np.linspace(ahead(20.0)[:2], ahead(30.0)[:2], 50)):
        answer = planner.act(look(START, (0.3, 0.0, 0.0), ahead(30.0), path=path), {})
        twists, _memory = answer.twists, answer.memory
        assert np.all(twists == 0.0)
        assert answer.notes["reason"][0] == Reason.NO_PATH


def test_it_turns_in_place_to_where_the_path_leads_and_keeps_the_side():
    planner = dataclasses.replace(BARN, window=WINDOW)
    _, twists = drive(planner, START, ahead(-2.0, 0.3), 3.0)
    on_the_spot = twists[twists[:, 0] == 0.0, 2]
    assert len(on_the_spot) > 5
    assert (np.sign(on_the_spot[on_the_spot != 0]) == np.sign(on_the_spot[0])).all()
    assert np.abs(on_the_spot[on_the_spot != 0]).min() >= planner.min_in_place_vel_theta - 1e-6


def test_turning_twice_to_one_side_forbids_the_other_until_the_robot_has_left():
    zeros = {name: np.zeros((1, 2), np.bool_) for name in ("turned", "only", "strafed", "only_strafe", "latch")}
    recall = Recall(
        **zeros,
        place=np.zeros((1, 2), np.float32),
        escaping=np.zeros(1, np.bool_),
        escape=np.zeros((1, 3), np.float32),
        plan=np.zeros((1, 3), np.float32),
        progress=np.zeros((1, 2), np.int32),
    )

    def after(x, *twist):
        remember(recall, 0, np.array((x, 2.0, 0.3), np.float32), tuple(np.float32(v) for v in twist), np.float32(0.05))
        return recall.only[0].tolist(), recall.only_strafe[0].tolist()

    assert after(0.0, 0.0, 0.0, -0.5) == ([False, False], [False, False])
    assert after(0.0, 0.0, 0.0, -0.5) == ([True, False], [False, False])  # only right
    assert after(0.0, 0.0, 0.1, 0.0) == ([True, False], [False, False])
    assert after(0.0, 0.0, -0.1, 0.0) == ([True, False], [True, False])  # back to the right: left no more
    assert after(0.04, 0.4, 0.0, 0.0) == ([True, False], [True, False])
    assert after(0.06, 0.4, 0.0, 0.0) == ([False, False], [False, False])


def test_a_barred_side_is_not_turned_to():
    """While it backs up there are no curves: what is left is to turn, to the one side or to the other."""
    planner = dataclasses.replace(BARN, window=WINDOW)
    seen = look(START, (0.0, 0.0, 0.0), ahead(-2.0, 0.3))
    memory = planner.act(seen, {}).memory
    memory["escaping"][:], memory["escape"][:] = True, START
    free = planner.act(seen, memory).twists
    assert free[0, 0] == 0.0
    assert free[0, 2] != 0.0
    memory["only"][:] = (free[0, 2] > 0.0, free[0, 2] < 0.0)
    barred = planner.act(seen, memory).twists
    assert barred[0, 0] == 0.0
    assert barred[0, 2] * free[0, 2] < 0.0


def test_waves_to_the_path_pass_under_the_footprint_whatever_is_there():
    cost = np.full((7, 9), 254, np.uint8)
    cost[3, 6:] = 0
    grid, west, east = np.empty(9 * 11, np.int32), np.empty(7, np.int32), np.empty(7, np.int32)
    f = np.float32
    clear(cost, 3, 3, 9, grid)
    square = np.array((0.9, -0.9, -0.9, 0.9), f), np.array((0.4, 0.4, -0.4, -0.4), f)
    opened = open_under(grid, cost, 9, 3, 3, *square, f(1.75), f(1.75), f(0.0), f(1.0), f(2.0), west, east)
    passable = grid.reshape(9, 11)[1:8, 1:10] < 0
    expected = np.zeros((7, 9), bool)
    expected[2:5, 1:6] = True  # x from 0.85 to 2.65 m, y from 1.35 to 2.15 m, in cells of 0.5 m
    assert opened == expected.sum()
    expected[3, 6:] = True
    np.testing.assert_array_equal(passable, expected)


def test_per_metre_and_per_cell_are_the_same_with_biases_scaled_by_the_resolution():
    seen = observation(6, seed=8, window=Window(size=4.2))
    metre = ros(window=Window(size=4.2), path_distance_bias=0.6, goal_distance_bias=0.8, meter_scoring=True)
    cell = dataclasses.replace(metre, path_distance_bias=0.6 * 0.05, goal_distance_bias=0.8 * 0.05, meter_scoring=False)
    np.testing.assert_allclose(metre.act(seen, {}).twists, cell.act(seen, {}).twists, atol=1e-6)


def test_parameters_that_make_no_sense_are_refused():
    for wrong in ({"sim_time": 0.0}, {"vx_samples": 1}, {"occdist_scale": -1.0}, {"escape_vel": 0.1}, {"acc_lim_x": math.nan}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            ros(**wrong)
