"""The smoothness of the driving: shares of time and rates by hand, smoothness by closed forms."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from agora.core.state import robot_traits
from agora.metrics import twists
from recordings import drive

TIME = np.array([0.0, 1.0, 3.0, 4.0, 8.0])


def driven(twist, time=TIME, **changes):
    """A recording with a given twist; the track does not matter."""
    return drive(time, 4.0 + 0.1 * time, -2.0 + 0.0 * time, 0.4, twist, **changes)


def test_rates_of_change_are_those_of_the_robots_own_frame():
    # |dv| is 0.5 (a 3-4-5 triangle), 0, 0.6, 0.4; |d omega| 0.2, 0.5, 0, 0.1; over 8 s
    twist = [[0.1, 0.0, 0.0], [0.4, 0.4, -0.2], [0.4, 0.4, 0.3], [0.4, -0.2, 0.3], [0.0, -0.2, 0.2]]
    recording = driven(twist)
    assert twists.velocity_smoothness(recording) == pytest.approx(1.5 / 8.0)
    assert twists.heading_smoothness(recording) == pytest.approx(0.8 / 8.0)
    # omega's rates -0.2, 0.25, 0, -0.025; their changes 0.45, 0.25, 0.025 over the 5.5 s between the middles
    assert twists.angular_jerk_average(recording) == pytest.approx(0.725 / 5.5)
    assert twists.angular_speed_average(recording) == pytest.approx((0.0 * 1 + 0.2 * 2 + 0.3 * 1 + 0.3 * 4) / 8.0)


def test_a_steady_bend_is_smooth():
    steady = driven([[0.7, 0.0, 0.5]] * 5)
    assert twists.velocity_smoothness(steady) == twists.heading_smoothness(steady) == 0.0


def test_shares_are_of_time_and_either_way_round():
    twist = [[0.0, 0.0, -0.2], [0.03, 0.0, 0.1], [-0.06, 0.0, 0.0], [0.03, 0.045, 0.0], [0.0, 0.0, 0.0]]
    recording = driven(twist)
    assert twists.in_place_rotation_share(recording) == pytest.approx(1.0 / 8.0)
    assert twists.backward_share(recording) == pytest.approx(1.0 / 8.0)
    # 2 s at 0.03 m/s; the last 4 s slide sideways at 0.054 m/s, which a test of vx alone would take for standing
    assert twists.oscillation_share(recording) == pytest.approx(2.0 / 8.0)


def test_feasible_actions_are_within_the_robots_twists():
    traits = robot_traits(1, 1)
    traits.max_vx[:], traits.min_vx[:], traits.max_omega[:] = 0.8, -0.2, 1.1
    command = np.array([[0.8, 0.0, -1.1], [0.81, 0.0, 0.0], [-0.3, 0.0, 0.0], [0.0, 0.1, 0.0]])
    recording = driven(np.zeros((5, 3)), command=command, robot=traits)
    assert twists.feasible_action_rate(recording) == 0.25
    assert twists.feasible_action_rate(dataclasses.replace(recording, command=None)) is None
    assert twists.feasible_action_rate(dataclasses.replace(recording, robot=None)) is None


def minimum_jerk(time, bumps=1):
    """Speed profiles of minimum jerk, one after the other."""
    share = (time / time[-1] * bumps) % 1.0
    return 30.0 * share**2 * (1.0 - share) ** 2


def moving(speed, time):
    """A recording with a given speed, along 2 rad."""
    return driven(np.stack((speed, 0 * speed, 0 * speed), 1), time)


def test_log_dimensionless_jerk_of_a_minimum_jerk_movement_is_that_of_the_paper():
    # v = 30 (s^2 - 2 s^3 + s^4) has v_peak 1.875 and integral of v''^2 of 720, whatever its length and duration
    for duration, size in ((4.0, 1.0), (10.0, 0.3)):
        time = np.linspace(0.0, duration, 4001)
        recording = moving(size * minimum_jerk(time), time)
        assert twists.log_dimensionless_jerk(recording) == pytest.approx(-np.log(720.0 / 1.875**2), abs=0.01)


@pytest.mark.parametrize("rest", [0.004, 0.05, 0.096])
def test_log_dimensionless_jerk_does_not_depend_on_when_the_last_sample_comes(rest):
    """The robot drives on as before, in small steps of speed at the control rate, and the episode ends within an interval."""
    time = np.arange(60) * 0.1
    speed = 0.6 + 0.02 * np.sin(9.0 * time) + 0.01 * (-1.0) ** np.arange(60)
    whole = twists.log_dimensionless_jerk(moving(speed, time))
    ended = moving(np.append(speed, 0.63), np.append(time, time[-1] + rest))
    assert twists.log_dimensionless_jerk(ended) == pytest.approx(whole, abs=1e-9)


def test_log_dimensionless_jerk_of_samples_at_uneven_times_is_that_of_even_ones(rng):
    even = np.linspace(0.0, 4.0, 81)
    uneven = np.sort(even + np.append(np.append(0.0, rng.uniform(-0.01, 0.01, 79)), 0.0))
    for time in (even, uneven):
        found = twists.log_dimensionless_jerk(moving(minimum_jerk(time), time))
        assert found == pytest.approx(-np.log(720.0 / 1.875**2), abs=0.35)


def test_more_movements_in_a_row_are_less_smooth():
    time = np.linspace(0.0, 6.0, 601)
    one, three = (moving(minimum_jerk(time, bumps), time) for bumps in (1, 3))
    assert twists.sparc(three) < twists.sparc(one) - 1.0
    assert twists.log_dimensionless_jerk(three) < twists.log_dimensionless_jerk(one) - 3.0


def spectral_arc_length(speed, rate):
    """As S. Balasubramanian's published definition has it, with NumPy's transform."""
    size = 2 ** (int(np.ceil(np.log2(len(speed)))) + 4)
    frequency, magnitude = np.arange(size // 2) * rate / size, np.abs(np.fft.fft(speed, size))[: size // 2]
    magnitude = magnitude[frequency <= 10.0] / magnitude.max()
    frequency = frequency[frequency <= 10.0]
    high = np.flatnonzero(magnitude >= 0.05)
    magnitude, frequency = magnitude[high[0] : high[-1] + 1], frequency[high[0] : high[-1] + 1]
    return -np.hypot(np.diff(frequency) / (frequency[-1] - frequency[0]), np.diff(magnitude)).sum()


@pytest.mark.parametrize(("count", "duration"), [(61, 6.0), (600, 59.9), (900, 11.0), (7, 1.0)])
def test_sparc_is_the_arc_length_of_the_spectrum(count, duration):
    time = np.linspace(0.0, duration, count)
    speed = minimum_jerk(time, 2) + 0.2 * np.sin(3.0 * time) ** 2
    assert twists.sparc(moving(speed, time)) == pytest.approx(spectral_arc_length(speed, (count - 1) / duration), rel=1e-6)


def test_what_does_not_move_is_neither_smooth_nor_rough():
    still = moving(np.zeros(50), np.linspace(0.0, 5.0, 50))
    assert twists.sparc(still) is None and twists.log_dimensionless_jerk(still) is None
    assert twists.log_dimensionless_jerk(moving(np.full(50, 0.5), np.linspace(0.0, 5.0, 50))) is None
    short = moving(np.array([0.1, 0.2]), np.array([0.0, 0.3]))
    assert twists.sparc(short) is None and twists.angular_jerk_average(short) is None
