"""Gaussians about people and groups, and headings that disturb, by hand; scenes are turned and shifted."""

from __future__ import annotations

import numpy as np
import pytest

from agora.metrics import gaussian_spaces
from recordings import among, crowded, drive

TIME = np.array([0.0, 1.0, 1.5, 4.0])


def seen_from(ahead, beside, walking=0.0, facing=2.2, heading=0.0, speed=0.0, **changes):
    """A robot that is ``ahead`` of a pedestrian at (-3, 4) who faces 2.2 rad, and ``beside`` to the left; for 4 s."""
    c, s = np.cos(facing), np.sin(facing)
    x, y = -3.0 + c * ahead - s * beside, 4.0 + s * ahead + c * beside
    crowd = among(TIME, (-3.0, 4.0), heading=facing)
    crowd["pedestrian_velocity"][:, 0] = walking * c, walking * s
    return drive(TIME, [x] * 4, [y] * 4, facing + heading, [[speed, 0.0, 0.0]] * 4, **{**crowd, **changes})


@pytest.mark.parametrize(
    ("ahead", "beside", "walking", "exponent"),
    [
        (0.5, 0.0, 0.0, 0.5),  # deviations of who stands: 0.5 m ahead, 1/3 m to the side, 0.25 m behind
        (-0.5, 0.0, 0.0, 2.0),
        (0.0, 1 / 3, 0.0, 0.5),
        (0.0, -1 / 3, 0.2, 0.5),  # 2 s times 0.2 m/s is less than 0.5 m
        (2.4, 0.0, 1.2, 0.5),
        (-2.4, 1.6, 1.2, 2.0 + 0.5),
    ],
)
def test_personal_space_has_kirbys_deviations(ahead, beside, walking, exponent):
    recording = seen_from(ahead, beside, walking)
    assert gaussian_spaces.personal_space_intrusion(recording) == pytest.approx(np.exp(-exponent))
    assert gaussian_spaces.personal_space_intrusion_share(recording) == float(exponent < np.log(2.0))


def test_srpbs_code_takes_deviations_for_variances():
    recording = seen_from(0.5, 0.0)
    assert gaussian_spaces.personal_space_intrusion_srpb(recording) == pytest.approx(np.exp(-0.5 * 0.25 / 0.5))
    assert gaussian_spaces.personal_space_intrusion_share_srpb(recording) == 1.0
    aside = seen_from(0.0, -1.0, 1.2)
    assert gaussian_spaces.personal_space_intrusion_srpb(aside) == pytest.approx(np.exp(-0.5 / 1.6))


def test_the_largest_of_several_counts_while_somebody_is_there():
    crowd = among(TIME, (1.0, 1.0), (1.5, 1.0), heading=0.0)
    crowd["pedestrian_present"] = np.array([[True, True], [True, False], [True, True], [False, False]])
    # the robot stands at (2, 1), 1 m and 0.5 m ahead of them
    recording = drive(TIME, [2.0] * 4, [1.0] * 4, 0.3, np.zeros((4, 3)), **crowd)
    both, first = np.exp(-0.5), np.exp(-2.0)
    assert gaussian_spaces.personal_space_intrusion(recording) == pytest.approx((both * 1.0 + first * 0.5 + both * 2.5) / 4.0)
    assert gaussian_spaces.personal_space_intrusion_share(recording) == pytest.approx(3.5 / 4.0)
    # of the five pairs two exponents are 0.25 / 2 / 0.5 and three 1 / 2 / 0.5: the first are above 0.5
    assert gaussian_spaces.personal_space_intrusion_share_srpb(recording) == pytest.approx(2 / 5)


def test_nobody_is_intruded_upon():
    alone, gone = drive(TIME, TIME, TIME, 0.1), seen_from(0.2, 0.0, pedestrian_present=np.zeros((4, 1), bool))
    for recording in (alone, gone):
        for metric in (
            gaussian_spaces.personal_space_intrusion,
            gaussian_spaces.personal_space_intrusion_share,
            gaussian_spaces.personal_space_intrusion_srpb,
            gaussian_spaces.personal_space_intrusion_share_srpb,
            gaussian_spaces.formation_space_intrusion,
            gaussian_spaces.formation_space_intrusion_share,
            gaussian_spaces.heading_disturbance,
            gaussian_spaces.heading_disturbance_share,
        ):
            assert metric(recording) is None, metric.name


