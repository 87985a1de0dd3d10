"""Motion: closed forms on lines and circles."""

from __future__ import annotations

import numpy as np
import pytest

from agora.metrics import motion
from recordings import drive

UNEVEN = np.cumsum(np.concatenate(([0.0], np.tile([0.02, 0.03, 0.05], 60))))  # 6 s


def circle(radius=2.0, speed=0.8, time=UNEVEN, way=1.0):
    """About (7, -4); the heading passes through +-180 degrees."""
    angle = 0.7 + way * speed / radius * time
    heading = (angle + way * np.pi / 2 + np.pi) % (2 * np.pi) - np.pi
    twist = np.broadcast_to([speed, 0.0, way * speed / radius], (len(time), 3))
    return drive(time, 7.0 + radius * np.cos(angle), -4.0 + radius * np.sin(angle), heading, twist)


def test_a_straight_steady_drive_has_no_acceleration_and_no_curvature():
    line = drive(UNEVEN, 5.0 + 0.6 * UNEVEN, -2.0 + 0.8 * UNEVEN)
    assert motion.velocity_average(line) == pytest.approx(1.0)
    assert motion.velocity_max(line) == pytest.approx(1.0)
    assert motion.energy(line) == pytest.approx(UNEVEN[-1])
    for zero in (
        motion.acceleration_average,
        motion.acceleration_max,
        motion.jerk_average,
        motion.curvature_average,
        motion.curvature_max,
        motion.curvature_min,
        motion.curvature_normalised,
        motion.roughness,
        motion.angle_over_length,
    ):
        assert zero(line) == pytest.approx(0.0, abs=1e-8), zero.name


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_circle_has_the_accelerations_of_uniform_circular_motion(way):
    recording = circle(way=way)
    assert motion.acceleration_average(recording) == pytest.approx(0.8**2 / 2.0, rel=1e-3)
    assert motion.acceleration_max(recording) == pytest.approx(0.8**2 / 2.0, rel=1e-3)
    assert motion.jerk_average(recording) == pytest.approx(0.8**3 / 2.0**2, rel=2e-3)
    assert motion.jerk_max(recording) == pytest.approx(0.8**3 / 2.0**2, rel=2e-3)


def test_constant_acceleration_on_uneven_time_stamps():
    # v = 0.2 + 0.15 t; energy = integral of v^2 over 6 s
    x = 0.2 * UNEVEN + 0.075 * UNEVEN**2
    twist = np.stack((0.2 + 0.15 * UNEVEN, 0 * UNEVEN, 0 * UNEVEN), axis=1)
    recording = drive(UNEVEN, 3.0 + x * np.cos(2.0), 1.0 + x * np.sin(2.0), 2.0, twist)
    assert motion.acceleration_average(recording) == pytest.approx(0.15)
    assert motion.jerk_max(recording) == pytest.approx(0.0, abs=1e-9)
    assert motion.velocity_average(recording) == pytest.approx(0.2 + 0.15 * 3.0)
    assert motion.energy(recording) == pytest.approx((1.1**3 - 0.2**3) / (3 * 0.15), rel=1e-4)


def test_backing_and_sliding_sideways_accelerate_as_vectors():
    # from backing at 1 m/s to sliding left at 1 m/s within 0.5 s: a change of sqrt(2) m/s
    twist = [[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    recording = drive([0.0, 0.5], [0.0, -0.3], [0.0, 0.2], 0.9, twist)
    assert motion.acceleration_max(recording) == pytest.approx(np.sqrt(2.0) / 0.5)


def test_jerk_is_divided_by_time_once_for_each_difference():
    # velocities 0, 0.1, 0.3 at steps of 0.1 s: accelerations 1 and 2, jerk 10; HuNavSim divides once too often, Arena never
    twist = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.3, 0.0, 0.0]])
    recording = drive([0.0, 0.1, 0.2], [0.0, 0.005, 0.025], [1.0] * 3, 0.0, twist)
    assert motion.jerk_average(recording) == pytest.approx(10.0)
    assert motion.acceleration_average(recording) == pytest.approx(1.5)


@pytest.mark.parametrize("radius", [0.3, 2.0, 25.0])
@pytest.mark.parametrize("way", [1.0, -1.0])
def test_curvature_of_a_circle_is_one_over_its_radius(radius, way):
    # Arena's code gives 0.40 for a radius of 2 m
    recording = circle(radius, way=way)
    assert motion.curvature_average(recording) == pytest.approx(1.0 / radius, rel=1e-6)
    assert motion.curvature_min(recording) == pytest.approx(1.0 / radius, rel=1e-4)
    assert motion.curvature_max(recording) == pytest.approx(1.0 / radius, rel=1e-4)


