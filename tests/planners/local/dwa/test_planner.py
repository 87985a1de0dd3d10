from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from tests.planners.local.driving import drive, limits, look
from tests.planners.local.dwa.twin import scores

from agora.core.recording import Reason
from agora.costmap.window import Window
from agora.errors import InputError
from agora.planners.local.dwa import Dwa
from agora.planners.presets import named_planner
from agora.testing import observation

START = (2.3, -4.1, 0.6)
WINDOW = Window(size=6.0)


def ros(**fields):
    """The planner with the limits of the package, and other fields."""
    planner = named_planner("dwa_ros")[1].part
    assert isinstance(planner, Dwa)
    return dataclasses.replace(planner, **fields)


def ahead(distance, aside=0.0, heading=0.6, start=START):
    c, s = math.cos(start[2]), math.sin(start[2])
    return (start[0] + distance * c - aside * s, start[1] + distance * s + aside * c, heading)


def row_of(seen, n):
    m = seen.limits
    return {
        "pose": seen.pose[n].astype(float),
        "twist": seen.twist[n].astype(float),
        "limits": {
            **{name: float(getattr(m, name)[n]) for name in ("min_vx", "max_vx", "max_vy", "max_omega", "turning_radius")},
            "acceleration": (float(m.max_ax[n]), float(m.max_ay[n]), float(m.max_alpha[n])),
        },
        "dt": seen.dt,
        "path": seen.path[n, : seen.path_count[n]].astype(float),
        "costmap": (seen.costmap.cost[n], seen.costmap.origin[n].astype(float), seen.costmap.resolution),
    }


def corners_of(planner, seen, n):
    angle = 2 * math.pi * np.arange(16) / 16
    disc = seen.radius[n] * np.stack((np.cos(angle), np.sin(angle)), -1)
    corners = seen.footprint[n].astype(float) if seen.footprint.shape[1] else np.round(disc, 9)
    return corners + planner.window.footprint_padding * np.sign(corners)


@pytest.mark.parametrize("use_dwa", [True, False])
@pytest.mark.parametrize(
    "kind", [{}, {"max_vy": 0.6}, {"turning_radius": 0.7, "corners": 4}], ids=["differential", "holonomic", "car"]
)
def test_the_kernel_drives_the_sample_that_its_plain_twin_scores_best(kind, use_dwa):
    planner = ros(window=Window(size=4.2), use_dwa=use_dwa, vy_samples=4, vth_samples=9, twirling_scale=0.1)
    exact = 0
    for seed in (4, 5):
        seen = observation(6, seed=seed, window=planner.window, **kind)
        twists = planner.act(seen, {}).twists
        for n in range(6):
            found = scores(planner, corners=corners_of(planner, seen, n), **row_of(seen, n))
            if not found:
                assert not twists[n].any()
                exact += 1
                continue
            chosen = min(found, key=lambda drive: np.abs(np.subtract(drive, twists[n])).max())
            assert chosen == pytest.approx(twists[n], abs=1e-5)
            assert found[chosen] <= min(found.values()) + 0.1  # a point on a cell's border may fall to either side
            exact += found[chosen] <= min(found.values()) + 1e-5
    assert exact >= 11


def test_on_an_empty_map_it_drives_straight_at_top_speed_and_arrives_when_arithmetic_says():
    distance, dt, top, acceleration = 4.0, 0.05, 0.55, 2.5
    planner = ros(window=WINDOW)
    poses, twists = drive(planner, START, ahead(distance), 9.0, dt=dt)
    travelled = np.hypot(*(poses[:, :2] - START[:2]).T)
    cruising = (travelled[1:] > 0.3) & (travelled[1:] < distance - 1.2)
    assert twists[cruising, 0] == pytest.approx(top)
    assert np.abs((poses[:, :2] - START[:2]) @ (-math.sin(0.6), math.cos(0.6))).max() < 0.06
    at_three = np.interp(3.0, travelled, np.arange(len(poses)) * dt)
    assert at_three == pytest.approx(3.0 / top + 0.5 * top / acceleration, abs=2 * dt)


def test_at_the_goal_it_stops_within_the_tolerance_and_turns_to_the_goal_s_heading():
    goal = ahead(2.0, 0.4, heading=-2.2)
    planner = ros(window=WINDOW)
    poses, twists = drive(planner, START, goal, 14.0)
    assert math.dist(poses[-1, :2], goal[:2]) < planner.xy_goal_tolerance
    assert abs(math.remainder(poses[-1, 2] - goal[2], 2 * math.pi)) < planner.yaw_goal_tolerance
    assert np.all(twists[-1] == 0.0)
    inside = np.flatnonzero(np.hypot(*(poses[:-1, :2] - goal[:2]).T) < planner.xy_goal_tolerance)
    assert np.diff(twists[inside, 0]).min() >= -planner.acc_lim_x * 0.05 - 1e-5


