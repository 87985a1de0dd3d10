from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.planners.local.driving import drive, limits, look, moved
from tests.planners.local.sampling import twin

from agora.core.jit import kernel
from agora.core.recording import Reason
from agora.costmap.window import Window
from agora.errors import InputError
from agora.planners import adapters
from agora.planners.local.sampling import Sampling
from agora.planners.local.sampling._field import CLOSED, write_goal_distances
from agora.planners.local.sampling._grid import waypoints
from agora.planners.local.sampling._plan import RobotWindow, cost_of_spline
from agora.planners.local.sampling._planner import Parameters
from agora.planners.local.sampling._splines import bin_of, end_of
from agora.testing import observation
from agora.testing.scenes import Move

SMALL = Sampling(waypoints=1500, headings=9, start_speeds=7, window=Window(size=6.0, sources=("map",)))
ROBOT = {"max_vx": 1.2, "max_omega": 1.1, "acceleration": 100.0, "alpha": 100.0}
START = (2.3, -4.1, 0.6)


def ahead(distance, aside=0.0, start=START):
    c, s = math.cos(start[2]), math.sin(start[2])
    return (start[0] + distance * c - aside * s, start[1] + distance * s + aside * c, start[2])


def grid(planner):
    angles = (math.radians(planner.camera_tilt), math.radians(planner.half_view))
    return waypoints(planner.waypoints, planner.headings, planner.camera_height, *angles)


def twists_of(of, k, shares):
    x, y, p = (np.array(part[k], float) for part in (of.x, of.y, of.p))
    _, _, _, speed, turn = twin.places(x, y, p, shares)
    return speed / of.time[k], turn / of.time[k]


@kernel
def _to_goal(cost, left, bottom, cell, path, count, x, y, distance, closed, first, last):
    closed[0] = write_goal_distances(cost, left, bottom, cell, path, count, x, y, distance)


@kernel
def _cost(p, x, y, way, time, scene, limit, out, first, last):
    out[0] = cost_of_spline(p, x, y, way, time, scene, limit)


def field(cost, origin, cell, path, place):
    distance, closed, f = np.empty(cost.shape, np.float32), np.empty(1, np.float32), np.float32
    path = np.asarray(path, np.float32)
    _to_goal(cost, f(origin[0]), f(origin[1]), f(cell), path, len(path), f(place[0]), f(place[1]), distance, closed, 0, 1)
    return distance, float(closed[0])


def test_the_published_grid_is_even_in_the_picture_of_a_camera_that_looks_down_by_45_degrees():
    made = grid(Sampling()).reshape(31, 33, 21, 3)  # 20000 / 21 places wanted; odd counts, as far apart across as up
    assert made[15, 16, 10] == pytest.approx((0.8, 0.0, 0.0), abs=1e-9)  # the middle, straight up: as far as the camera is high
    assert made[15, 0, 0, 1] == pytest.approx(0.8 * math.sqrt(2.0))  # 45 degrees aside of a ray of 0.8 sqrt(2) m
    assert made[0, 16, 0, 0] == pytest.approx(0.8 / math.tan(0.01), rel=1e-6)  # 0.01 rad below the horizon
    assert made[30, 16, 0, 0] == pytest.approx(0.8 * math.tan(0.01), rel=1e-6)
    assert np.abs(made[..., 2]).max() == pytest.approx(math.pi / 2)
    assert np.allclose(made, made[:, ::-1, ::-1] * (1.0, -1.0, -1.0))


@pytest.mark.parametrize(("top", "turn", "bend"), [(1.2, 1.1, 0.0), (0.37, 2.9, 0.0), (2.1, 0.8, 0.9)])
def test_splines_keep_the_limits_as_fast_as_they_can_and_end_at_their_waypoint_standing(top, turn, bend):
    planner = replace(SMALL, waypoints=900)
    of, goals = planner.splines(top, turn, bend), grid(planner)
    assert len(of.time) > 300 and of.time.min() >= 1.5 and of.time.max() <= 4.0
    spacing, checks = top / 6, np.linspace(0.0, 1.0, 80)
    for k in range(0, len(of.time), 17):
        speed, rate = twists_of(of, k, checks)
        assert (speed > -1e-4).all() and abs(speed[-1]) < 1e-4
        shares = (speed.max() / top, np.abs(rate).max() / turn, 1.5 / of.time[k])
        assert max(shares) == pytest.approx(1.0, abs=2e-3)
        assert (np.abs(rate) * bend <= np.abs(speed) + 1e-3).all()
        which = int(np.searchsorted(of.first, k, side="right")) - 1
        assert abs(speed[0] - which * spacing) <= 0.5 * spacing + 1e-3
        assert end_of(of.x[k], of.y[k]) == pytest.approx(goals[of.waypoint[k]], abs=2e-4)
        assert of.y[k, 2] == 0.0 and of.x[k, 2] > 0.0  # they begin along the robot's heading
    for one in range(7):
        assert len(set(of.waypoint[of.first[one] : of.first[one + 1]])) == of.first[one + 1] - of.first[one]