def test_normalised_curvature_and_roughness_of_a_right_angle():
    # sides 3 and 4, chord 5, area 6
    corner = drive([0.0, 1.0, 3.0], [1.0, 4.0, 4.0], [2.0, 2.0, 6.0])
    assert motion.curvature_average(corner) == pytest.approx(4 * 6 / 60)
    assert motion.curvature_normalised(corner) == pytest.approx(4 * 6 / 60 * 7)
    assert motion.roughness(corner) == pytest.approx(2 * 6 / 25)


def test_standing_still_on_the_way_does_not_bend_the_path():
    time = np.linspace(0.0, 10.0, 201)
    along = np.interp(time, [0.0, 4.0, 7.0, 10.0], [0.0, 3.0, 3.0, 6.0])
    noise = 1e-6 * np.sin(1e4 * time)  # the rounding of single-precision coordinates
    recording = drive(time, 30.0 + 0.6 * along - 0.8 * noise, 40.0 + 0.8 * along + 0.6 * noise, 0.9)
    assert motion.curvature_max(recording) < 0.01
    turned = np.where(time < 5.0, 0.0, np.minimum(time - 5.0, 1.0))
    assert motion.curvature_max(drive(time, 30.0 + 0.6 * along, 40.0 + 0.8 * along, 0.9 + turned)) < 1e-6


def test_turning_back_is_a_cusp_and_no_curvature():
    time = np.linspace(0.0, 8.0, 81)
    there_and_back = 3.0 - np.abs(time - 4.0) * 0.7
    recording = drive(time, 2.0 + 0.6 * there_and_back, 1.0 - 0.8 * there_and_back, 0.1)
    assert motion.curvature_max(recording) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_heading_change_is_wrapped_at_every_full_turn(way):
    # two and a half turns; unwrapped differences would add 2 pi at each passage
    time = np.linspace(0.0, 10.0, 101)
    turning = 0.3 + way * np.pi / 2 * time
    spot = drive(time, np.full(101, 3.0), np.full(101, 8.0), (turning + np.pi) % (2 * np.pi) - np.pi)
    assert motion.cumulative_heading_change(spot) == pytest.approx(5.0 * np.pi)
    assert motion.angle_over_length(spot) is None


def test_angle_over_length_of_a_circle_is_its_curvature():
    assert motion.angle_over_length(circle(1.5, time=np.linspace(0.0, 30.0, 3001))) == pytest.approx(1 / 1.5, rel=1e-5)


def test_turning_left_and_right_adds_up():
    headings = [3.0, -3.0, 3.0]
    expected = 2 * (2 * np.pi - 6.0)
    assert motion.cumulative_heading_change(drive([0.0, 1.0, 3.0], [0.0, 1.0, 2.0], [0.0] * 3, headings)) == pytest.approx(expected)


def test_the_least_speed_acceleration_and_jerk():
    # speeds 0.5, 2, 1 m/s; velocities 0, 0.1, 0.3, 0.3 m/s: accelerations 1, 2, 0; jerks 10, -20
    twist = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.3, 0.0, 0.0], [0.3, 0.0, 0.0]])
    recording = drive([0.0, 0.1, 0.2, 0.3], [2.0, 2.05, 2.25, 2.35], [1.0] * 4, 0.0, twist)
    assert motion.velocity_min(recording) == pytest.approx(0.5)
    assert motion.acceleration_min(recording) == pytest.approx(0.0, abs=1e-9)
    assert motion.jerk_min(recording) == pytest.approx(10.0)
    single = drive([0.0], [1.0], [2.0])
    assert motion.velocity_min(single) is motion.acceleration_min(single) is motion.jerk_min(single) is None


def test_lateral_acceleration_is_speed_times_rate_of_turn_whichever_way():
    time = np.array([0.0, 0.4, 0.5, 1.1])
    twist = [[0.5, 0.0, 0.2], [-0.3, 0.4, -1.5], [1.2, 0.0, 0.1], [0.0, 0.0, 3.0]]
    recording = drive(time, [1.0, 1.2, 1.2, 1.3], [4.0, 4.0, 4.1, 4.1], 0.3, twist)
    assert motion.lateral_acceleration_max(recording) == pytest.approx(0.5 * 1.5)
