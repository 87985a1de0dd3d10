"""Robots move as geometry and their limits say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from agora.core.kinematics import approach, exceeds, move, next_twist
from agora.core.state import ACKERMANN, DIFFERENTIAL, HOLONOMIC, LEGGED, robot_traits

F = np.float32


def twist(*values: float) -> tuple[np.float32, ...]:
    return tuple(F(v) for v in values)


def rolled(start: tuple[float, float, float], command: tuple[float, float, float], dt: float, steps: int) -> np.ndarray:
    pose = twist(*start)
    for _ in range(steps):
        pose = twist(*move(*pose, twist(*command), F(dt)))
    return np.array(pose)


def test_quarter_circle_ends_where_geometry_says():
    # radius v / omega = 2 m about (0, 2) + start, turned by the start heading
    x, y, heading = rolled((0.0, 0.0, 0.0), (1.0, 0.0, 0.5), math.pi, 1)
    assert (x, y, heading) == pytest.approx((2.0, 2.0, math.pi / 2), abs=1e-5)


def test_end_of_an_arc_does_not_depend_on_the_number_of_steps():
    one = rolled((3.0, -1.2, 0.7), (0.8, 0.3, -0.9), 1.6, 1)
    many = rolled((3.0, -1.2, 0.7), (0.8, 0.3, -0.9), 0.0125, 128)
    assert many == pytest.approx(one, abs=2e-5)


def test_a_slow_turn_equals_the_straight_line_to_first_order():
    straight = rolled((1.0, 2.0, 0.4), (1.3, 0.0, 0.0), 0.1, 1)
    turned = rolled((1.0, 2.0, 0.4), (1.3, 0.0, 1e-4), 0.1, 1)
    assert turned == pytest.approx(straight, abs=2e-5)


def test_heading_stays_in_the_half_open_circle():
    headings = [rolled((0.0, 0.0, 3.0), (0.0, 0.0, 1.0), 0.1, n)[2] for n in range(1, 80)]
    assert max(headings) <= math.pi + 1e-6
    assert min(headings) > -math.pi - 1e-6
    assert np.sin(headings) == pytest.approx(np.sin(3.0 + 0.1 * np.arange(1, 80)), abs=1e-4)


def test_sideways_motion_turns_with_the_robot():
    x, y, _ = rolled((0.0, 0.0, math.pi / 2), (0.0, 1.0, 0.0), 2.0, 1)
    assert (x, y) == pytest.approx((-2.0, 0.0), abs=1e-5)


def test_speeding_up_and_braking_have_limits_of_their_own():
    assert approach(F(1.0), F(2.0), F(0.5), F(4.0), F(0.1)) == pytest.approx(1.05)
    assert approach(F(1.0), F(0.0), F(0.5), F(4.0), F(0.1)) == pytest.approx(0.6)
    assert approach(F(0.2), F(-1.0), F(0.5), F(4.0), F(0.1)) == pytest.approx(-0.025)  # 0.05 s braking, 0.05 s backwards
    assert approach(F(-0.3), F(-0.3), F(0.5), F(4.0), F(0.1)) == pytest.approx(-0.3)


def test_commands_are_cut_at_the_limits_and_noticed():
    traits = robot_traits(1, 1)
    new, _ = next_twist(traits, 0, 0, twist(0, 0, 0), twist(3, 0.5, -2), F(0.0), F(0.1))
    assert new == pytest.approx((1.0, 0.0, -1.0))
    assert exceeds(traits, 0, 0, F(3), F(0), F(0))
    assert exceeds(traits, 0, 0, F(0.5), F(0.5), F(0))
    assert not exceeds(traits, 0, 0, F(1), F(0), F(-1))


def test_a_holonomic_robot_keeps_its_sideways_command():
    traits = robot_traits(1, 1)
    traits.kinematics[...], traits.max_vy[...] = HOLONOMIC, 0.6
    new, _ = next_twist(traits, 0, 0, twist(0, 0, 0), twist(0.3, -0.5, 0.2), F(0.0), F(0.1))
    assert new == pytest.approx((0.3, -0.5, 0.2))


def car(rate: float):
    traits = robot_traits(1, 1)
    traits.kinematics[...], traits.max_omega[...], traits.max_steering_rate[...] = ACKERMANN, 5.0, rate
    return traits


def test_a_car_cannot_turn_in_place_and_not_tighter_than_its_steering():
    traits = car(1e6)
    still, _ = next_twist(traits, 0, 0, twist(0, 0, 0), twist(0, 0, 1), F(0.0), F(0.1))
    assert still == (0.0, 0.0, 0.0)
    new, steering = next_twist(traits, 0, 0, twist(1, 0, 0), twist(1, 0, 4), F(0.0), F(0.1))
    assert steering == pytest.approx(0.6)
    assert new[2] == pytest.approx(math.tan(0.6) / 0.5, rel=1e-5)


def test_a_car_follows_a_feasible_turn_forwards_and_backwards():
    for v in (0.8, -0.8):
        new, steering = next_twist(car(1e6), 0, 0, twist(v if v > 0 else 0, 0, 0), twist(v, 0, 0.6), F(0.0), F(10.0))
        if v > 0:
            assert new == pytest.approx((0.8, 0.0, 0.6), abs=1e-5)
            assert steering == pytest.approx(math.atan(0.5 * 0.6 / 0.8), abs=1e-5)


def test_steering_moves_at_its_rate():
    _, steering = next_twist(car(0.5), 0, 0, twist(1, 0, 0), twist(1, 0, 1), F(0.0), F(0.1))
    assert steering == pytest.approx(0.05)


def test_each_axis_of_a_legged_base_has_its_own_limits():
    # as the gait of CHAMP caps vx and vy, each by itself: 0.8 along and 0.4 to the side at once
    traits = robot_traits(1, 1)
    traits.kinematics[...], traits.min_vx[...], traits.max_vx[...], traits.max_vy[...] = LEGGED, -0.3, 0.8, 0.4
    new, _ = next_twist(traits, 0, 0, twist(0, 0, 0), twist(2.0, -2.0, 0.1), F(0.0), F(1.0))
    assert new == pytest.approx((0.8, -0.4, 0.1))
    traits.max_ax[...], traits.max_ay[...], traits.max_deceleration[...], traits.max_alpha[...] = 2.0, 0.5, 3.0, 1.0
    new, _ = next_twist(traits, 0, 0, twist(0.1, -0.1, 0.1), twist(0.8, 0.3, 1.0), F(0.0), F(0.1))
    assert new == pytest.approx((0.3, -0.05, 0.2))
    new, _ = next_twist(traits, 0, 0, twist(0.7, 0.3, 0.0), twist(0.0, 0.0, 0.0), F(0.0), F(0.1))
    assert new == pytest.approx((0.4, 0.25, 0.0))  # it brakes with the deceleration along, and with ay to the side


@pytest.mark.parametrize("kind", [DIFFERENTIAL, HOLONOMIC, LEGGED])
def test_a_twist_is_that_of_each_axis_brought_within_its_limits_in_small_steps(kind, rng):
    for _ in range(100):
        traits = robot_traits(1, 1)
        low, ahead, aside, turn, ax, ay, brake, alpha = rng.uniform(0.2, 2.0, 8).astype(F)
        sideways = F(0.0) if kind == DIFFERENTIAL else aside
        traits.kinematics[...], traits.min_vx[...], traits.max_vx[...], traits.max_vy[...] = kind, -low, ahead, sideways
        traits.max_omega[...], traits.max_ax[...], traits.max_ay[...], traits.max_deceleration[...] = turn, ax, ay, brake
        traits.max_alpha[...] = alpha
        now = rng.uniform(-1.0, 1.0, 3) * (ahead, sideways, turn)
        command, dt = rng.uniform(-3.0, 3.0, 3), float(rng.uniform(0.02, 0.6))
        new, _ = next_twist(traits, 0, 0, twist(*now), twist(*command), F(0.0), F(dt))
        wanted = np.clip(command, (-low, -sideways, -turn), (ahead, sideways, turn))
        expected = [
            reached(v, w, up, down, dt) for v, w, up, down in zip(now, wanted, (ax, ay, alpha), (brake, ay, alpha), strict=True)
        ]
        assert new == pytest.approx(expected, abs=3e-3)


def reached(velocity, wanted, acceleration, deceleration, dt, steps=1000):
    """The velocity of one axis after dt, in small steps: braking towards 0 and speeding up away from it."""
    for _ in range(steps):
        braking = velocity * wanted < 0.0 or abs(wanted) < abs(velocity)
        most = (deceleration if braking else acceleration) * dt / steps
        velocity += min(max(wanted - velocity, -most), most)
    return velocity
