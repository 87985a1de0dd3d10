"""Social forces against Moussaid's law written out, walls by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from agora.metrics import forces
from recordings import Wall, among, crowded, drive

TIME = np.array([0.0, 1.0, 1.5, 4.0])
STEPS = np.diff(TIME)


def law(offset, velocity):
    """The force of a neighbour at an offset from somebody with a velocity relative to it (Moussaid et al. 2009, eqs. 3 to 6)."""
    distance = np.hypot(*offset)
    e = offset / distance
    d = 2.0 * velocity + e
    t = d / np.hypot(*d)
    b = 0.35 * np.hypot(*d)
    theta = np.arctan2(t[0] * e[1] - t[1] * e[0], t @ e)
    n = np.array([-t[1], t[0]])
    force = (
        -np.exp(-distance / b - (3.0 * b * theta) ** 2) * t - np.sign(theta) * np.exp(-distance / b - (2.0 * b * theta) ** 2) * n
    )
    return 2.1 * force


def standing(*places, velocity=(0.0, 0.0), **changes):
    """A robot with a velocity stands at (5, -2) for 4 s among people who stand."""
    twist = [[*velocity, 0.0]] * 4
    return drive(TIME, [5.0] * 4, [-2.0] * 4, 0.0, twist, **among(TIME, *places), **changes)


def test_two_people_push_with_moussaids_law():
    velocity = np.array([0.6, 0.2])
    recording = standing((6.1, -1.4), (4.3, -1.5), velocity=velocity)
    expected = [law(np.array(offset), velocity) for offset in ((1.1, 0.6), (-0.7, 0.5))]
    sizes = [np.hypot(*force) for force in expected]
    total = np.hypot(*sum(expected))
    assert forces.social_force_on_robot(recording) == pytest.approx(total, rel=1e-4)
    assert forces.social_force_on_pedestrians(recording) == pytest.approx(sum(sizes), rel=1e-4)
    assert forces.social_work(recording) == pytest.approx(total + sum(sizes), rel=1e-4)
    # HuNavSim adds up its samples: there are four
    assert forces.social_force_on_robot_hunavsim(recording) == pytest.approx(4 * sum(sizes), rel=1e-4)
    assert forces.social_force_on_pedestrians_hunavsim(recording) == pytest.approx(4 * sum(sizes), rel=1e-4)
    assert forces.social_work_hunavsim(recording) == pytest.approx(4 * (total + sum(sizes)), rel=1e-4)


def test_people_on_both_sides_cancel_out_for_the_robot_alone():
    between = standing((6.0, -2.3), (4.0, -1.7))
    assert forces.social_force_on_robot(between) == pytest.approx(0.0, abs=1e-9)
    assert forces.social_force_on_pedestrians(between) > 0.1


def test_the_nearest_wall_pushes_with_its_gap():
    # a wall 0.1 m thick through (5, -1.2) along x: its face is 0.75 m from the centre, 0.45 m from the robot of 0.3 m
    wall = Wall((5.0, -1.2), 0.0)
    recording = standing((8.0, -1.6), (9.0, -9.0), map=wall)
    push = 10.0 * np.exp(-0.45 / 0.2)
    assert forces.obstacle_force_on_robot(recording) == pytest.approx(push)
    assert forces.obstacle_force_on_robot_hunavsim(recording) == pytest.approx(4 * push)
    # the first pedestrian, of 0.25 m, is 0.1 m from it; the second too far to be pushed: the mean of both
    assert forces.obstacle_force_on_pedestrians(recording) == pytest.approx(0.5 * 10.0 * np.exp(-0.1 / 0.2))
    alone = dataclasses.replace(recording, **among(TIME))
    assert forces.social_work(alone) == pytest.approx(push)


def test_quantiles_and_exposure_are_of_samples_of_the_robots_force():
    near = standing((5.5, -1.9), (5.0, -3.4), (90.0, 4.0), velocity=(0.5, 0.0))
    sizes = [np.hypot(*law(np.array(offset), np.array([0.5, 0.0]))) for offset in ((0.5, 0.1), (0.0, -1.4), (85.0, 6.0))]
    for percent in (50, 90, 95):
        quantile = getattr(forces, f"pedestrian_force_q{percent}")(near)
        assert quantile == pytest.approx(np.quantile(np.repeat(sizes, 4), percent / 100), rel=1e-3, abs=1e-3), percent
    pressed = standing((5.02, -1.9), (5.0, -3.4), velocity=(0.0, 1.2))
    strong = np.hypot(*law(np.array([0.02, 0.1]), np.array([0.0, 1.2])))
    assert strong > 2.0
    assert forces.force_exceed_events(pressed) == 4.0 and forces.comfort_exposure(pressed) == 0.5


def test_without_people_and_walls_nothing_is_felt():
    alone = standing()
    assert forces.social_force_on_robot(alone) == forces.social_force_on_pedestrians(alone) == forces.social_work(alone) == 0.0
    assert forces.obstacle_force_on_robot(alone) is None and forces.obstacle_force_on_pedestrians(alone) is None
    assert forces.obstacle_force_on_robot_hunavsim(alone) == forces.social_work_hunavsim(alone) == 0.0
    assert forces.pedestrian_force_q95(alone) is None and forces.comfort_exposure(alone) is None
    assert forces.force_exceed_events(alone) == 0.0


def test_the_kernel_is_the_law_for_everybody_of_a_crowd():
    recording = crowded(np.linspace(0.0, 30.0, 61), 6)
    velocity = recording.twist[:, :1] * np.stack((np.cos(recording.pose[:, 2]), np.sin(recording.pose[:, 2])), 1)
    sizes = []
    for k, i in np.argwhere(recording.pedestrian_present):
        offset = recording.pedestrian_position[k, i] - recording.pose[k, :2]
        sizes.append(np.hypot(*law(offset, velocity[k] - recording.pedestrian_velocity[k, i])))
    assert forces.social_force_on_robot_hunavsim(recording) == pytest.approx(sum(sizes), rel=1e-4)