def test_a_straight_spline_from_standing_takes_one_and_a_half_times_the_way_over_the_top_speed():
    planner = Sampling()
    of, goals = planner.splines(1.2, 1.1, 0.0), grid(planner)
    seen = 0
    for k in range(of.first[1]):
        x, y, heading = goals[of.waypoint[k]]
        if abs(y) < 1e-9 and abs(heading) < 1e-9:
            assert of.time[k] == pytest.approx(max(1.5, 1.5 * x / 1.2), rel=1e-3)
            seen += 1
    assert seen > 15


def test_the_spline_is_the_one_that_the_conditions_at_its_ends_determine():
    planner = replace(SMALL, waypoints=600)
    of, goals = planner.splines(1.2, 1.1, 0.0), grid(planner)
    for k in range(5, len(of.time), 41):
        fits = [twin.fitted(goals[of.waypoint[k]], speed, 4.0) for speed in np.linspace(0.0, 1.2, 7)]
        assert min(max(np.abs(x - of.x[k]).max(), np.abs(y - of.y[k]).max(), np.abs(p - of.p[k]).max()) for x, y, p in fits) < 1e-4


def test_splines_are_made_once():
    assert SMALL.splines(1.2, 1.1, 0.0) is replace(SMALL, goal_cost=0.1).splines(1.2, 1.1, 0.0)
    assert bin_of(np.array([0.0, 0.099, 0.101, 0.7, 9.0]), 1.2, 7).tolist() == [0, 0, 1, 3, 6]


def test_the_distance_in_the_open_is_that_to_where_the_path_leaves_and_the_rest():
    path = [(0.0, 0.0), (30.0, 0.0)]
    cost, origin, cell = np.zeros((90, 110), np.uint8), (-2.13, -2.275), 0.05
    distance, closed = field(cost, origin, cell, path, (0.0, 0.0))
    leaves = origin[0] + 109 * cell
    x, y = (origin[axis] + (np.arange(size) + 0.5) * cell for axis, size in ((0, 110), (1, 90)))
    exact = 30.0 - leaves + np.hypot(x - leaves, y[:, None])
    inside = distance[1:-1, 1:-1]
    assert np.abs(inside - exact[1:-1, 1:-1]).max() < 0.12  # of an upwind scheme of first order, off the axes
    assert np.abs(distance[45, 1:-3] - exact[45, 1:-3]).max() < 0.04
    assert (distance[0] >= closed).all() and closed == pytest.approx(30.0 - leaves + float(CLOSED), abs=0.05)


def test_the_distance_goes_round_a_wall():
    cost, origin, cell = np.zeros((100, 120), np.uint8), (-3.0, -2.0), 0.05
    cost[:70, 60:62] = 254  # from the lower edge up to y = 1.5, at x = 0 .. 0.1
    distance, closed = field(cost, origin, cell, [(-1.0, 0.0), (2.0, 0.0)], (-1.0, 0.0))
    there = distance[40, 40]  # (-0.975, 0.025)
    assert there == pytest.approx(math.hypot(0.975, 1.5) + 0.1 + math.hypot(1.9, 1.5), rel=0.04)
    shut = cost.copy()
    shut[:, 60:62] = 254
    distance, closed = field(shut, origin, cell, [(-1.0, 0.0), (2.0, 0.0)], (-1.0, 0.0))
    assert distance[40, 40] >= closed > distance[40, 80] and distance[40, 80] == pytest.approx(1.0, abs=0.1)


