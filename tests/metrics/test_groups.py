"""Group metrics, by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from agora.metrics import groups
from recordings import among, crowded, drive

TIME = np.append(np.arange(0.0, 10.0, 0.01), 10.0)
MEMBERS = (8.0, -1.0), (10.0, -1.0), (9.0, 0.0)


def passing(y=-2.0, members=MEMBERS, number=4, radius=0.3):
    """The robot drives 10 m at 1 m/s along a line of equal y from x = 3 past a group that stands about (9, -2 / 3)."""
    crowd = among(TIME, *members)
    crowd["pedestrian_group"] = np.full((len(TIME), len(members)), number, np.int32)
    return drive(TIME, 3.0 + TIME, np.full_like(TIME, y), 0.0, **crowd, radius=radius)


def test_the_rate_is_the_chord_of_the_groups_circle():
    # the farthest members are sqrt(1 + 1 / 9) away; the chord 4 / 3 m below the middle is reached with 0.15 m more, or not
    reach = np.sqrt(1 + 1 / 9) + 0.15
    for y in (-1.0, -1.5, -1.8):
        below = -2 / 3 - y
        expected = 2 * np.sqrt(reach**2 - below**2) / 10
        assert groups.group_collision_rate(passing(y)) == pytest.approx(expected, abs=0.002)
        assert groups.group_intrusion(passing(y)) == 1.0
    assert groups.group_collision_rate(passing(-2.0)) == 0.0
    assert groups.group_intrusion(passing(-2.0)) == 0.0


def test_the_robots_size_does_not_count_in_the_circle_and_does_in_the_distance():
    small, large = passing(-1.5, radius=0.2), passing(-1.5, radius=0.5)
    assert groups.group_collision_rate(small) == groups.group_collision_rate(large)
    assert groups.group_distance_min(small) == pytest.approx(0.5 - 0.2)
    assert groups.group_distance_min(large) == pytest.approx(0.0)


def test_the_distance_is_to_the_hull_and_not_to_a_member():
    between = passing(-0.9, members=((8.0, -1.0), (10.0, -1.0), (9.0, 3.0)))
    assert groups.group_distance_min(between) == pytest.approx(-0.3)
    assert groups.group_distance_min(passing(-2.0)) == pytest.approx(1.0 - 0.3)


def test_strangers_and_a_group_of_one_are_no_group():
    for number in (-1, np.arange(3)):
        recording = passing(-1.0, number=number)
        assert groups.group_collision_rate(recording) == 0.0
        assert groups.group_distance_min(recording) is None


def test_who_has_left_the_group_or_the_world_no_longer_widens_it():
    whole = passing(-1.0)
    left = whole.pedestrian_group.copy()
    left[TIME >= 5.0, 2] = -1
    parted = dataclasses.replace(whole, pedestrian_group=left)
    gone = whole.pedestrian_present.copy()
    gone[TIME >= 5.0, 2] = False
    absent = dataclasses.replace(whole, pedestrian_present=gone)
    assert groups.group_collision_rate(parted) == groups.group_collision_rate(absent)
    # the pair that stays has its circle about (9, -1), 1.15 m wide, of which the robot sees what comes after 5 s; before, the three
    reach, below = np.sqrt(1 + 1 / 9) + 0.15, 1 / 3
    before = 5.0 - (6.0 - np.sqrt(reach**2 - below**2))
    assert groups.group_collision_rate(parted) == pytest.approx((before + 1.0 + 1.15) / 10, abs=0.002)


def test_samples_stand_for_their_time():
    uneven = np.concatenate((np.arange(0.0, 6.0, 0.5), np.arange(6.0, 10.01, 0.05)))
    crowd = among(uneven, *MEMBERS)
    crowd["pedestrian_group"] = np.zeros((len(uneven), 3), np.int32)
    recording = drive(uneven, 3.0 + uneven, np.full_like(uneven, -1.0), 0.0, **crowd)
    assert groups.group_collision_rate(recording) == pytest.approx(groups.group_collision_rate(passing(-1.0)), abs=0.05)


def test_a_crowd_without_groups_has_none():
    recording = crowded()
    assert groups.group_collision_rate(recording) == 0.0 and groups.group_distance_min(recording) is None


def test_the_boundary_is_the_groups_circle_and_negative_inside():
    reach = np.sqrt(1 + 1 / 9)
    assert groups.group_boundary_min(passing(-3.0)) == pytest.approx(3.0 - 2 / 3 - reach - 0.3)
    assert groups.group_boundary_min(passing(-2 / 3)) == pytest.approx(-reach - 0.3)
    assert groups.group_boundary_min(passing(-1.0, number=-1)) is None


def facing(headings, y=-1.0):
    """The robot passes (8, -1) and (10, -1), who face along ``headings``."""
    recording = passing(y, members=((8.0, -1.0), (10.0, -1.0)))
    return dataclasses.replace(recording, pedestrian_heading=np.broadcast_to(headings, (len(TIME), 2)).astype(float))


def test_hunavsims_space_of_a_group_lies_ahead_of_its_members():
    # both face up: the centre is (9, 0.5), 1.5 m off the way of a robot of 0.3 m; personal space ends 1.2 + 0.3 m away
    up = facing([np.pi / 2, np.pi / 2])
    assert groups.group_space_share_intimate(up) == groups.group_space_share_personal(up) == 0.0
    ways = 2.0 * np.sqrt(3.9**2 - 1.5**2)
    assert groups.group_space_share_social(up) == pytest.approx(ways / 10.0, abs=0.003)
    # facing each other: 1.5 m ahead of each is (9.5, -1) and (8.5, -1), the centre is on the way
    other = facing([0.0, np.pi])
    assert groups.group_space_share_intimate(other) == pytest.approx(2 * 0.75 / 10.0, abs=0.003)
    assert groups.group_space_share_personal(other) == pytest.approx(2 * 0.75 / 10.0, abs=0.003)
    strangers = passing(-1.0, number=-1)
    assert groups.group_space_share_social(strangers) == groups.group_space_share_intimate(strangers) == 0.0


@pytest.mark.parametrize(("members", "crossed"), [(((6.0, -3.0), (6.5, -1.0)), 1), (((6.0, -3.0), (6.5, -2.5)), 0)])
def test_crossing_between_two_members_disturbs_them(members, crossed):
    assert groups.relation_disturbance(passing(-2.0, members=members)) == crossed
    assert groups.relation_disturbance(passing(-2.0, members=members, number=-1)) == 0.0


def test_a_group_of_three_is_disturbed_once_for_each_line_crossed():
    # the triangle's sides to (8, -1) are crossed at y = -0.5: two of the three lines, not the base
    assert groups.relation_disturbance(passing(-0.5)) == 2.0
    assert groups.relation_disturbance(passing(-2.0)) == 0.0


def test_navmet_counts_samples_beside_the_line():
    # along the line from (8, -1) to (10, -1), 0.5 m beside it: the 2 s between its ends at 100 samples a second
    pair = passing(-1.5, members=((8.0, -1.0), (10.0, -1.0)))
    assert groups.relation_disturbance_navmet(pair) == pytest.approx(200, abs=1)
    assert groups.relation_disturbance_navmet(passing(-1.7, members=((8.0, -1.0), (10.0, -1.0)))) == 0.0
