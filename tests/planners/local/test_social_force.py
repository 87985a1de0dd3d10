from __future__ import annotations

import math

import numpy as np
import pytest

from agora.errors import InputError
from agora.planners.local.social_force import SocialForce, SocialForceSimple
from agora.testing.planners import check_planner
from planners.local.observations import beside, observe, tracks

PLANNERS = [SocialForce(max_speed=1.2), SocialForceSimple(speed=1.0)]


def velocity(planner, observation):
    """Commanded velocities of holonomic robots, (N, 2), map frame."""
    answer = planner.act(observation, {})
    twists, memory = answer.twists, answer.memory
    assert memory == {}
    c, s = np.cos(observation.pose[:, 2]), np.sin(observation.pose[:, 2])
    return np.stack([c * twists[:, 0] - s * twists[:, 1], s * twists[:, 0] + c * twists[:, 1]], axis=1)


def scene(rng, n=9, q=6):
    """Robots under way among pedestrians and each other."""
    pose = np.column_stack([rng.normal(0.0, 3.0, (n, 2)), rng.uniform(-np.pi, np.pi, n)])
    twist = rng.normal(0.0, 0.5, (n, 3))
    others = [tracks(rng.normal(0.0, 3.0, (n, q, 2)), rng.normal(0.0, 0.8, (n, q, 2))) for _ in range(2)]
    others[0].present[:, 2] = False
    path = np.cumsum(rng.normal(0.3, 0.3, (n, 12, 2)), axis=1)
    return observe(pose, path[:, -1], twist=twist, pedestrians=others[0], robots=others[1], path=path, path_count=np.full(n, 12))


def socnavbench(p, o, i):
    """`SocialForce` for one row in float64; the target is that of a path of one point."""
    x, c, s = o.pose[i, :2].astype(float), np.cos(float(o.pose[i, 2])), np.sin(float(o.pose[i, 2]))
    v = np.array([[c, -s], [s, c]]) @ o.twist[i, :2]
    way = o.goal[i, :2] - x
    e = way / np.linalg.norm(way)
    factor = p.near_factor if np.linalg.norm(way) <= p.near_radii * o.radius[i] else p.desired_factor
    a, count = factor * p.max_speed * e, 0
    for track in (o.pedestrians, o.robots):
        for j in np.flatnonzero(track.present[i]):
            d, u = track.position[i, j] - x, track.velocity[i, j].astype(float)
            distance = np.linalg.norm(d)
            n = d / distance
            interest = p.importance * (v - u) + n
            size = np.linalg.norm(interest)
            t, b = interest / size, p.gamma * size
            theta = np.arctan2(t[0] * n[1] - t[1] * n[0], t @ n)
            if distance < p.cutoff:
                along = np.exp(-distance / b - (p.n_prime * b * theta) ** 2)
                across = np.sign(theta) * np.exp(-distance / b - (p.n * b * theta) ** 2)
                a += p.social_factor * (-along * t - across * np.array([-t[1], t[0]]))
            bearing = np.arctan2(e[0] * d[1] - e[1] * d[0], e @ d)
            if abs(np.arctan2(e[0] * u[1] - e[1] * u[0], e @ u)) > 2.5 and abs(bearing) < 0.3 and distance < 20.0:
                count -= int(np.sign(bearing))
    left = np.array([-e[1], e[0]])
    a += (0.5 * p.look_ahead_factor * np.sign(count) - p.side_damping * (v @ left)) * left
    after = v + o.dt * a
    return (v + after * min(1.0, p.max_speed / np.linalg.norm(after))) / 2


def crowdnav(p, o, i):
    """`SocialForceSimple` for one row in float64; the target is that of a path of one point."""
    x, c, s = o.pose[i, :2].astype(float), np.cos(float(o.pose[i, 2])), np.sin(float(o.pose[i, 2]))
    v = np.array([[c, -s], [s, c]]) @ o.twist[i, :2]
    way = o.goal[i, :2] - x
    a = p.relaxation * (p.speed * way / np.linalg.norm(way) - v)
    for track in (o.pedestrians, o.robots):
        for j in np.flatnonzero(track.present[i]):
            d = x - track.position[i, j]
            distance = np.linalg.norm(d)
            a += p.repulsion * np.exp((o.radius[i] + track.radius[i, j] - distance) / p.length) * d / distance
    after = v + o.dt * a
    return after * min(1.0, p.speed / np.linalg.norm(after))