def why(answer):
    return Reason(int(answer.notes["reason"][0]))


def test_a_wall_all_round_stops_it():
    ring = [(START[0] + 0.75 * math.cos(a), START[1] + 0.75 * math.sin(a), 0.3) for a in np.linspace(0, 2 * math.pi, 16)]
    seen = look(START, (0.2, 0.0, 0.1), ahead(4.0), discs=ring)
    answer = ros(window=WINDOW).act(seen, {})
    twists, _memory = answer.twists, answer.memory
    assert np.all(twists == 0.0)
    assert why(answer) == Reason.BLOCKED


def test_standing_in_an_obstacle_it_stays():
    seen = look(START, (0.3, 0.0, 0.0), ahead(4.0), discs=[(*ahead(0.25)[:2], 0.1)])
    answer = ros(window=WINDOW).act(seen, {})
    twists, _memory = answer.twists, answer.memory
    assert np.all(twists == 0.0)
    assert why(answer) == Reason.START_IN_CONTACT


def test_it_follows_a_path_round_a_pillar_without_touching_it_and_arrives():
    pillar = (*ahead(1.7, 0.05)[:2], 0.3)
    along = np.linspace(0.0, 3.6, 90)
    path = np.array([ahead(x, -0.85 * math.sin(math.pi * x / 3.6) ** 2)[:2] for x in along])
    planner = dataclasses.replace(named_planner("dwa_kinetic")[1].part, window=WINDOW)
    poses, _ = drive(planner, START, ahead(3.6), 10.0, path=path, discs=[pillar])
    gap = np.hypot(*(poses[:, :2] - pillar[:2]).T) - 0.3 - 0.3
    assert gap.min() > 0.0
    assert math.dist(poses[-1, :2], ahead(3.6)[:2]) < 0.1


def test_a_path_through_a_pillar_does_not_lead_into_it():
    pillar = (*ahead(1.7, 0.05)[:2], 0.3)
    poses, _ = drive(ros(window=WINDOW), START, ahead(3.6), 12.0, discs=[pillar])
    assert np.hypot(*(poses[:, :2] - pillar[:2]).T).min() > 0.6


@pytest.mark.parametrize("reach", [0.4, 0.8])
def test_a_goal_inside_a_wall_is_approached_and_the_wall_not_touched(reach):
    goal = ahead(3.0)
    poses, _ = drive(ros(window=WINDOW), START, goal, 10.0, discs=[(*goal[:2], reach)])
    gap = np.hypot(*(poses[:, :2] - goal[:2]).T) - reach - 0.3
    assert 0.0 < gap.min() < 0.7


def test_a_path_walled_off_from_the_robot_stops_it():
    shut = [(*ahead(1.0, 0.12 * k)[:2], 0.1) for k in range(-30, 31)]
    path = np.linspace(ahead(1.4)[:2], ahead(2.4)[:2], 30)
    seen = look(START, (0.3, 0.0, 0.0), ahead(2.4), path=path, discs=shut)
    assert np.all(ros(window=WINDOW).act(seen, {}).twists == 0.0)


def test_no_path_and_a_path_elsewhere_stop_it():
    for path in (np.zeros((0, 2)), np.linspace(ahead(20.0)[:2], ahead(30.0)[:2], 50)):
        seen = look(START, (0.3, 0.0, 0.0), ahead(30.0), path=path)
        answer = ros(window=WINDOW).act(seen, {})
        twists, _memory = answer.twists, answer.memory
        assert np.all(twists == 0.0)
        assert why(answer) == Reason.NO_PATH


@pytest.mark.parametrize(("aside", "heading"), [(0.37, 0.11), (0.21, -0.33)])
def test_a_mirrored_scene_gives_the_mirrored_twist(aside, heading):
    """A window about y = 0 maps cells to cells. Outlines are drawn the other way round, which may move a cell: no cost for them."""
    planner, twists = ros(window=WINDOW, occdist_scale=0.0), []
    path = np.stack((np.linspace(0.01, 3.0, 80), 0.02 * np.linspace(1.0, 3.0, 80)), -1)
    here = look((0.01, 1e-3, heading), (0.4, 0.0, 0.0), (3.0, 0.06, 0.0), path=path, discs=[(1.3, aside, 0.2)])
    for sign in (1, -1):
        scene = look((0.01, sign * 1e-3, sign * heading), (0.4, 0.0, 0.0), (3.0, sign * 0.06, 0.0), path=path * (1, sign))
        origin = np.array([(here.costmap.origin[0, 0], -3.0)], np.float32)
        costmap = dataclasses.replace(here.costmap, cost=here.costmap.cost[:, ::sign].copy(), origin=origin)
        twists.append(planner.act(dataclasses.replace(scene, costmap=costmap), {}).twists[0])
    assert abs(twists[0][2]) > 0.03
    assert twists[1] == pytest.approx(twists[0] * (1, -1, -1), abs=1e-6)


