"""SocNavBench's metrics as its code has them, by hand, with the defects that its tables were made with."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from agora.core.recording import Outcome
from agora.metrics.published import socnavbench as code
from recordings import among, drive

TIME = np.arange(6) * 0.05


def test_energy_is_not_times_the_step():
    # speeds 1, 1, 2, 2, 0 m/s over steps of 0.05 s
    x = 3.0 + np.cumsum([0.0, 0.05, 0.05, 0.1, 0.1, 0.0])
    assert code.energy_socnavbench_code(drive(TIME, x, np.full(6, -7.0), 0.0)) == pytest.approx(1 + 1 + 4 + 4)


def test_acceleration_and_jerk_are_differences_of_positions():
    # velocities 1, 1, 2, 2, 0: accelerations 0, 20, 0, -40; jerks 400, -400, -800
    x = 3.0 + np.cumsum([0.0, 0.05, 0.05, 0.1, 0.1, 0.0])
    recording = drive(TIME, x, np.full(6, -7.0), 0.0)
    assert code.acceleration_average_socnavbench_code(recording) == pytest.approx(60.0 / 4)
    assert code.jerk_average_socnavbench_code(recording) == pytest.approx(1600.0 / 3)
    short = drive(TIME[:2], x[:2], np.zeros(2), 0.0)
    assert code.acceleration_average_socnavbench_code(short) is None and code.jerk_average_socnavbench_code(short) is None


def test_irregularity_takes_the_position_for_the_heading():
    # a straight path at y = 5, from x = -5 to 5, driven straight to the goal: 0 if the heading were meant
    x = np.linspace(-5.0, 5.0, 11)
    straight = drive(np.arange(11.0), x, np.full(11, 5.0), 0.0)
    expected = np.arctan2(5.0, x)[:-1].sum() / 11 + np.pi / 2 / 11  # no angle at the goal itself: arccos(0)
    assert code.path_irregularity_socnavbench_code(straight) == pytest.approx(expected)
    late = dataclasses.replace(straight, outcome=Outcome.TIMEOUT, goal=np.array([-5.0, 9.0, 0.0]))
    to_goal = np.stack((-5.0 - x, np.full(11, 4.0)), 1)
    cosine = (to_goal * np.stack((x, np.full(11, 5.0)), 1)).sum(1) / np.hypot(*to_goal.T) / np.hypot(x, 5.0)
    assert code.path_irregularity_socnavbench_code(late) == pytest.approx(np.arccos(cosine).mean())


def test_times_to_collision_use_the_robots_velocity_of_the_step_before():
    # the robot's steps are 1, 2, 3 m/s, a pedestrian stands 9 m ahead of the start; radius 0.3
    time = np.array([0.0, 1.0, 2.0, 3.0])
    recording = drive(time, np.array([2.0, 3.0, 5.0, 8.0]), np.full(4, -4.0), 0.0, **among(time, (11.0, -4.0), radius=0.7))
    times = (9.0 - 1.0 - 0.3) / 3.0, (9.0 - 3.0 - 0.3) / 1.0, (9.0 - 6.0 - 0.3) / 2.0  # first with the last step's velocity
    assert code.time_to_collision_min_socnavbench_code(recording) == pytest.approx(min(times))
    assert code.time_to_collision_average_socnavbench_code(recording) == pytest.approx(np.mean(times))


def test_who_leaves_keeps_the_last_value_and_who_parts_has_none():
    time = np.array([0.0, 1.0, 2.0, 3.0])
    present = np.array([True, True, False, False])[:, None]
    crowd = among(time, (11.0, -4.0), present=present)
    recording = drive(time, 2.0 + time, np.full(4, -4.0), 0.0, **crowd)
    assert code.time_to_collision_average_socnavbench_code(recording) == pytest.approx((9.0 - 1.0 - 0.3) / 1.0)
    assert code.closest_pedestrian_distance_min_socnavbench_code(recording) == pytest.approx(8.0)
    assert code.closest_pedestrian_distance_average_socnavbench_code(recording) == pytest.approx((9 + 8 + 8 + 8) / 4)
    parting = drive(time, 2.0 - time, np.full(4, -4.0), np.pi, **among(time, (11.0, -4.0)))
    assert code.time_to_collision_min_socnavbench_code(parting) is None


def test_before_the_first_pedestrian_the_distance_is_nought():
    time = np.array([0.0, 1.0, 2.0])
    late = drive(time, [2.0] * 3, [1.0] * 3, 0.0, **among(time, (5.0, 5.0), present=np.array([False, True, True])[:, None]))
    assert code.closest_pedestrian_distance_min_socnavbench_code(late) == 0.0
    assert code.closest_pedestrian_distance_average_socnavbench_code(late) == pytest.approx(10.0 / 3.0)


def test_staying_in_touch_counts_again_each_second_and_for_each_pedestrian():
    # at 20 Hz: in touch from 1.0 to 3.5 s counts at 1, 2 and 3 s; a second touch half a second later is in the cooldown
    time = np.arange(121) * 0.05
    near = np.where((time > 0.99) & (time < 3.51) | (time > 3.79) & (time < 3.91), 0.5, 2.0)
    first, second = (7.0 + near, np.full(121, 2.0)), (np.full(121, 7.0), 2.0 - near[::-1])
    still = np.full(121, 7.0), np.full(121, 2.0)
    assert code.collisions_pedestrian_socnavbench_code(drive(time, *still, 0.3, **among(time, first))) == 3
    assert code.collisions_pedestrian_socnavbench_code(drive(time, *still, 0.3, **among(time, first, second))) == 6
    assert code.collisions_pedestrian_socnavbench_code(drive(time, *still, 0.3)) == 0


def test_nobody_has_no_distance_and_no_collision():
    alone = drive(TIME, 2.0 + TIME, TIME, 0.7)
    assert code.time_to_collision_min_socnavbench_code(alone) is None
    assert code.time_to_collision_average_socnavbench_code(alone) is None
    assert code.closest_pedestrian_distance_min_socnavbench_code(alone) is None
