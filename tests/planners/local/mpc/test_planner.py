from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from tests.planners.local.driving import limits, moved
from tests.planners.local.teb.test_planner import START, ahead, apart, see

from agora.core.recording import Reason
from agora.errors import InputError
from agora.planners.local.mpc import Mpc
from agora.planners.local.mpc import _problem as mpc_problem
from agora.planners.presets import named_planner

ROBOT = limits(min_vx=-0.5, max_vx=1.0, max_omega=1.5)
QUADRATIC, QUICK, VIA = (Mpc(objective=name) for name in ("quadratic_form", "minimum_time", "minimum_time_via_points"))
PERSON = 0.3
C, S = math.cos(START[2]), math.sin(START[2])


def drive(planner, start, goal, seconds, *, people=(), dt=0.1, forget=False, **scene):
    """Let one robot drive among people who walk straight on; return poses, twists, people at every pose, reasons."""
    path = scene.pop("path", np.linspace(start[:2], goal[:2], 80))
    scene = {"robot": ROBOT} | scene
    people = np.array(people, float).reshape(-1, 5)
    pose, twist, memory = tuple(start), (0.0, 0.0, 0.0), {}
    poses, twists, crowd, reasons = [pose], [twist], [people.copy()], []
    for _ in range(round(seconds / dt)):
        answer = planner.act(see(pose, twist, goal, path=path, dt=dt, people=people, **scene), {} if forget else memory)
        twist, memory = tuple(answer.twists[0].tolist()), answer.memory
        pose = moved(pose, twist, dt)
        people[:, :2] += dt * people[:, 2:4]
        poses.append(pose)
        twists.append(twist)
        crowd.append(people.copy())
        reasons.append(int(answer.notes["reason"][0]))
    return np.array(poses), np.array(twists), np.array(crowd), np.array(reasons)


def aside(poses):
    """Distances to the left of the line ahead of the start, m."""
    return (np.asarray(poses)[..., :2] - START[:2]) @ (-S, C)


def solved(monkeypatch):
    """The solutions that are found from now on."""
    found, solve = [], mpc_problem.Problem.solve

    def noted(self, *given):
        found.append(solve(self, *given))
        return found[-1]

    monkeypatch.setattr(mpc_problem.Problem, "solve", noted)
    return found


def plan(memory):
    """Poses, commands and step of the only row's plan."""
    n, dt = int(memory["grid"][0, 0]), memory["grid"][0, 1]
    return memory["poses"][0, : n + 1], memory["commands"][0, :n], dt


@pytest.mark.parametrize("planner", [QUADRATIC, QUICK, VIA], ids=lambda one: one.objective)
def test_in_the_open_it_drives_straight_at_top_speed_stops_and_never_changes_its_command_faster_than_it_may(planner):
    goal = ahead(4.0)
    poses, twists, _, reasons = drive(planner, START, goal, 7.0)
    assert twists[:, 0].max() == pytest.approx(1.0, abs=1e-3)
    assert np.abs(aside(poses)).max() < 0.01
    assert math.dist(poses[-1, :2], goal[:2]) < 0.2 and np.all(twists[-1] == 0.0)
    changes = np.abs(np.diff(twists, axis=0)).max(axis=0)
    assert changes[0] <= 2.5 * 0.1 + 1e-6 and changes[2] <= 3.2 * 0.1 + 1e-6
    assert not reasons.any()


@pytest.mark.parametrize("planner", [QUADRATIC, QUICK], ids=lambda one: one.objective)
def test_its_own_limits_hold_all_the_way_round_a_corner_and_past_a_person(planner):
    own = dataclasses.replace(planner, max_vel_x=0.6, max_vel_theta=0.8, acc_lim_x=0.9, dec_lim_x=1.1, acc_lim_theta=1.3)
    corner = [START[:2], ahead(2.0)[:2], ahead(2.0, 2.0)[:2]]
    path = np.concatenate([np.linspace(a, b, 30) for a, b in zip(corner, corner[1:], strict=False)])
    goal = ahead(2.0, 2.0, 0.6 + math.pi / 2)
    poses, twists, crowd, _ = drive(own, START, goal, 14.0, path=path, people=[(*ahead(3.5, 0.2)[:2], -0.4 * C, -0.4 * S, PERSON)])
    assert math.dist(poses[-1, :2], goal[:2]) < 0.2
    grown = np.diff(twists[:, 0])
    assert grown.max() <= 0.09 + 1e-6 and grown.min() >= -0.11 - 1e-6
    assert np.abs(np.diff(twists[:, 2])).max() <= 0.13 + 1e-6
    assert twists[:, 0].min() >= -0.2 - 1e-6 and twists[:, 0].max() <= 0.6 + 1e-6 and np.abs(twists[:, 2]).max() <= 0.8 + 1e-6
    assert apart(poses, crowd) > 0.3