def test_it_does_not_swing_left_and_right_on_the_spot():
    planner = ros(window=WINDOW)
    goal = ahead(-2.0, 0.01)
    _, twists = drive(planner, START, goal, 3.0)
    on_the_spot = twists[np.abs(twists[:, 0]) <= planner.min_vel_trans, 2]
    signs = np.sign(on_the_spot[on_the_spot != 0])
    assert len(signs) > 10
    assert np.count_nonzero(np.diff(signs)) <= 1


def test_a_forbidden_direction_is_not_driven_until_the_path_changes():
    planner, goal = ros(window=WINDOW), ahead(0.2, 2.0)
    seen = look(START, (0.0, 0.0, 0.0), goal)
    answer = planner.act(seen, {})
    free, memory = answer.twists, answer.memory
    assert free[0, 2] > 0.0
    memory["oscillation"][0, 2] = -1, -1
    barred = planner.act(seen, memory).twists
    assert barred[0, 2] <= 0.0
    other = look(START, (0.0, 0.0, 0.0), goal, path=np.linspace(START[:2], goal[:2], 81))
    assert planner.act(other, memory).twists[0, 2] > 0.0


def test_a_path_that_comes_by_twice_is_followed_in_order_once_what_lies_behind_is_cut_off():
    """There and back round the end of a wall, the lane back 1.8 m aside."""
    turn = np.linspace(-0.5 * math.pi, 0.5 * math.pi, 30)
    lanes = [(0.0, 0.0), *zip(2.0 + 0.9 * np.cos(turn), 0.9 + 0.9 * np.sin(turn), strict=True), (0.3, 1.8)]
    path = np.array([ahead(*place)[:2] for place in lanes])
    wall = [(*ahead(0.1 * k - 2.0, 0.9)[:2], 0.03) for k in range(41)]
    ends = {}
    for prune in (True, False):
        planner = ros(window=Window(size=5.0), prune_plan=prune)
        poses, _ = drive(planner, START, (*path[-1], 0.0), 17.0, path=path, discs=wall, radius=0.2, size=5.0)
        ends[prune] = math.dist(poses[-1, :2], path[-1])
    assert ends[True] < planner.xy_goal_tolerance + 0.02
    assert ends[False] > 0.5


def test_a_robot_with_tighter_limits_than_the_planner_s_is_driven_within_them():
    robot = limits(max_vx=0.3, max_omega=0.5, acceleration=0.8, alpha=1.0)
    _, twists = drive(named_planner("dwa_arena_jackal")[1].part, START, ahead(2.0, 1.0), 8.0, robot=robot, size=10.0)
    assert twists[:, 0].max() == pytest.approx(0.3)
    assert np.abs(twists[:, 2]).max() <= 0.5 + 1e-6
    assert np.abs(np.diff(twists[:, 0]))[:20].max() <= 0.8 * 0.05 + 1e-6


def test_two_threads_get_what_one_gets():
    from concurrent.futures import ThreadPoolExecutor

    planner = ros(window=WINDOW)
    scenes = [observation(4, seed=s, window=w) for s in range(6) for w in (WINDOW, Window(size=4.2))]
    serial = [planner.act(seen, {}).twists for seen in scenes]
    with ThreadPoolExecutor(3) as pool:
        parallel = list(pool.map(lambda seen: planner.act(seen, {}).twists, scenes))
    assert all(np.array_equal(a, b) for a, b in zip(serial, parallel, strict=True))


def test_parameters_that_make_no_sense_are_refused():
    for wrong in ({"sim_time": 0.0}, {"vx_samples": 0}, {"occdist_scale": -1.0}, {"acc_lim_x": math.nan}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            ros(**wrong)


def test_a_goal_near_a_wall_is_reached_where_upstream_stands_before_it():
    """Upstream a step ahead costs more, for the wall that the footprint comes near, than it brings."""
    goal, wall = ahead(2.0), [(*ahead(2.5, y)[:2], 0.03) for y in np.arange(-1.0, 1.01, 0.05)]
    scene = {"discs": wall, "robot": limits(max_vx=1.0, acceleration=10.0, alpha=20.0), "radius": 0.267, "dt": 0.1}
    for planner, arrives in ((Dwa(window=WINDOW), True), (Dwa(window=WINDOW, goal_leniency_distance=0.0), False)):
        poses, _ = drive(planner, START, goal, 12.0, **scene)
        assert (math.dist(poses[-1, :2], goal[:2]) < 0.15) == arrives
        assert min(math.dist(pose[:2], one[:2]) for pose in poses for one in wall) > 0.267 + 0.03
