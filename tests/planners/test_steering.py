from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agora.planners.steering import steer, stopping_speed, velocity_to_twist
from planners.local.observations import beside, observe


@settings(deadline=None)
@given(st.floats(0.0, 30.0), st.floats(0.2, 8.0), st.floats(0.02, 0.25))
def test_braking_by_the_law_ends_at_the_distance_and_never_brakes_harder(distance, deceleration, dt):
    left, speed = distance, stopping_speed(distance, deceleration, dt)
    assert speed**2 / (2 * deceleration) <= distance + 1e-9
    for _ in range(10_000):
        left -= speed * dt
        slower = stopping_speed(left, deceleration, dt)
        assert speed - slower <= deceleration * dt * (1 + 1e-6) + 1e-9
        speed = slower
        if left < 1e-9:
            break
    assert left == pytest.approx(0.0, abs=1e-9)
    assert speed == pytest.approx(0.0, abs=1e-6)


def test_braking_in_fine_steps_is_braking_as_in_the_textbook():
    assert stopping_speed(3.0, 1.7, 1e-4) == pytest.approx(math.sqrt(2 * 1.7 * 3.0), rel=1e-4)


@settings(deadline=None)
@given(
    st.floats(-5, 5),
    st.floats(-5, 5),
    st.booleans(),
    st.floats(-0.5, 0.0),
    st.floats(0.3, 2.0),
    st.floats(0.3, 3.0),
    st.floats(0.0, 1.5),
)
def test_every_twist_is_within_the_limits(x, y, holonomic, min_vx, max_vx, max_omega, turning_radius):
    turning_radius = 0.0 if holonomic or turning_radius < 0.1 else turning_radius
    max_vy = 0.7 if holonomic else 0.0
    vx, vy, omega = steer(x, y, 1.4, holonomic, min_vx, max_vx, max_vy, max_omega, 3.0, turning_radius, 0.1)
    assert min_vx - 1e-6 <= vx <= min(max_vx, 1.4) + 1e-6
    assert abs(vy) <= max_vy + 1e-6
    assert abs(omega) <= max_omega + 1e-6
    assert abs(omega) * turning_radius <= abs(vx) + 1e-6


def test_kernels_get_float32():
    one = np.float32(1.0)
    steer(one, one, one, False, -one, one, one, one, one, np.float32(0.0), one)
    signature = next(s for s in steer.overloads if str(s[0]) == "float32")
    assert str(steer.overloads[signature].signature.return_type) == "UniTuple(float32 x 3)"


def twist(velocity, heading=0.7, gain=2.0, **bounds):
    return velocity_to_twist(np.array([velocity], np.float32), observe([(3.0, -1.0, heading)], [(0.0, 0.0)], **bounds), gain)[0]


def test_a_holonomic_robot_moves_as_wanted_whatever_its_heading():
    for heading in (-2.9, 0.4, 3.1):
        vx, vy, omega = twist((0.3, -0.8), heading)
        world = np.array([[np.cos(heading), -np.sin(heading)], [np.sin(heading), np.cos(heading)]]) @ (vx, vy)
        assert world == pytest.approx([0.3, -0.8], abs=1e-6)
        assert omega == 0.0


def test_beyond_its_limits_a_holonomic_robot_keeps_the_direction():
    vx, vy, _ = twist((2.0, 1.0), 0.0, max_vx=1.0, max_vy=0.2)
    assert (vx, vy) == pytest.approx((0.4, 0.2), rel=1e-6)
    vx, vy, _ = twist((-2.0, 1.0), 0.0, min_vx=-0.5)
    assert (vx, vy) == pytest.approx((-0.5, 0.25), rel=1e-6)


def test_a_differential_robot_turns_with_the_error_and_slows_with_its_cosine():
    error = 0.6
    velocity = 0.9 * np.array([np.cos(0.7 + error), np.sin(0.7 + error)])
    vx, vy, omega = twist(velocity, 0.7, holonomic=False)
    assert (vx, vy, omega) == pytest.approx((0.9 * np.cos(error), 0.0, 2.0 * error), rel=1e-5)


def test_a_differential_robot_turns_in_place_for_what_is_behind():
    vx, vy, omega = twist((-1.0, 0.1), 0.2, holonomic=False, max_omega=1.5)
    assert (vx, vy, omega) == (0.0, 0.0, 1.5)