def test_without_bounds_the_quadratic_form_on_a_straight_line_is_the_linear_regulator():
    planner = Mpc(dt_ref=0.2, max_global_plan_lookahead_dist=5.0)
    free = limits(min_vx=-50.0, max_vx=50.0, max_omega=50.0, acceleration=5e3, alpha=5e3)
    planner = dataclasses.replace(planner, max_vel_x_backwards=50.0)
    answer = planner.act(see(START, (0.0, 0.0, 0.0), ahead(1.3), robot=free), {})
    poses, commands, _ = plan(answer.memory)
    cost, gains = 10.0, []
    for _ in range(19):  # Riccati's recursion of x' = x + 0.2 v, cost 2 x^2 + 0.1 v^2
        gains.append(0.2 * cost / (0.1 + 0.04 * cost))
        cost = 2.0 + cost - 0.2 * cost * gains[-1]
    left = 1.3 - (poses[:-1, :2] - START[:2]) @ (C, S)
    assert commands[:, 0] == pytest.approx(np.array(gains[::-1]) * left, abs=2e-4)
    assert answer.twists[0, 0] == pytest.approx(gains[-1] * 1.3, rel=1e-3)


def test_minimum_time_on_a_straight_line_is_that_of_the_trapezium_within_a_step():
    answer = QUICK.act(see(START, (0.0, 0.0, 0.0), ahead(1.4), robot=ROBOT), {})
    _, commands, dt = plan(answer.memory)
    assert dt * len(commands) == pytest.approx(1.4 / 1.0 + 1.0 / 2.5, abs=dt)
    assert commands[:, 0].max() == pytest.approx(1.0, abs=1e-3)
    assert abs(dt - 0.12) < 0.02


def test_a_step_as_long_as_the_way_takes_has_as_many_steps_as_it_needs():
    counts = [
        int(QUICK.act(see(START, (0.0, 0.0, 0.0), ahead(way), robot=ROBOT), {}).memory["grid"][0, 0]) for way in (0.5, 1.0, 1.5)
    ]
    assert 6 <= counts[0] < counts[1] < counts[2] <= 24


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_it_passes_a_pillar_on_the_side_of_which_it_is_a_centimetre_off(side):
    pillar = (*ahead(2.0, -0.01 * side)[:2], 0.2)
    poses, _, _, _ = drive(QUADRATIC, START, ahead(4.0), 7.0, discs=[pillar])
    beside = np.abs((poses[:, :2] - START[:2]) @ (C, S) - 2.0) < 0.1
    assert (side * aside(poses[beside]) > 0.4).all() and beside.any()
    assert math.dist(poses[-1, :2], ahead(4.0)[:2]) < 0.2


def test_a_pillar_on_the_axis_is_passed_on_either_side_or_stood_before():
    poses, _, _, _ = drive(QUADRATIC, (0.025, 0.025, 0.0), (4.025, 0.025, 0.0), 6.0, discs=[(2.025, 0.025, 0.2)])
    assert np.hypot(poses[:, 0] - 2.025, poses[:, 1] - 0.025).min() > 0.5


def test_a_mirrored_scene_is_driven_through_as_its_mirror_image():
    start, goal, pillar = (0.025, 0.025, 0.0), (4.025, 0.025, 0.0), (2.03, 0.175, 0.2)
    walker = (3.2, -1.4, -0.3, 0.5, PERSON)
    one = drive(QUADRATIC, start, goal, 5.0, discs=[pillar], people=[walker])[0] - (0.0, 0.025, 0.0)
    mirrored = [(pillar[0], 0.05 - pillar[1], pillar[2])], [(walker[0], 0.05 - walker[1], walker[2], -walker[3], PERSON)]
    other = drive(QUADRATIC, start, goal, 5.0, discs=mirrored[0], people=mirrored[1])[0] - (0.0, 0.025, 0.0)
    assert np.abs(one[:, 1]).max() > 0.2
    assert other == pytest.approx(one * (1, -1, -1), abs=0.02)