def test_the_space_of_a_formation_reaches_two_deviations_to_its_farthest_member():
    # members 1 m to either side of (5, -2); the robot is 0.5 m from the middle for 1.5 s, then on a member
    crowd = among(TIME, (4.0, -2.0), (6.0, -2.0))
    crowd["pedestrian_group"][:] = 2
    recording = drive(TIME, [5.0, 5.0, 6.0, 6.0], [-1.5, -1.5, -2.0, -2.0], 0.3, np.zeros((4, 3)), **crowd)
    near, on = np.exp(-2.0 * 0.25), np.exp(-2.0)
    assert gaussian_spaces.formation_space_intrusion(recording) == pytest.approx((near * 1.5 + on * 2.5) / 4.0)
    assert gaussian_spaces.formation_space_intrusion_share(recording) == pytest.approx(1.5 / 4.0)
    crowd["pedestrian_group"][1:, 1] = -1  # parted after the first second
    parted = drive(TIME, [5.0, 5.0, 6.0, 6.0], [-1.5, -1.5, -2.0, -2.0], 0.3, np.zeros((4, 3)), **crowd)
    assert gaussian_spaces.formation_space_intrusion(parted) == pytest.approx(near)


def test_heading_straight_for_a_pedestrian_ahead_disturbs_by_speed_and_distance():
    # 2 m ahead and turned back towards the pedestrian: both Gaussians are 1
    recording = seen_from(2.0, 0.0, heading=np.pi, speed=0.8)
    assert gaussian_spaces.heading_disturbance(recording) == pytest.approx(0.8 * np.exp(-1.6))
    assert gaussian_spaces.heading_disturbance_share(recording) == 0.0
    closer = seen_from(1.0, 0.0, heading=np.pi, speed=0.8)
    assert gaussian_spaces.heading_disturbance(closer) == pytest.approx(0.8 * np.exp(-0.8))
    assert gaussian_spaces.heading_disturbance_share(closer) == 1.0
    assert gaussian_spaces.heading_disturbance(seen_from(2.0, 0.0, heading=np.pi)) == 0.0


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_crossing_in_front_disturbs_most_half_way_between_at_and_along(side):
    # 2 m away, 60 degrees off the pedestrian's heading: at is 120 degrees off that heading the other way, the middle 60
    bearing = np.radians(60.0)
    place = 2.0 * np.cos(bearing), side * 2.0 * np.sin(bearing)
    seen = np.exp(-0.5 * (60.0 / (190.0 / 6.0)) ** 2)
    middle = seen_from(*place, heading=-side * np.radians(60.0), speed=1.0)
    assert gaussian_spaces.heading_disturbance(middle) == pytest.approx(seen * np.exp(-1.6))
    # 10 degrees off the middle; the deviation is a sixth of the 120 degrees between at and along
    off = seen_from(*place, heading=-side * np.radians(50.0), speed=1.0)
    assert gaussian_spaces.heading_disturbance(off) == pytest.approx(seen * np.exp(-1.6) * np.exp(-0.5 * (10.0 / 20.0) ** 2))
    # straight for the pedestrian, and off that by the third of the half angle under which 0.4 m is seen
    at = seen_from(*place, heading=-side * np.radians(120.0), speed=1.0)
    assert gaussian_spaces.heading_disturbance(at) == pytest.approx(seen * np.exp(-1.6))
    beside = seen_from(*place, heading=-side * (np.radians(120.0) + np.arcsin(0.2) / 3.0), speed=1.0)
    assert gaussian_spaces.heading_disturbance(beside) == pytest.approx(seen * np.exp(-1.6) * np.exp(-0.5))


def test_of_a_crowd_the_pedestrian_disturbed_most_is_found():
    # pruning must not lose it: the largest of the values of each alone
    crowd = crowded(np.linspace(0.0, 30.0, 91), 7, 5)
    together = gaussian_spaces.heading_disturbance(crowd)
    alone = []
    for slot in range(7):
        kept = crowd.pedestrian_present.copy()
        kept[:, np.arange(7) != slot] = False
        single = type(crowd)(**{**vars(crowd), "pedestrian_present": kept})
        alone.append(gaussian_spaces._disturbance(single))
    there = crowd.pedestrian_present.any(1)[:-1]
    step = np.diff(crowd.time) * there
    assert together == pytest.approx((np.max(alone, axis=0)[:-1] * step).sum() / step.sum())