def test_a_differential_robot_turns_the_short_way():
    # from heading -3.0 to 3.042: 0.241 rad clockwise
    vx, _, omega = twist((-1.0, 0.1), -3.0, holonomic=False)
    assert omega == pytest.approx(2.0 * (np.arctan2(0.1, -1.0) + 3.0 - 2.0 * np.pi), rel=1e-4)
    assert vx > 0.9


def test_a_car_turns_round_to_a_steady_wish():
    pose = np.array([[0.0, 0.0, 2.6]])
    for _ in range(300):
        vx, _, omega = velocity_to_twist(
            np.float32([(0.8, 0.0)]), observe(pose, [(9.0, 0.0)], holonomic=False, turning_radius=0.7), 3.0
        )[0]
        pose = pose + 0.05 * np.array([[vx * np.cos(pose[0, 2]), vx * np.sin(pose[0, 2]), omega]])
    assert pose[0, 2] == pytest.approx(0.0, abs=0.01)
    assert vx == pytest.approx(0.8, rel=1e-3)


def test_the_heading_does_not_swing_over_within_one_period():
    _, _, omega = twist((np.cos(0.7 + 0.1), np.sin(0.7 + 0.1)), 0.7, gain=1e3, holonomic=False, dt=0.2)
    assert 0.2 * omega == pytest.approx(0.1, rel=1e-4)


def test_a_car_keeps_rolling_and_to_its_turning_radius():
    vx, _, omega = twist((-1.0, 0.0), 0.3, gain=5.0, holonomic=False, turning_radius=0.8, max_omega=9.0)
    assert vx == pytest.approx(0.3)
    assert omega == pytest.approx(0.3 / 0.8)


def test_limits_hold_and_zero_stays_zero(rng):
    for holonomic in (True, False):
        velocity = rng.normal(0.0, 3.0, (50, 2)).astype(np.float32)
        velocity[7] = 0.0
        pose = np.column_stack([rng.normal(0.0, 5.0, (50, 2)), rng.uniform(-np.pi, np.pi, 50)])
        bounds = dict(holonomic=holonomic, min_vx=-0.4, max_vx=0.8, max_vy=0.5, max_omega=1.1)
        vx, vy, omega = velocity_to_twist(velocity, observe(pose, np.zeros((50, 2)), **bounds), 4.0).T
        assert vx.min() >= -0.4 - 1e-6
        assert vx.max() <= 0.8 + 1e-6
        assert np.abs(vy).max() <= 0.5 + 1e-6
        assert np.abs(omega).max() <= 1.1
        assert (vx[7], vy[7], omega[7]) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("aside", [0.2, 0.25, 0.31])
def test_a_robot_that_is_still_turning_away_brakes_before_the_wall_ahead(aside):
    """It wants to go to the left, faces a wall's end at 2 m/s, and gets no nearer to it than its radius."""
    wall, radius, dt = np.array([[1.213, -2.0, 1.213, -aside]]), 0.267, 0.1
    pose, nearest = np.array([0.0, 0.0, 0.0]), math.inf
    for _ in range(40):
        o = observe([pose], [(0.0, 5.0)], dt=dt, radius=radius, holonomic=False, max_vx=2.0, max_ax=10.0)
        speed, _, omega = velocity_to_twist(np.array([[2.0, 1.0]], np.float32), beside(o, wall), 0.5)[0].astype(float)
        pose = pose + dt * np.array([speed * math.cos(pose[2]), speed * math.sin(pose[2]), omega])
        nearest = min(nearest, math.hypot(1.213 - pose[0], min(-aside - pose[1], 0.0)))
    assert nearest > radius
    assert pose[0] > 1.213  # and it has gone by


def driven(start, wish, walls, steps, dt=0.1, radius=0.3, **bounds):
    """The poses and twists of a robot that wants ``wish(pose)`` and whose speed changes by at most ``max_ax`` on each axis."""
    most = bounds["max_ax"] * dt
    pose, v, made = np.array(start, float), np.zeros(3), []
    for _ in range(steps):
        seen = observe([pose], [(0.0, 0.0)], twist=[v], dt=dt, radius=radius, max_ay=bounds["max_ax"], **bounds)
        o = beside(seen, np.array(walls), cell=0.04, cells=110)
        asked = velocity_to_twist(np.array([wish(pose)], np.float32), o, None)[0].astype(float)
        assert abs(asked[2]) * bounds.get("turning_radius", 0.0) <= abs(asked[0]) + 1e-6
        v = np.array([*(v[:2] + np.clip(asked[:2] - v[:2], -most, most)), asked[2]])
        v[2] *= 0.0 if bounds.get("turning_radius") and asked[0] * v[0] <= 0.0 else 1.0
        c, s = np.cos(pose[2]), np.sin(pose[2])
        pose = pose + dt * np.array([c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]])
        made.append((*pose, *v))
    return np.array(made)