def test_it_turns_the_short_way_through_half_a_turn():
    pose, goal = (1.3, -0.4, 3.0), (-1.7, -0.4, -3.0)
    answer = QUADRATIC.act(see(pose, (0.0, 0.0, 0.0), goal, robot=ROBOT), {})
    headings = plan(answer.memory)[0][:, 2]
    assert answer.twists[0, 2] > 0.0 and headings.min() >= 3.0 and headings.max() < 3.0 + 0.5
    assert np.abs(np.diff(headings)).max() < 0.2


def test_the_goal_s_heading_counts_where_the_task_asks_for_one():
    goal = ahead(2.0, 0.3, heading=1.6)
    poses, _, _, _ = drive(QUADRATIC, START, goal, 8.0)
    assert math.dist(poses[-1, :2], goal[:2]) < 0.2 and abs(poses[-1, 2] - 1.6) <= 0.1
    seen = see(START, (0.0, 0.0, 0.0), ahead(1.3, 0.2, heading=1.6), robot=ROBOT)
    anyhow = dataclasses.replace(seen, heading_tolerance=np.full(1, 4.0, np.float32), goal_tolerance=np.full(1, 0.3, np.float32))
    ends = [plan(QUADRATIC.act(one, {}).memory)[0][-1, 2] for one in (seen, anyhow)]
    assert ends[0] > 1.2 and ends[1] == pytest.approx(0.6 + math.atan2(0.2, 1.3), abs=0.1)


def test_a_crossing_walker_is_kept_off_by_where_he_will_be():
    walker = [(*ahead(2.6, -2.6)[:2], -S, C, PERSON)]
    poses, _, crowd, reasons = drive(QUADRATIC, START, ahead(5.0), 9.0, people=walker)
    assert apart(poses, crowd) > 0.3 + 0.25
    assert math.dist(poses[-1, :2], ahead(5.0)[:2]) < 0.2 and not reasons.any()
    blind = dataclasses.replace(QUADRATIC, enable_dynamic_obstacles=False)
    assert apart(*drive(blind, START, ahead(5.0), 9.0, people=walker)[0::2][:2]) < apart(poses, crowd)


def test_the_plan_of_the_call_before_saves_iterations(monkeypatch):
    found, many = solved(monkeypatch), []
    for forget in (False, True):
        found.clear()
        drive(QUADRATIC, START, ahead(3.0), 2.5, forget=forget, people=[(*ahead(1.6, 0.1)[:2], 0.0, 0.0, PERSON)])
        many.append(sum(one.iterations for one in found))
    assert many[0] < 0.7 * many[1]


@pytest.mark.parametrize("planner", [QUADRATIC, QUICK], ids=lambda one: one.objective)
def test_a_solver_that_runs_out_of_iterations_leaves_the_last_plan_and_then_the_brake(planner):
    seen = [see(ahead(0.5 * t), (0.5, 0.0, 0.1), ahead(4.0), robot=ROBOT, dt=0.1) for t in (0.0, 0.1)]
    good = planner.act(seen[0], {})
    short = dataclasses.replace(planner, iterations=1)
    kept = short.act(seen[1], good.memory)
    assert kept.notes["reason"] == Reason.NOT_CONVERGED
    commands, dt = plan(good.memory)[1:]
    assert kept.twists[0, 0] == pytest.approx(commands[int(0.1 / dt + 1e-9), 0], abs=0.3)
    assert kept.twists[0, 0] > 0.3
    braked = short.act(seen[1], {})
    assert braked.notes["reason"] == Reason.NOT_CONVERGED
    assert braked.twists[0] == pytest.approx((0.25, 0.0, 0.0), abs=1e-6)


def test_it_brakes_before_a_wall_that_it_did_not_plan_for_and_says_why():
    near = [(*ahead(0.55, 0.4 * k)[:2], 0.1) for k in (-2, -1, 0, 1, 2)]
    seen = see(START, (1.0, 0.0, 0.0), ahead(4.0), robot=ROBOT, discs=near, dt=0.1)
    answer = QUADRATIC.act(seen, {})
    assert answer.twists[0, 0] <= 0.75 + 1e-6 and answer.notes["reason"] in (Reason.BLOCKED, Reason.NOT_CONVERGED)


