from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from tests.planners.bands.test_solver import room, shape
from tests.planners.bands.twin import along, clearance
from tests.planners.local.driving import limits, look, moved
from tests.planners.local.observations import tracks

from agora.core.recording import Reason
from agora.errors import InputError
from agora.interfaces import Prediction, PredictorDeclaration
from agora.planners._bands.costs import Bounds, Near, SolverMemory, cost, measure
from agora.planners._bands.discs import associate, attach, cluster
from agora.planners._bands.shape import Shape, points_of
from agora.planners.local.teb import Teb
from agora.planners.presets import named_planner
from agora.registry import Named

START = (2.3, -4.1, 0.6)
ROBOT = limits(min_vx=-1.0, max_vx=1.0, max_omega=1.5)
MANY = named_planner("teb_ros")[1].part
ONE = dataclasses.replace(MANY, max_number_classes=1)


def ahead(distance, aside=0.0, heading=0.6, start=START):
    c, s = math.cos(start[2]), math.sin(start[2])
    return (start[0] + distance * c - aside * s, start[1] + distance * s + aside * c, heading)


def see(*args, people=(), **scene):
    """Return a robot's observation of walls and of people (x, y, vx, vy, radius)."""
    people = np.array(people, np.float32).reshape(1, -1, 5)
    crowd = dataclasses.replace(tracks(people[:, :, :2], people[:, :, 2:4]), radius=people[:, :, 4].copy())
    scene = {"size": 9.0, "robot": ROBOT} | scene
    return dataclasses.replace(look(*args, **scene), pedestrians=crowd, robots=tracks(np.zeros((1, 0, 2))))


def drive(planner, start, goal, seconds, *, people=(), dt=0.1, **scene):
    """Let one robot drive among people who walk straight on; return poses, twists and the people at every pose."""
    path = scene.pop("path", np.linspace(start[:2], goal[:2], 80))
    people = np.array(people, float).reshape(-1, 5)
    pose, twist, memory = tuple(start), (0.0, 0.0, 0.0), {}
    poses, twists, crowd = [pose], [], [people.copy()]
    for _ in range(round(seconds / dt)):
        answer = planner.act(see(pose, twist, goal, path=path, dt=dt, people=people, **scene), memory)
        twist, memory = answer.twists, answer.memory
        twist = tuple(twist[0].tolist())
        pose = moved(pose, twist, dt)
        people[:, :2] += dt * people[:, 2:4]
        poses.append(pose)
        twists.append(twist)
        crowd.append(people.copy())
    return np.array(poses), np.array(twists), np.array(crowd)


def bands(memory):
    """The bands of the only row."""
    return [memory["bands"][0, c, :n].astype(float) for c, n in enumerate(memory["counts"][0]) if n]


def apart(poses, crowd):
    """Distance of the robot's centre to the nearest person's disc."""
    return (np.hypot(*np.moveaxis(crowd[:, :, :2] - poses[:, None, :2], 2, 0)) - crowd[:, :, 4]).min()


def price(planner, seen, band):
    """Cost of a band among the walls of an observation, as in the last outer iteration."""
    f, x, y, heading = np.float32, *seen.pose[0].tolist()
    relative = (band - (x, y, 0.0, 0.0)).astype(f)
    origin, n, still = seen.costmap.origin[0], len(band), np.zeros((4000, 3), f)
    grid = np.zeros((70, 70), np.int32), np.zeros((70, 70, 2), np.int32)
    frame = f(seen.costmap.resolution), f(x - origin[0]), f(y - origin[1]), f(math.cos(heading)), f(math.sin(heading))
    standing = cluster(seen.costmap.cost[0], *frame, f(1.5), *grid, still)
    lists = np.zeros((300 * n, 4), f), np.zeros(n + 1, np.int32), np.zeros((1, 3), f), np.zeros(n + 1, np.int32)
    near = Near(*lists, np.zeros((1, 2), f), np.full(1, -1, np.int32))
    disc = Shape(shape().kind, *(array.astype(f) for array in shape()[1:]))
    work = SolverMemory(*(array.astype(f) for array in room(n)))
    twist = seen.twist[0]
    limit = (0.4, 0.2, 0.0, 0.3, 0.5, 0.5, 0.5, 0.0, *twist.tolist(), 0.0, 0.0)
    bounds = Bounds(*(f(v) for v in limit))
    measure(relative, n, bounds, work)
    associate(
        relative, n, disc, still, standing, np.zeros((0, 5), f), 0, f(0.0), f(0.75), f(2.5), (f(0.55), f(0.55)), work.trig, near
    )
    return sum(cost(relative, n, planner.weights, bounds, disc, near, f(8.0), work))


def test_in_the_open_it_drives_straight_at_top_speed_and_stops_at_the_goal():
    goal = ahead(4.0)
    poses, twists, _ = drive(MANY, START, goal, 14.0)
    assert np.median(twists[20:80, 0]) == pytest.approx(0.4, abs=1e-6)
    assert np.abs((poses[:, :2] - START[:2]) @ (-math.sin(0.6), math.cos(0.6))).max() < 0.02
    assert math.dist(poses[-1, :2], goal[:2]) < MANY.xy_goal_tolerance
    assert np.all(twists[-1] == 0.0)