@pytest.mark.parametrize(("planner", "twin"), zip(PLANNERS, (socnavbench, crowdnav), strict=True))
def test_kernel_agrees_with_its_float64_twin(planner, twin, rng):
    o = scene(rng, n=60)
    o.path_count[:] = 0
    expected = np.array([twin(planner, o, i) for i in range(60)])
    assert np.abs(velocity(planner, o) - expected).max() < 2e-5
    assert np.ptp(expected, axis=0).min() > 0.5


def test_from_rest_the_robot_gathers_speed_along_the_path_and_not_towards_the_goal():
    path = [[(0.0, 0.0), (0.0, 0.6), (0.0, 1.2), (3.0, 1.2)]]
    o = observe([(0.1, 0.0, 1.3)], [(3.0, 1.2)], path=path, path_count=[4], dt=0.1)
    e = np.array([-0.1, 1.2]) / math.hypot(0.1, 1.2)
    assert velocity(SocialForce(max_speed=1.2), o)[0] == pytest.approx(0.5 * 0.1 * 1.2 * e, rel=1e-4)
    assert velocity(SocialForceSimple(speed=1.0), o)[0] == pytest.approx(0.1 * 1.0 * e, rel=1e-4)


def test_repeated_points_after_the_end_of_the_path_are_not_aimed_at():
    path = [[(0.0, 0.0), (2.0, 0.0), (-9.0, 9.0)]]
    o = observe([(0.2, 0.0, 0.0)], [(2.0, 0.0)], path=path, path_count=[2])
    assert velocity(SocialForce(max_speed=1.2), o)[0, 1] == 0.0


def test_a_pedestrian_in_the_way_brakes_with_the_published_exponential():
    # at rest, 1.5 m ahead: a = 1.2 - 10 exp(-1.5 / 0.35)
    o = observe([(0.0, 0.0, 0.0)], [(9.0, 0.0)], pedestrians=tracks([[(1.5, 0.0)]]), dt=0.2)
    expected = 0.5 * 0.2 * (1.2 - 10.0 * math.exp(-1.5 / 0.35))
    assert velocity(SocialForce(max_speed=1.2), o)[0] == pytest.approx([expected, 0.0], abs=1e-6)
    # r_i + r_j = 0.55
    expected = 0.2 * (1.0 - 2.0 * math.exp(0.55 - 1.5))
    assert velocity(SocialForceSimple(speed=1.0), o)[0] == pytest.approx([expected, 0.0], abs=1e-6)


@pytest.mark.parametrize("gap", [0.1, 0.5, 1.2])
def test_the_nearest_wall_pushes_away_with_libpedsims_exponential(gap):
    # at rest, walls on the right and, farther away, on the left, which does not count: a = 1.2 ahead, 3 exp(-gap / 0.8) to the left
    walls = [[-3.0, -0.25 - gap, 3.0, -0.25 - gap], [-3.0, 1.8, 3.0, 1.8]]
    o = beside(observe([(0.0, 0.0, 0.4)], [(9.0, 0.0)], dt=0.2), walls)
    expected = 0.5 * 0.2 * np.array([1.2, 3.0 * math.exp(-gap / 0.8)])
    found = velocity(SocialForce(max_speed=1.2, obstacle_factor=3.0, obstacle_sigma=0.8), o)[0]
    assert found == pytest.approx(expected, abs=0.5 * 0.2 * 3.0 * 0.025 / 0.8)
    assert velocity(SocialForce(max_speed=1.2, obstacle_factor=0.0), o)[0] == pytest.approx([0.12, 0.0], abs=1e-6)