def test_the_cost_of_a_straight_spline_along_a_wall_is_the_published_sum():
    top, time, f = 1.2, 2.0, np.float32
    x, y, p = (np.array(row, f) for row in ((0, 0, 1.5), (0, 0, 0), (-2, 3, 0)))  # 1.5 m ahead, from standing to standing
    cell, away, gap = 0.05, 9.0, 0.37
    column = np.arange(120) * cell
    distance = np.broadcast_to(away - column, (60, 120)).astype(f)
    gaps = np.broadcast_to(gap, (60, 120)).astype(f)
    tilt = 0.2  # of the robot against the straight way to the goal
    scene = RobotWindow(distance, gaps, f(10), f(20), f(math.sin(tilt)), f(math.cos(tilt)), f(1 / cell), f(1e3), f(0.0), False)
    obstacles = {"obstacle_cost": 1.3, "obstacle_margin": 0.5, "obstacle_width": 0.2}
    costs = Sampling(step=0.05, control_horizon=0.5, **obstacles, goal_cost=0.08, goal_margin=0.3, angle_cost=0.008)
    given, out = Parameters.of(costs), np.empty(1, f)
    _cost(given, x, y, p, f(time), scene, f(np.inf), out, 0, 1)
    s = np.arange(40) * 0.05 / time
    goal = away - 10 * cell - 1.5 * (3 * s**2 - 2 * s**3) * math.cos(tilt)
    expected = np.mean(1.3 * ((0.5 - gap) / 0.2) ** 3 + 0.08 * (goal**2 - 0.3**2) + 0.008 * tilt)
    assert out[0] == pytest.approx(expected, rel=1e-4) and top * time > 1.5
    _cost(given, x, y, p, f(time), scene, f(0.5 * expected), out, 0, 1)
    assert out[0] == np.inf  # sure to be above the limit


@pytest.mark.parametrize("seed", [1, 2])
def test_the_kernel_takes_the_spline_that_its_plain_twin_finds_best(seed):
    planner = replace(SMALL, waypoints=400, headings=7)
    seen = observation(3, seed=seed, window=planner.window)
    cell = seen.costmap.resolution
    best = planner.best(seen, np.arange(3))
    of = planner.splines(0.8, float(np.float32(1.2)), 0.0)
    for n in range(3):
        blocked, origin = seen.costmap.cost[n] >= 254, seen.costmap.origin[n].astype(float)
        pose, path = seen.pose[n].astype(float), seen.path[n, : seen.path_count[n]].astype(float)
        distance, _ = twin.field(blocked, cell, origin, path, pose)
        mine = field(seen.costmap.cost[n], origin, cell, path, pose)[0]
        assert np.abs(mine - distance).max() < 0.03
        scene = (distance, twin.gaps_of(blocked, cell), blocked | (distance >= twin.CLOSED), cell, origin, pose)
        which = int(bin_of(seen.twist[n, 0], 0.8, 7))
        mine = range(of.first[which], of.first[which + 1])
        found = {k: twin.cost(planner, (of.x[k].astype(float), of.y[k], of.p[k]), of.time[k], *scene) for k in mine}
        chosen = min(mine, key=lambda k: np.abs(of.x[k] - best.x[n]).max() + np.abs(of.y[k] - best.y[n]).max())
        assert np.array_equal(of.y[chosen], best.y[n]) and best.time[n] == pytest.approx(of.time[chosen])
        assert found[chosen] <= min(found.values()) + 0.02  # where the way is walked in other steps
        assert len(found) > 50 and max(found.values()) > min(found.values()) + 0.5


def test_in_the_open_it_drives_straight_to_the_goal_at_top_speed():
    planner = Sampling()
    poses, twists = drive(planner, START, ahead(5.5), 8.0, robot=limits(**ROBOT), size=10.0)
    gap = np.hypot(*(poses[:, :2] - ahead(5.5)[:2]).T)
    arrived = int(np.argmax(gap < 0.3))
    way = np.hypot(*np.diff(poses[: arrived + 1, :2], axis=0).T).sum()
    assert gap[arrived] < 0.3 and way < 1.005 * (5.5 - 0.3) + 0.06
    assert twists[:, 0].max() == pytest.approx(1.2, rel=0.01)
    assert arrived * 0.05 < 5.5 / 1.2 + 2.0  # it speeds up and slows down as splines do


@pytest.mark.parametrize("aside", [0.3, -0.3])
def test_it_goes_round_a_wall_across_its_way(aside):
    discs = [(*ahead(2.5, aside + k)[:2], 0.25) for k in np.arange(-0.9, 0.91, 0.15)]
    poses, _ = drive(Sampling(), START, ahead(6.0), 14.0, robot=limits(**ROBOT), size=10.0, discs=discs, radius=0.24)
    assert np.hypot(*(poses[:, :2] - ahead(6.0)[:2]).T).min() < 0.3
    clear = min(np.hypot(*(poses[:, :2] - disc[:2]).T).min() - disc[2] for disc in discs)
    assert clear > 0.24
    middle = poses[np.argmin(np.hypot(*(poses[:, :2] - ahead(2.5)[:2]).T))]
    side = -math.sin(START[2]) * (middle[0] - START[0]) + math.cos(START[2]) * (middle[1] - START[1])
    assert side * aside < 0  # on the shorter side