def test_the_goal_s_heading_counts():
    goal = ahead(2.5, 0.6, heading=2.0)
    poses, _, _ = drive(MANY, START, goal, 20.0)
    assert math.dist(poses[-1, :2], goal[:2]) < MANY.xy_goal_tolerance
    assert abs(math.remainder(poses[-1, 2] - 2.0, 2 * math.pi)) < MANY.yaw_goal_tolerance


def test_both_ways_round_a_disc_on_the_axis_are_planned_at_the_same_cost():
    """The robot stands on a cell's centre, so that the costmap is as symmetric as the scene.

    Costs depend on the number of poses, which depends on where a band comes from: they are compared for mirrored first guesses.
    """
    start, goal, pillar = (0.025, 0.025, 0.0), (3.025, 0.025, 0.0), (1.525, 0.025, 0.2)
    seen, memory = see(start, (0.0, 0.0, 0.0), goal, discs=[pillar]), {}
    for _ in range(6):
        memory = MANY.act(seen, memory).memory
    found = bands(memory)
    assert len(found) == 2
    for band in found:
        assert np.hypot(band[:, 0] - pillar[0], band[:, 1] - pillar[1]).min() - pillar[2] >= 0.5
    sides = sorted(band[np.abs(band[:, 0] - pillar[0]).argmin(), 1] for band in found)
    assert sides[0] < -0.6 and sides[1] > 0.6
    mirrored = found[0] * (1, -1, -1, 1) + (0.0, 0.05, 0.0, 0.0)
    memory["counts"][0, 1] = len(mirrored)
    memory["bands"][0, 1, : len(mirrored)] = mirrored
    memory = MANY.act(seen, memory).memory
    costs = [price(MANY, seen, band) for band in bands(memory)]
    assert len(costs) == 2
    assert costs[0] == pytest.approx(costs[1], rel=0.01)


def test_five_ways_between_four_pillars_are_all_planned():
    """One through every gap and one round either end, each clear of the pillars."""
    asides = (-1.75, -0.6, 0.6, 1.75)
    pillars = [(*ahead(2.3, aside)[:2], 0.05) for aside in asides]
    planner = dataclasses.replace(MANY, max_global_plan_lookahead_dist=4.4)
    seen, memory = see(START, (0.0, 0.0, 0.0), ahead(4.3), discs=pillars, size=12.0), {}
    for _ in range(12):
        memory = planner.act(seen, memory).memory
    passed = []
    for band in bands(memory):
        way = (band[:, :2] - START[:2]) @ ((math.cos(0.6), -math.sin(0.6)), (math.sin(0.6), math.cos(0.6)))
        passed.append(np.interp(2.3, way[:, 0], way[:, 1]))
        assert min(np.hypot(*(band[:, :2] - pillar[:2]).T).min() - pillar[2] for pillar in pillars) > 0.45
    assert np.digitize(sorted(passed), asides).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("period", "expected"), [(0.0, [True] * 4), (0.25, [True, False, False, True])])
def test_for_a_while_after_a_change_of_class_there_is_no_other(period, expected):
    """Somebody always stands on the way that the robot has chosen."""
    pillar, goal = (*ahead(1.5)[:2], 0.2), ahead(3.0)
    planner, memory = dataclasses.replace(MANY, switching_blocking_period=period), {}
    for _ in range(6):
        memory = planner.act(see(START, (0.0, 0.0, 0.0), goal, discs=[pillar], dt=0.1), memory).memory
    changed = []
    for _ in expected:
        before = side(memory)
        person = (*ahead(1.5, 0.6 * before)[:2], 0.0, 0.0, 0.2)
        memory = planner.act(see(START, (0.0, 0.0, 0.0), goal, discs=[pillar], people=[person], dt=0.1), memory).memory
        changed.append(side(memory) != before)
    assert changed == expected