def test_near_the_goal_nothing_matters_but_the_goal():
    crowd = tracks([[(0.6, 0.3), (0.4, -0.4)]])
    v = velocity(SocialForce(max_speed=1.2), observe([(0.0, 0.0, 0.4)], [(0.8, 0.0)], pedestrians=crowd, radius=0.24))[0]
    assert v == pytest.approx([0.6, 0.0], abs=0.03)


def test_the_robot_steps_to_the_side_where_fewer_come_the_other_way():
    planner = SocialForce(max_speed=1.2, social_factor=0.0)
    for y, side in ((0.5, -1.0), (-0.5, 1.0)):
        oncoming = tracks([[(6.0, y), (7.0, y), (6.5, -y)]], [[(-1.0, 0.0)] * 3])
        v = velocity(planner, observe([(0.0, 0.0, 0.0)], [(15.0, 0.0)], pedestrians=oncoming, dt=0.1))[0]
        assert v[1] == pytest.approx(side * 0.5 * 0.1 * 0.5, rel=1e-4)
    same_way = tracks([[(6.0, 0.5)]], [[(1.0, 0.0)]])
    assert velocity(planner, observe([(0.0, 0.0, 0.0)], [(15.0, 0.0)], pedestrians=same_way))[0, 1] == 0.0


@pytest.mark.parametrize("planner", PLANNERS)
def test_other_robots_count_like_pedestrians_and_the_absent_not_at_all(planner, rng):
    o = scene(rng)
    swapped = observe(
        o.pose, o.goal[:, :2], twist=o.twist, pedestrians=o.robots, robots=o.pedestrians, path=o.path, path_count=o.path_count
    )
    assert np.abs(velocity(planner, o) - velocity(planner, swapped)).max() < 1e-6
    before = velocity(planner, o)
    o.pedestrians.position[:, 2] = o.pose[:, :2] + 0.1
    assert np.array_equal(velocity(planner, o), before)


@pytest.mark.parametrize("planner", PLANNERS)
def test_planner_keeps_the_contract(planner):
    check_planner(planner, grid="costmap" in planner.declares.channels)


@pytest.mark.parametrize("planner", PLANNERS)
def test_alone_a_robot_reaches_its_goal_whether_it_can_move_sideways_or_not(planner):
    for bounds in (dict(), dict(holonomic=False, min_vx=0.0, max_vx=0.9, max_vy=0.0)):
        pose, twist = np.array([[0.0, 0.0, 2.4]]), np.zeros((1, 3))
        for _ in range(400):
            twist = planner.act(observe(pose, [(4.0, -1.0)], twist=twist, **bounds), {}).twists
            vx, vy, omega = twist[0]
            c, s = np.cos(pose[0, 2]), np.sin(pose[0, 2])
            pose = pose + 0.05 * np.array([[c * vx - s * vy, s * vx + c * vy, omega]])
            pose[0, 2] = (pose[0, 2] + np.pi) % (2 * np.pi) - np.pi
            if np.hypot(*(pose[0, :2] - (4.0, -1.0))) < 0.3:
                break
        assert np.hypot(*(pose[0, :2] - (4.0, -1.0))) < 0.3


def test_the_original_circles_a_goal_that_it_missed_and_damping_ends_that():
    # mean velocities halve the acceleration: a circle of radius v_max^2 / (v_max / 2) = 2.4 m
    for damping, least in ((0.0, 2.4), (1.0, 0.0)):
        position, v, distances = np.array([2.4, 0.0]), np.array([0.0, 1.2]), []
        for _ in range(500):
            o = observe([(*position, 0.0)], [(0.0, 0.0)], twist=[(*v, 0.0)], radius=0.001)
            v = velocity(SocialForce(max_speed=1.2, side_damping=damping), o)[0].astype(float)
            position = position + 0.05 * v
            distances.append(np.hypot(*position))
        assert min(distances) == pytest.approx(least, abs=0.15)


def test_values_that_make_no_sense_are_refused_by_name():
    with pytest.raises(InputError, match="cutoff"):
        SocialForce(cutoff=-1.0)
    with pytest.raises(InputError, match="length"):
        SocialForceSimple(length=0.0)