@pytest.mark.parametrize("heading", [0.0, 0.5, -1.1])
def test_a_holonomic_robot_that_changes_its_velocity_slowly_brakes_before_the_wall_ahead(heading):
    """It drives at 2 m/s towards a wall, brakes with 2 m/s2 on each axis, and wants to turn right 0.4 m before it."""
    fast = dict(max_ax=2.0, max_vx=2.5, min_vx=-2.5, max_vy=2.5)
    made = driven(
        (-1.0, 0.0, heading), lambda p: (2.5, 0.0) if p[0] < 1.3 else (0.0, -2.5), [[2.013, -9.0, 2.013, 9.0]], 40, **fast
    )
    assert 1.3 < made[:, 0].max() < 2.013 - 0.3
    assert np.hypot(*made[:, 3:5].T).max() > 1.5 and made[-1, 1] < -1.0


def test_a_holonomic_robot_goes_along_a_wall_that_it_touches_and_not_into_it():
    wall = [[-4.0, 0.29, 4.0, 0.29]]
    along = driven((0.0, 0.0, 0.3), lambda p: (1.0, 0.0), wall, 20, max_ax=1.0, max_vx=1.0, min_vx=-1.0, max_vy=1.0)
    assert along[-1, 0] > 0.9
    into = driven((0.0, 0.0, 0.3), lambda p: (0.9, 0.4), wall, 30, max_ax=1.0, max_vx=1.0, min_vx=-1.0, max_vy=1.0)
    assert np.hypot(*into[-1, 3:5]) <= 0.1 + 1e-6


def test_a_holonomic_robot_turns_to_a_direction_in_which_it_is_slower_than_ahead():
    for side in (1.0, -1.0):
        vx, vy, omega = twist((0.0, side), 0.0, max_vx=1.0, max_vy=0.2)
        assert (vx, vy) == pytest.approx((0.0, 0.2 * side), abs=1e-6)
        assert omega * side == pytest.approx(2.0)
    assert twist((0.9, 0.15), 0.0, max_vx=1.0, max_vy=0.2)[2] == 0.0
    assert twist((-0.9, 0.1), 0.0, max_vx=1.0, min_vx=-0.3)[2] > 0.0
    assert twist((-0.9, 0.1), 0.0, max_vx=1.0, min_vx=-1.0)[2] == 0.0


@pytest.mark.parametrize("goal", [(-1.5, 0.3), (-1.0, 3.0), (-1.0, -3.0)])
def test_a_car_before_a_wall_backs_up_and_turns_round(goal):
    """The wall is 0.13 m ahead of its disc, and another one ends its way back after 1.6 m."""

    def wish(pose):
        away = np.array(goal) - pose[:2]
        return 0.8 * away / np.hypot(*away)

    car = dict(holonomic=False, max_ax=2.0, max_vx=0.8, min_vx=-0.8, turning_radius=0.5, max_omega=9.0)
    made = driven((0.0, 0.0, 0.0), wish, [[0.43, -9.0, 0.43, 9.0], [-1.9, -9.0, -1.9, 9.0]], 120, **car)
    assert made[:, 0].min() > -1.9 + 0.3 and made[:, 0].max() < 0.43 - 0.3
    assert np.hypot(*(made[:, :2] - goal).T).min() < 0.6
    assert (np.diff(np.sign(made[:, 3])) != 0).sum() < 12  # it does not shuffle


def test_a_car_that_cannot_back_up_stands_before_a_wall():
    car = dict(holonomic=False, max_ax=2.0, max_vx=0.8, min_vx=0.0, turning_radius=0.5, max_omega=9.0)
    made = driven((0.0, 0.0, 0.0), lambda p: (-0.8, 0.1), [[0.43, -9.0, 0.43, 9.0]], 30, **car)
    assert made[:, 0].max() < 0.43 - 0.3
    assert made[-1, 3:].tolist() == pytest.approx([0.0, 0.0, 0.0], abs=1e-3)