def side(memory):
    """On which side of the way straight ahead the band that is driven is halfway: 1 for the left, -1 for the right."""
    band = bands(memory)[0]
    return np.sign(((band[:, :2] - START[:2]) @ (-math.sin(0.6), math.cos(0.6)))[len(band) // 2])


def test_a_disc_that_crosses_is_given_way_by_timing():
    crossing = [(*ahead(2.5, -2.5)[:2], *(0.5 * np.array((-math.sin(0.6), math.cos(0.6)))), 0.3)]
    arrivals = []
    for people in (crossing, ()):
        poses, _, crowd = drive(ONE, START, ahead(5.0), 15.0, people=people)
        arrivals.append(np.flatnonzero(np.hypot(*(poses[:, :2] - ahead(5.0)[:2]).T) < 0.25)[0])
        if people:
            assert apart(poses, crowd) >= 0.5
    assert arrivals[0] > arrivals[1]


def test_where_a_disc_will_be_counts_not_where_it_is():
    """It is on the path now and will have left when the robot comes."""
    leaving = [(*ahead(1.6, 0.05)[:2], -math.sin(0.6), math.cos(0.6), 0.3)]
    bent = []
    for dynamic in (True, False):
        planner = dataclasses.replace(ONE, include_dynamic_obstacles=dynamic)
        memory = planner.act(see(START, (0.4, 0.0, 0.0), ahead(4.0), people=leaving), {}).memory
        aside = (bands(memory)[0][:, :2] - START[:2]) @ (-math.sin(0.6), math.cos(0.6))
        bent.append(np.abs(aside).max())
    assert bent[0] < 0.05 and bent[1] > 0.3


@pytest.mark.parametrize("planner", [ONE, MANY], ids=["one class", "five classes"])
@pytest.mark.parametrize(("aside", "heading"), [(0.31, 0.11), (0.2, -0.33)])
def test_a_mirrored_scene_gives_the_mirrored_twist(planner, aside, heading):
    """About the middle of the row of cells that the robot stands in; the window's first row has no mirror image and is left out."""
    y, twists = 0.025, []
    scene = see((0.025, y, 0.0), (0.0,) * 3, (3.0, y, 0.0), discs=[(1.4, y + aside, 0.2)]).costmap
    cost = scene.cost[:, 1:]
    origin = np.array([(scene.origin[0, 0], y - 0.025 * cost.shape[1])], np.float32)
    for sign in (1, -1):
        people = [(2.5, y - sign * 0.7, -0.3, sign * 0.1, 0.3)]
        seen = see((0.025, y, sign * heading), (0.3, 0.0, sign * 0.1), (3.0, y, 0.0), people=people)
        costmap = dataclasses.replace(scene, cost=cost[:, ::sign].copy(), origin=origin)
        twists.append(planner.act(dataclasses.replace(seen, costmap=costmap), {}).twists[0])
    assert abs(twists[0][2]) > 0.02
    assert twists[1] == pytest.approx(twists[0] * (1, 1, -1), abs=2e-3)


def test_a_car_keeps_its_turning_radius_and_arrives():
    car = limits(min_vx=-1.0, max_vx=1.0, max_omega=1.5, turning_radius=0.8)
    goal = ahead(2.0, 2.2, heading=0.6 + 2.6)
    poses, twists, _ = drive(MANY, START, goal, 25.0, robot=car)
    turning = np.abs(twists[:, 2]) > 1e-4
    assert np.all(np.abs(twists[turning, 0] / twists[turning, 2]) >= 0.8 - 1e-3)
    assert math.dist(poses[-1, :2], goal[:2]) < 0.3
    memory = MANY.act(see(START, (0.0, 0.0, 0.0), goal, robot=car), {}).memory
    for _ in range(3):
        memory = MANY.act(see(START, (0.0, 0.0, 0.0), goal, robot=car), memory).memory
    band = bands(memory)[0]
    turns = np.abs(np.remainder(np.diff(band[:, 2]) + math.pi, 2 * math.pi) - math.pi)
    assert np.all(np.hypot(*np.diff(band[:, :2], axis=0).T) >= 0.8 * 0.9 * turns)


def test_the_band_of_the_period_before_is_where_the_next_one_starts():
    seen = see(START, (0.2, 0.0, 0.0), ahead(3.0), discs=[(*ahead(1.5, 0.1)[:2], 0.2)])
    first = ONE.act(seen, {}).memory
    second = ONE.act(seen, first).memory
    assert price(ONE, seen, bands(second)[0]) <= 1.02 * price(ONE, seen, bands(first)[0])
    band = bands(second)[0]
    later = see(band[5, :3], (0.4, 0.0, 0.0), ahead(3.0), path=np.linspace(START[:2], ahead(3.0)[:2], 80))
    third = ONE.act(later, second).memory
    assert bands(third)[0][0, :3] == pytest.approx(band[5, :3], abs=1e-5)
    assert bands(third)[0][:-1, 3].sum() < band[:-1, 3].sum()


def test_a_goal_that_jumps_starts_a_new_band():
    seen = see(START, (0.2, 0.0, 0.0), ahead(3.0))
    elsewhere = see(START, (0.2, 0.0, 0.0), ahead(1.0, 2.5, 2.0))
    memory = ONE.act(seen, {}).memory
    fresh = ONE.act(elsewhere, {}).twists
    after = ONE.act(elsewhere, memory).twists
    assert np.array_equal(fresh, after)


@pytest.mark.parametrize("reach", [0.4, 0.8])
def test_a_goal_inside_a_wall_is_approached_and_the_wall_not_touched(reach):
    goal = ahead(3.0)
    poses, _, _ = drive(MANY, START, goal, 15.0, discs=[(*goal[:2], reach)])
    gap = np.hypot(*(poses[:, :2] - goal[:2]).T) - reach - 0.3
    assert 0.0 < gap.min() < 0.7


def test_a_wall_across_the_path_is_not_touched():
    wall = [(*ahead(2.0, 0.1 * k)[:2], 0.1) for k in range(-30, 31)]
    poses, _, _ = drive(MANY, START, ahead(4.0), 12.0, discs=wall)
    assert ((poses[:, :2] - START[:2]) @ (math.cos(0.6), math.sin(0.6))).max() < 2.0 - 0.1 - 0.3


def test_shut_in_it_says_that_it_is_blocked():
    ring = [(START[0] + 0.75 * math.cos(a), START[1] + 0.75 * math.sin(a), 0.36) for a in np.linspace(0, 2 * math.pi, 16)]
    answer = MANY.act(see(START, (0.2, 0.0, 0.1), ahead(4.0), discs=ring), {})
    twist, _memory = answer.twists, answer.memory
    assert np.all(twist == 0.0)
    assert answer.notes["reason"][0] == Reason.BLOCKED


def test_how_far_the_check_of_a_band_looks_is_a_number_of_poses_or_a_distance():
    """A band that ends in a wall is driven while the wall is farther away than the check looks."""
    wall = [(*ahead(1.4, 0.1 * k)[:2], 0.1) for k in range(-40, 41)]
    seen = see(START, (0.2, 0.0, 0.0), ahead(3.0), discs=wall)
    found = []
    blind = dataclasses.replace(ONE, weight_obstacle=0.0, weight_inflation=0.0)
    for poses, distance in ((-1, -1.0), (5, -1.0), (-1, 0.7), (20, 0.7), (5, 2.0), (20, 2.0)):
        planner = dataclasses.replace(blind, feasibility_check_no_poses=poses, feasibility_check_lookahead_distance=distance)
        found.append(Reason(int(planner.act(seen, {}).notes["reason"][0])))
    assert found == [Reason.BLOCKED, *[Reason.NONE] * 4, Reason.BLOCKED]


def test_with_an_obstacle_in_its_footprint_it_stays():
    seen = see(START, (0.3, 0.0, 0.0), ahead(4.0), discs=[(*ahead(-0.35, 0.1)[:2], 0.2)])
    answer = MANY.act(seen, {})
    twist, _memory = answer.twists, answer.memory
    assert np.all(twist == 0.0)
    assert answer.notes["reason"][0] == Reason.START_IN_CONTACT


def test_touching_a_person_it_moves_away():
    person = (*ahead(-0.5)[:2], 0.0, 0.0, 0.25)
    poses, _, _ = drive(MANY, START, ahead(4.0), 3.0, people=[person])
    gap = np.hypot(*(poses[:, :2] - person[:2]).T)
    assert gap[-1] > 1.0 and np.diff(gap).min() > -1e-3


@pytest.mark.parametrize(("speed", "reason"), [(0.0, Reason.BLOCKED), (1.4, Reason.NONE)])
def test_a_band_through_who_stands_is_refused_and_one_behind_who_walks_on_is_not(speed, reason):
    heedless = dataclasses.replace(ONE, weight_obstacle=0.0, weight_inflation=0.0, weight_dynamic_obstacle=0.0)
    person = (*ahead(0.7)[:2], speed * math.cos(0.6), speed * math.sin(0.6), 0.3)
    answer = heedless.act(see(START, (0.4, 0.0, 0.0), ahead(4.0), people=[person]), {})
    assert answer.notes["reason"][0] == reason
    assert (answer.twists[0, 0] > 0.3) == (reason == Reason.NONE)


def test_no_path_and_a_path_elsewhere_stop_it():
    for path in (np.zeros((0, 2)), np.linspace(ahead(20.0)[:2], ahead(30.0)[:2], 50)):
        answer = MANY.act(see(START, (0.3, 0.0, 0.0), ahead(30.0), path=path), {})
        twist, _memory = answer.twists, answer.memory
        assert np.all(twist == 0.0)
        assert answer.notes["reason"][0] == Reason.NO_PATH


def test_a_robot_that_may_not_move_does_not():
    for held in (limits(max_vx=0.0, min_vx=-0.5), limits(max_omega=0.0)):
        assert np.all(MANY.act(see(START, (0.0, 0.0, 0.0), ahead(3.0), robot=held), {}).twists == 0.0)


def test_a_band_that_is_not_finite_is_given_up_and_the_next_period_starts_afresh():
    seen = see(START, (0.2, 0.0, 0.0), ahead(3.0))
    answer = ONE.act(seen, {})
    fresh, memory = answer.twists, answer.memory
    memory["bands"][0, 0, 3, 1] = np.nan
    answer = ONE.act(seen, memory)
    twist, after = answer.twists, answer.memory
    assert np.all(twist == 0.0)
    assert answer.notes["reason"][0] == Reason.NOT_CONVERGED
    answer = ONE.act(seen, after)
    again, after = answer.twists, answer.memory
    assert np.array_equal(again, fresh)
    assert answer.notes["reason"][0] == Reason.NONE


def test_after_an_infeasible_band_it_looks_half_as_far_for_a_while():
    seen = see(START, (0.2, 0.0, 0.0), ahead(6.0))
    reaches = []
    for failures, periods in ((0, 0), (1, 5), (12, 5)):
        memory = ONE.act(seen, {}).memory
        memory["counts"][:] = 0
        memory["trouble"][0] = failures, periods
        memory = ONE.act(seen, memory).memory
        reaches.append(math.dist(bands(memory)[0][-1, :2], START[:2]))
        assert memory["trouble"][0, 1] == max(periods - 1, 0)
    assert reaches == pytest.approx([3.0, 1.5, 0.75], abs=0.11)


def test_a_robot_that_swings_prefers_one_turn_for_a_while():
    planner = dataclasses.replace(ONE, oscillation_filter_duration=2.0, oscillation_recovery_min_duration=1.0)
    seen = see(START, (0.0, 0.0, -0.2), ahead(3.0), dt=0.1)
    memory = planner.act(seen, {}).memory
    memory["history"][0] = np.column_stack((np.zeros(20), np.tile((0.5, -0.5), 10)))
    memory["turning"][0] = 20, 0, 0
    after = planner.act(seen, memory).memory
    assert tuple(after["turning"][0, 1:]) == (-1, 10)
    after["history"][0] = (0.9, 0.1)
    for _ in range(10):
        after = planner.act(seen, after).memory
    assert tuple(after["turning"][0, 1:]) == (0, 0)


def test_among_500_people_it_stays_within_its_limits_and_touches_nobody_first():
    rng = np.random.default_rng(3)
    place = rng.uniform(-6.0, 6.0, (900, 2))
    place = place[np.hypot(*place.T) > 1.0][:500] + START[:2]
    people = np.column_stack((place, 0.0 * place, np.full(500, 0.2)))
    poses, twists, crowd = drive(MANY, START, ahead(4.0), 1.5, people=people)
    assert np.isfinite(twists).all()
    assert apart(poses, crowd) > 0.3


def test_other_robots_are_discs_too():
    seen = see(START, (0.3, 0.0, 0.0), ahead(4.0))
    other = tracks(np.array([[ahead(2.0, 0.05)[:2]]]))
    memory = ONE.act(dataclasses.replace(seen, robots=other), {}).memory
    assert (np.hypot(*(bands(memory)[0][:, :2] - ahead(2.0, 0.05)[:2]).T) - 0.3).min() > 0.45


def test_a_circular_footprint_keeps_the_robot_s_edge_clear():
    pillar = (*ahead(1.5, 0.05)[:2], 0.2)
    for model, least in (("point", 0.5), ("circular", 0.8)):
        planner = dataclasses.replace(MANY, footprint_model=model)
        poses, _, _ = drive(planner, START, ahead(4.0), 16.0, discs=[pillar])
        gap = np.hypot(*(poses[:, :2] - pillar[:2]).T).min() - pillar[2]
        assert gap == pytest.approx(least, abs=0.08)


def test_a_point_that_stands_for_a_large_robot_leaves_room_beside_its_body():
    """With the package's 0.5 m from its centre, a robot of 0.62 m would touch whom it passes."""
    person = (*ahead(1.5, 0.05)[:2], 0.0, 0.0, 0.3)
    for radius, least, gap in ((0.62, 0.15, 0.77), (0.62, 0.3, 0.92), (0.62, None, 0.5), (0.3, 0.15, 0.5)):
        planner, memory = dataclasses.replace(ONE, min_body_dist=least), {}
        for _ in range(6):
            memory = planner.act(see(START, (0.3, 0.0, 0.0), ahead(4.0), people=[person], radius=radius), memory).memory
        assert (np.hypot(*(bands(memory)[0][:, :2] - person[:2]).T) - 0.3).min() == pytest.approx(gap, abs=0.06)


def test_a_long_robot_s_outline_is_kept_clear_where_its_model_knows_it():
    """A robot of 1.2 m by 0.5 m, whose centre is 0.1 m before its middle, round a pillar at the side of its path."""
    outline, pillar = np.array([[(0.5, 0.25), (-0.7, 0.25), (-0.7, -0.25), (0.5, -0.25)]], np.float32), (*ahead(1.7, 0.3)[:2], 0.15)
    seen = see(START, (0.2, 0.0, 0.0), ahead(4.0), discs=[pillar], radius=0.75)
    for model, low, high in (("polygon", 0.3, 0.37), ("line", 0.05, 0.15), ("two_circles", 0.25, 0.37), ("point", 0.05, 0.15)):
        planner, memory = dataclasses.replace(ONE, footprint_model=model, min_obstacle_dist=0.3, inflation_dist=0.4), {}
        for _ in range(6):
            memory = planner.act(dataclasses.replace(seen, footprint=outline), memory).memory
        around = [clearance(pose, ("polygon", outline[0]), *pillar[:2]) - 0.15 for pose in bands(memory)[0]]
        assert low < min(around) < high, model


def test_points_of_a_model_follow_the_outline():
    outlines = np.array(
        [[(0.5, 0.2), (-0.7, 0.2), (-0.7, -0.2), (0.5, -0.2)], [(0.1, 0.4), (-0.1, 0.4), (-0.1, -0.4), (0.1, -0.4)]]
    )
    radius = np.array([0.73, 0.42], np.float32)
    ends, none = points_of("line", outlines, radius)
    assert ends == pytest.approx(np.array([[(-0.5, 0.0), (0.3, 0.0)], [(0.0, 0.0), (0.0, 0.0)]]), abs=1e-6) and not none.any()
    middles, wide = points_of("two_circles", outlines, radius)
    assert np.array_equal(middles, ends) and wide == pytest.approx([0.2, 0.4])
    for model, reach in (("point", (0.0, 0.0)), ("circular", radius)):
        centre, found = points_of(model, outlines, radius)
        assert not centre.any() and found == pytest.approx(reach)


SIDEWAYS = limits(min_vx=-1.0, max_vx=1.0, max_vy=0.6, max_omega=1.5)


def test_a_robot_that_can_moves_sideways_and_one_that_may_not_turns():
    goal = ahead(0.3, 2.0)
    planner = dataclasses.replace(MANY, max_vel_y=0.3)
    poses, twists, _ = drive(planner, START, goal, 12.0, robot=SIDEWAYS)
    assert np.abs(poses[:, 2] - 0.6).max() < 0.8
    assert np.hypot(*twists[10:45, :2].T).mean() == pytest.approx(0.4, abs=0.02)
    assert np.hypot(*twists[:, :2].T).max() < 0.4001 and np.abs(twists[:, 1]).max() <= np.float32(0.3)
    assert np.abs(twists[10:45, 1]).mean() > 0.15
    assert math.dist(poses[-1, :2], goal[:2]) < 0.2 and not twists[-1].any()
    bound = limits(min_vx=-1.0, max_vx=1.0, max_omega=1.5)
    for one in (dataclasses.replace(planner, max_vel_y=0.0), planner):
        held = drive(one, START, goal, 3.0, robot=SIDEWAYS if one.max_vel_y == 0.0 else bound)[1]
        assert not held[:, 1].any()
        assert np.array_equal(held, drive(MANY, START, goal, 3.0, robot=bound)[1])


def test_its_speed_sideways_changes_within_the_limit():
    planner = dataclasses.replace(MANY, max_vel_x=0.05, max_vel_y=0.4, acc_lim_y=0.2, weight_acc_lim_y=200.0)
    seen, memory = see(START, (0.0, 0.1, 0.0), ahead(0.0, 2.5), robot=SIDEWAYS), {}
    for _ in range(6):
        memory = planner.act(seen, memory).memory
    band = bands(memory)[0]
    aside = [along(a, b, 0.5 * math.pi) for a, b in zip(band, band[1:], strict=False)]
    times = band[:-1, 3]
    gains = np.diff(aside) / (0.5 * (times[1:] + times[:-1]))
    assert np.abs(gains).max() <= 0.21 and abs(aside[0] - 0.1) / times[0] <= 0.21
    assert max(aside) > 0.2


def test_points_of_the_path_draw_the_band_round_a_bend_that_it_would_cut():
    """The distance of the band to the corner that it misses by more."""
    bend = np.array([(0.0, 0.0), (0.9, 0.0), (0.9, 0.9), (1.8, 0.9)]) + START[:2]
    goal = (*bend[-1], 0.0)
    seen = see((*START[:2], 0.0), (0.2, 0.0, 0.0), goal, path=bend)
    off = []
    for separation, weight, ordered in ((-1.0, 1.0, False), (0.3, 0.0, False), (0.3, 50.0, False), (0.3, 50.0, True)):
        planner = dataclasses.replace(ONE, global_plan_viapoint_sep=separation, weight_viapoint=weight, via_points_ordered=ordered)
        memory = {}
        for _ in range(8):
            memory = planner.act(seen, memory).memory
        line = bands(memory)[0][:, :2]
        off.append(max(np.hypot(*(line - corner).T).min() for corner in bend[1:3]))
    assert off[0] == off[1] and off[0] > 0.25
    assert off[2] < 0.15 and off[3] < 0.15


def wanted(walls, people=(), floor=0.2):
    """The distances that the middle pose of a straight band along x wants to walls (x, y) and to people (x, y, radius)."""
    f, n = np.float32, 5
    band = np.column_stack((np.linspace(-0.4, 0.4, n), np.zeros((n, 2)), np.full(n, 0.2))).astype(f)
    still = np.array([(*point, 0.0) for point in walls] + list(people), f).reshape(-1, 3)
    lists = np.zeros((300, 4), f), np.zeros(n + 1, np.int32), np.zeros((1, 3), f), np.zeros(n + 1, np.int32)
    near = Near(*lists, np.zeros((1, 2), f), np.full(1, -1, np.int32))
    disc, trig = Shape(shape().kind, *(array.astype(f) for array in shape()[1:])), np.tile(f([1.0, 0.0]), (n, 1))
    limits = f(0.75), f(2.5), (f(0.55), f(floor))
    associate(band, n, disc, still, len(still), np.zeros((0, 5), f), 0, f(0.0), *limits, trig, near)
    mine = near.still[near.still_begin[2] : near.still_begin[3]]
    return {(round(float(x), 3), round(float(y), 3)): pytest.approx(float(least), abs=1e-5) for x, y, _, least in mine}


def test_in_a_lane_half_its_width_is_wanted_and_the_usual_distance_elsewhere():
    side = [(round(0.15 * k, 2), 0.4) for k in range(-3, 4)]
    lane = [*side, *((x, -0.3) for x, _ in side)]
    assert set(wanted(lane)) == set(lane)
    assert all(distance == 0.35 for distance in wanted(lane).values())
    assert all(distance == 0.45 for distance in wanted(lane, floor=0.45).values()), "no less than the body of the robot"
    assert all(distance == 0.55 for distance in wanted(lane, floor=np.inf).values()), "as the package"
    assert all(distance == 0.55 for distance in wanted(side).values()), "beside one wall"
    assert all(distance == 0.55 for distance in wanted([*side, *((x, -0.8) for x, _ in side)]).values()), "in a wide lane"
    assert all(distance == 0.55 for distance in wanted([(0.4, 0.1 * k) for k in range(-3, 4)]).values()), "before a wall"
    assert all(distance == 0.55 for distance in wanted(side, [(0.0, -0.5, 0.2)]).values()), "between a wall and a person"
    found = wanted(lane, [(0.7, 0.0, 0.2)])
    assert found.pop((0.7, 0.0)) == 0.55 and all(distance == 0.35 for distance in found.values()), "a person in a lane"


def test_points_of_the_path_are_of_the_nearest_pose_or_in_their_order():
    """A path that comes back by its start, and a band along it."""
    route = np.array([(0.1 * k, 0.0) for k in range(11)] + [(1.0 - 0.1 * k, 0.1) for k in range(1, 11)], np.float32)
    band = np.column_stack((route, np.zeros((21, 2)))).astype(np.float32)
    empty = np.zeros((0, 3), np.float32), np.zeros(1, np.int32)
    near = Near(*empty, *empty, np.full((22, 2), np.nan, np.float32), np.full(22, 7, np.int32))
    f = np.float32
    attach(band, 21, route, 21, f(0.35), False, near)
    assert near.via_pose[:5].tolist() == [4, 8, 16, 19, -1]
    assert near.via[:4] == pytest.approx(route[[4, 8, 16, 20]])
    short = np.concatenate((band[:3], band[17:]))
    attach(short, 7, route, 21, f(0.35), True, near)
    poses = near.via_pose[: near.via_pose.tolist().index(-1)].tolist()
    assert poses == sorted(poses) and poses[-1] == 5
    attach(band, 21, route, 21, f(-1.0), True, near)
    assert near.via_pose[0] == -1


@dataclasses.dataclass(frozen=True)
class Turning:
    """Everybody walks on for a while, and then to the left."""

    after: float
    declares = PredictorDeclaration()

    def predict(self, observation, steps, dt, memory):
        people = observation.pedestrians
        times = np.float32(dt) * np.arange(1, steps + 1, dtype=np.float32)
        straight, turned = np.minimum(times, self.after), np.maximum(times - self.after, 0.0)
        left = np.stack((-people.velocity[..., 1], people.velocity[..., 0]), -1)
        on = straight[:, None] * people.velocity[:, :, None] + turned[:, None] * left[:, :, None]
        calls = memory.get("calls", np.zeros(len(observation.pose), np.int32)) + 1
        return Prediction((people.position[:, :, None] + on).astype(np.float32), {"calls": calls})


def test_the_predictor_s_way_is_kept_clear_not_that_at_the_velocity_of_now():
    """Somebody comes along the path, and turns off it, or does not."""
    person = [(*ahead(3.4, 0.05)[:2], -0.5 * math.cos(0.6), -0.5 * math.sin(0.6), 0.3)]
    bent = []
    for after in (math.inf, 0.8):
        planner = dataclasses.replace(ONE, prediction=Named("turning", Turning(after)))
        seen = see(START, (0.4, 0.0, 0.0), ahead(4.0), people=person)
        answer = planner.act(seen, {})
        if after == math.inf:
            assert np.array_equal(answer.twists, ONE.act(seen, {}).twists)
        answer = planner.act(seen, answer.memory)
        assert answer.memory["prediction"]["calls"] == 2
        aside = (bands(answer.memory)[0][:, :2] - START[:2]) @ (-math.sin(0.6), math.cos(0.6))
        bent.append(np.abs(aside).max())
    assert bent[0] > 0.4 and bent[1] < 0.15


def test_products_find_the_same_ways_round_a_pillar_as_sides_do():
    seen = see(START, (0.0, 0.0, 0.0), ahead(3.0), discs=[(*ahead(1.5, 0.05)[:2], 0.2)])
    found = []
    for rule in ("sides", "product"):
        planner, memory = dataclasses.replace(MANY, h_signature=rule), {}
        for _ in range(6):
            memory = planner.act(seen, memory).memory
        halfway = np.array([band[len(band) // 2, :2] for band in bands(memory)])
        found.append(sorted(np.sign((halfway - START[:2]) @ (-math.sin(0.6), math.cos(0.6)))))
    assert found == [[-1.0, 1.0]] * 2


QUICK = {"max_vel_x": 2.0, "max_vel_x_backwards": 0.5, "max_vel_theta": 1.57, "acc_lim_x": 10.0, "acc_lim_theta": 10.0}


@pytest.mark.parametrize(
    ("speed", "people", "values", "duration", "twist"),
    [
        (0.0, (), {}, 7.0744, (0.1993, 0.0)),
        (0.3, (), {}, 6.8692, (0.4, 0.0)),
        (0.2, [(1.5, 0.3, 0.0, 0.5, 0.3)], {}, 6.9118, (0.3520, 0.0)),
        (1.0, (), QUICK, 1.4962, (2.0, 0.0)),
    ],
    ids=["at rest", "moving", "somebody leaves", "quick"],
)
def test_a_straight_band_is_that_of_the_package(speed, people, values, duration, twist):
    """The results of TebOptimalPlanner of teb_local_planner (b68c328, with g2o) after ten plans along 3 m, measured outside."""
    planner, memory = dataclasses.replace(ONE, **values), {}
    seen = see((0.0, 0.0, 0.0), (speed, 0.0, 0.0), (3.0, 0.0, 0.0), people=people, path=straight(3.0), robot=able(), dt=0.1)
    for _ in range(10):
        answer = planner.act(seen, memory)
        found, memory = answer.twists, answer.memory
    assert bands(memory)[0][:-1, 3].sum() == pytest.approx(duration, rel=1e-3)
    assert found[0, [0, 2]] == pytest.approx(twist, abs=1e-3)


def test_a_bent_band_is_nearly_that_of_the_package():
    """As above, round a disc and to a goal that looks elsewhere. It is not the same optimum: the numbers of poses differ by two."""
    disc = (1.5, 0.05, 0.0, 0.0, 0.2)
    memory, seen = {}, see((0.0,) * 3, (0.2, 0.0, 0.0), (3.0, 0.0, 0.0), people=[disc], path=straight(3.0), robot=able(), dt=0.1)
    for _ in range(10):
        answer = ONE.act(seen, memory)
        twist, memory = answer.twists, answer.memory
    band = bands(memory)[0]
    assert band[:-1, 3].sum() == pytest.approx(8.738, rel=0.02)
    assert np.hypot(band[:, 0] - 1.5, band[:, 1] - 0.05).min() - 0.2 == pytest.approx(0.5481, abs=0.002)
    assert np.abs(band[:, 1]).max() == pytest.approx(0.6951, abs=0.002)
    assert twist[0, [0, 2]] == pytest.approx((0.0938, -0.2221), abs=0.015)
    memory, seen = {}, see((0.0,) * 3, (0.0,) * 3, (2.0, 0.0, 1.2), path=straight(2.0), robot=able(), dt=0.1)
    for _ in range(10):
        answer = ONE.act(seen, memory)
        twist, memory = answer.twists, answer.memory
    band = bands(memory)[0]
    assert band[:-1, 3].sum() == pytest.approx(6.4382, rel=0.02)
    assert np.abs(band[:, 1]).max() == pytest.approx(0.2243, abs=0.01)
    assert twist[0, [0, 2]] == pytest.approx((0.1874, -0.1418), abs=0.01)


def straight(distance):
    """A path with a point every 0.1 m."""
    along = 0.1 * np.arange(round(10 * distance) + 1)
    return np.stack((along, 0.0 * along), -1)


def able():
    """Limits beyond the planner's own."""
    return limits(min_vx=-3.0, max_vx=3.0, max_omega=5.0, acceleration=50.0, alpha=50.0)


def test_rows_of_a_large_batch_are_those_of_a_small_one():
    one = [see(ahead(0.1 * k, 0.03 * k), (0.2, 0.0, 0.0), ahead(4.0), discs=[(*ahead(2.0, 0.3)[:2], 0.2)]) for k in range(12)]
    parts = {
        "path": np.concatenate([o.path for o in one]),
        "path_count": np.concatenate([o.path_count for o in one]),
        "pose": np.concatenate([o.pose for o in one]),
        "twist": np.concatenate([o.twist for o in one]),
        "goal": np.concatenate([o.goal for o in one]),
        "radius": np.concatenate([o.radius for o in one]),
        "footprint": np.zeros((12, 0, 2), np.float32),
        "limits": limits(12, min_vx=-1.0, max_vx=1.0, max_omega=1.5),
        "pedestrians": tracks(np.zeros((12, 0, 2))),
        "robots": tracks(np.zeros((12, 0, 2))),
        "costmap": dataclasses.replace(
            one[0].costmap,
            cost=np.concatenate([o.costmap.cost for o in one]),
            origin=np.concatenate([o.costmap.origin for o in one]),
        ),
    }
    together = dataclasses.replace(one[0], **parts)
    answer = MANY.act(together, {})
    twists, memory = answer.twists, answer.memory
    again = MANY.act(together, memory).twists
    for k in range(12):
        answer = MANY.act(one[k], {})
        alone, own = answer.twists, answer.memory
        assert np.array_equal(alone[0], twists[k])
        assert np.array_equal(MANY.act(one[k], own).twists[0], again[k])


def test_arena_s_settings_of_the_jackal_are_a_preset():
    planner = named_planner("teb_arena_jackal")[1].part
    assert (planner.max_vel_x, planner.max_vel_x_backwards, planner.max_vel_theta) == (2.0, 0.5, 1.57)
    assert (planner.acc_lim_x, planner.acc_lim_theta, planner.xy_goal_tolerance, planner.yaw_goal_tolerance) == (
        10.0,
        20.0,
        0.25,
        0.17,
    )


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"max_vel_x": 0.0}, "max_vel_x"),
        ({"weight_obstacle": -1.0}, "weight_obstacle"),
        ({"dt_hysteresis": 0.4}, "dt_hysteresis"),
        ({"min_samples": 2}, "min_samples"),
        ({"footprint_model": "lime"}, "did you mean 'line'"),
        ({"h_signature": "side"}, "did you mean 'sides'"),
        ({"max_number_classes": 0}, "max_number_classes"),
        ({"max_samples": 16}, "roadmap_graph_no_samples"),
    ],
)
def test_parameters_that_make_no_sense_are_refused_by_name(values, word):
    with pytest.raises(InputError, match=word):
        Teb(**values)