def test_where_no_spline_is_free_it_stands_and_says_so():
    ring = [(START[0] + 0.55 * math.cos(a), START[1] + 0.55 * math.sin(a), 0.3) for a in np.arange(0.0, 6.3, 0.2)]
    shut = SMALL.act(look(START, (0, 0, 0), ahead(4.0), discs=ring, robot=limits(**ROBOT), radius=0.2), {})
    assert not shut.twists.any() and shut.notes["reason"].tolist() == [Reason.BLOCKED] and not shut.memory["time"].any()
    wide = SMALL.act(look(START, (0, 0, 0), ahead(4.0), robot=limits(**ROBOT, turning_radius=500.0)), {})
    assert wide.twists[0, 2] == pytest.approx(0.0, abs=1e-3) and wide.twists[0, 0] > 0.0  # straight ones are left
    lost = look(START, (0, 0, 0), ahead(4.0), robot=limits(**ROBOT))
    stands = SMALL.act(replace(lost, path_count=np.zeros(1, np.int32)), shut.memory)
    assert not stands.twists.any() and stands.notes["reason"].tolist() == [Reason.NO_PATH]


@pytest.mark.parametrize(("speed", "which"), [(0.0, 0), (0.09, 0), (0.62, 3), (1.19, 6), (1.7, 6)])
def test_it_goes_on_about_as_fast_as_it_is(speed, which):
    planner, seen = SMALL, look(START, (speed, 0.0, 0.0), ahead(5.0, 0.4), robot=limits(**ROBOT))
    best = planner.best(seen, np.arange(1))
    begins = best.x[0, 2] * best.p[0, 2] / best.time[0]
    assert abs(begins - 0.2 * which) <= 0.1 + 1e-4


def test_a_spline_is_driven_for_the_control_horizon_and_then_comes_another():
    memory, plans = {}, []
    pose, twist = START, (0.0, 0.0, 0.0)
    for _ in range(21):
        answer = SMALL.act(look(pose, twist, ahead(5.0, 1.0), robot=limits(**ROBOT)), memory)
        memory = answer.memory
        plans.append(memory["p"].tobytes() + memory["x"].tobytes())
        twist = tuple(answer.twists[0].tolist())
        pose = moved(pose, twist, 0.05)
    assert len(set(plans[:10])) == 1 and len(set(plans[10:20])) == 1 and len({plans[0], plans[10], plans[20]}) == 3


def test_a_robot_that_is_slowed_down_goes_along_the_same_spline_more_slowly():
    seen = look(START, (1.0, 0.0, 0.0), ahead(5.0, 1.0), robot=limits(**ROBOT))
    first = SMALL.act(seen, {})
    slow = replace(seen, limits=limits(**ROBOT | {"max_vx": 0.31}))
    fast, slower = SMALL.act(seen, first.memory), SMALL.act(slow, first.memory)
    assert slower.twists[0, 0] == pytest.approx(0.31) and fast.twists[0, 0] > 0.8
    assert slower.twists[0, 2] / slower.twists[0, 0] == pytest.approx(fast.twists[0, 2] / fast.twists[0, 0], rel=1e-4)
    assert slower.memory["gone"][0] - 0.05 == pytest.approx(0.05 * 0.31 / fast.twists[0, 0], rel=1e-4)
    anew = SMALL.act(slow, {})  # one between whole centimetres would be driven by the splines of the next tenth
    assert 0.0 < anew.twists[0, 0] <= 0.31


def test_left_and_right_are_alike():
    for seed in (3, 4, 6):
        one = SMALL.best(observation(4, seed=seed, window=SMALL.window), np.arange(4))
        other = SMALL.best(observation(4, seed=seed, window=SMALL.window, move=Move(mirror=True)), np.arange(4))
        same = np.abs(one.x - other.x).max(1) + np.abs(one.y + other.y).max(1) < 1e-3
        assert same.mean() >= 0.75 and np.abs(one.y).max() > 0.05  # a few are next to others that cost the same to 0.1 %


def test_a_row_alone_has_the_bits_that_it_has_among_64():
    seen = observation(64, seed=7, window=SMALL.window)
    together = SMALL.act(seen, {})
    after = SMALL.act(seen, together.memory)
    assert len(np.unique(together.twists, axis=0)) > 30
    for n in (0, 17, 63):
        alone = SMALL.act(adapters.batch_of_one(seen, n), {})
        assert np.array_equal(alone.twists, together.twists[n : n + 1])
        assert np.array_equal(SMALL.act(adapters.batch_of_one(seen, n), alone.memory).twists, after.twists[n : n + 1])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"step": 0.0}, "step: expected a number in"),
        ({"max_final_time": 1.0}, "max_final_time: must be at least min_final_time, 1.5 s"),
        ({"obstacle_width": 0.0}, "obstacle_width: expected a number in"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        Sampling(**wrong)