def test_a_car_turns_no_tighter_than_it_can_and_a_holonomic_robot_moves_sideways():
    goal = ahead(2.5, 1.0)
    poses, twists, _, _ = drive(QUADRATIC, START, goal, 7.0, robot=limits(min_vx=-0.5, turning_radius=0.8))
    assert (np.abs(twists[:, 2]) * 0.8 <= np.abs(twists[:, 0]) + 1e-6).all()
    assert math.dist(poses[-1, :2], goal[:2]) < 0.4
    beside = ahead(0.0, 1.2)
    poses, twists, _, _ = drive(QUADRATIC, START, beside, 4.0, robot=limits(min_vx=-0.5, max_vy=0.6))
    assert math.dist(poses[-1, :2], beside[:2]) < 0.2
    assert np.abs(twists[:, 1]).max() > 0.4 and np.hypot(twists[:, 0], twists[:, 1]).max() <= 1.0 + 1e-6


def test_via_points_keep_it_to_its_path():
    bend = np.concatenate([np.linspace(a, b, 20) for a, b in ((START[:2], ahead(0.8)[:2]), (ahead(0.8)[:2], ahead(0.8, 0.7)[:2]))])
    way = {}
    for planner in (QUICK, dataclasses.replace(VIA, position_weight=8.0, global_plan_viapoint_sep=0.4)):
        answer = planner.act(see(START, (0.0, 0.0, 0.0), ahead(0.8, 0.7, 2.2), robot=ROBOT, path=bend), {})
        poses = plan(answer.memory)[0]
        way[planner.objective] = np.hypot(*(poses[:, :2] - ahead(0.8)[:2]).T).min()
    assert way["minimum_time_via_points"] < 0.7 * way["minimum_time"]


def test_footprints_are_the_centre_the_disc_and_the_rectangle():
    corners = np.array([[[0.5, 0.2], [-0.3, 0.2], [-0.3, -0.2], [0.5, -0.2]]], np.float32)
    wall = [(*ahead(0.3 * k, 0.5)[:2], 0.05) for k in range(-2, 14)]
    least = {}
    for model in ("point", "circular", "rectangle"):
        planner = Mpc(footprint_model=model, min_obstacle_dist=0.2, collision_check_no_poses=1)
        seen = see(START, (0.0, 0.0, 0.0), ahead(3.0), robot=ROBOT, discs=wall, radius=0.2)
        seen = dataclasses.replace(seen, footprint=corners, radius=np.full(1, 0.54, np.float32))
        poses = plan(planner.act(seen, {}).memory)[0]
        least[model] = 0.45 - aside(poses)[-1]
    assert least["point"] == pytest.approx(0.45, abs=0.04) and least["rectangle"] == pytest.approx(0.45, abs=0.06)
    assert least["circular"] > 0.54 + 0.2 - 0.02


def test_presets_hold_it_to_the_published_numbers():
    ros, arena = (named_planner(name)[1].part for name in ("mpc_ros", "mpc_arena_jackal"))
    assert (ros.max_vel_x, ros.acc_lim_x, ros.grid_size_ref, ros.dt_ref, ros.max_grid_size) == (0.4, 0.2, 20, 0.3, 50)
    assert (arena.max_vel_x, arena.max_vel_theta, arena.acc_lim_theta) == (2.0, 1.57, 20.0)
    poses, twists, _, _ = drive(ros, START, ahead(1.2), 9.0)
    assert twists[:, 0].max() == pytest.approx(0.4, abs=1e-3) and np.abs(np.diff(twists[:, 0])).max() <= 0.02 + 1e-6
    assert math.dist(poses[-1, :2], ahead(1.2)[:2]) < 0.2


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"min_grid_size": 30}, "min_grid_size: must be less than max_grid_size, 25, is 30"),
        ({"min_dt": 11.0}, "min_dt: must be less than max_dt, 10"),
        ({"max_vel_x": 0.0}, r"max_vel_x: expected a number in \(0, 100\] or nothing"),
        ({"obstacles": 2}, "obstacles"),
        ({"slack_weight": -1.0}, "slack_weight"),
    ],
)
def test_settings_that_cannot_be_are_refused_by_name(wrong, said):
    with pytest.raises(InputError, match=said):
        Mpc(**wrong)
