"""Zones, near misses and who came too near, by hand; the robot's radius is 0.3 m, a pedestrian's 0.25 m."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from agora.core.recording import Outcome
from agora.metrics import pedestrian_speed, personal_zones
from agora.metrics.quantities import zones
from recordings import among, drive

TIME = np.linspace(0.0, 10.0, 2001)
DRIVE = np.append(np.arange(0.0, 10.0, 0.01), 10.0)
TOUCH = 0.55
TILT = 0.7


def beside(*gaps, time=TIME):
    """A robot that stands at (6, -1.5), and pedestrians in direction ``TILT`` whose discs are ``gaps`` away from its own."""
    c, s = np.cos(TILT), np.sin(TILT)
    walks = [(6.0 + c * (TOUCH + gap), -1.5 + s * (TOUCH + gap)) for gap in gaps]
    still = np.zeros_like(time)
    return drive(time, still + 6.0, still - 1.5, TILT, np.zeros((len(time), 3)), **among(time, *walks))


def test_shares_of_zones_are_the_times_between_their_borders():
    # the gap grows from 0.2 m by 0.4 m/s: 0.45 m after 0.625 s, 1.2 m after 2.5 s, 3.6 m after 8.5 s
    leaving = beside(0.2 + 0.4 * TIME)
    shares = [getattr(personal_zones, f"space_share_{zone}")(leaving) for zone in zones.BANDS]
    assert shares == pytest.approx([0.0625, 0.1875, 0.6, 0.15], abs=0.001)
    assert sum(shares) == pytest.approx(1.0)


def test_hunavsims_zones_leave_out_the_pedestrians_radius():
    # D - r_robot is 0.25 m more: never below 0.45, 1.2 m after 1.875 s, 3.6 m after 7.875 s
    leaving = beside(0.2001 + 0.4 * TIME)
    assert personal_zones.space_share_intimate_hunavsim(leaving) == 0.0
    assert personal_zones.space_share_personal_hunavsim(leaving) == pytest.approx(0.1875, abs=0.001)
    assert personal_zones.space_share_social_hunavsim(leaving) == pytest.approx(0.6, abs=0.001)


def test_without_pedestrians_all_space_is_public():
    gone = beside(0.3)
    gone.pedestrian_present[:] = False
    for alone in (beside(), gone):
        assert personal_zones.space_share_public(alone) == 1.0 and personal_zones.space_share_intimate(alone) == 0.0
        assert personal_zones.near_misses(alone) == personal_zones.near_misses_robot_sf(alone) == 0.0
        assert personal_zones.discomfort_crowdnav(alone) == personal_zones.discomfort_dsrnn(alone) == 0.0
        assert (
            pedestrian_speed.pedestrian_speed_average(alone) is None
            and pedestrian_speed.closest_pedestrian_speed_average(alone) is None
        )
        assert personal_zones.personal_violations_by_robot(alone) == 0.0


def test_near_misses_come_near_and_do_not_touch():
    # twice down to 0.3 m; once into contact, which is no miss; once inside from the beginning
    time = np.linspace(0.0, 2.0, 401)
    swings, hits, begins = 0.8 + 0.5 * np.cos(2 * np.pi * time), np.abs(time - 1.0) * 1.1 - 0.1, 0.1 + 2.0 * time
    assert personal_zones.near_misses(beside(swings, time=time)) == 2
    assert personal_zones.near_misses(beside(hits, time=time)) == 0
    assert personal_zones.near_misses(beside(swings, hits, begins, time=time)) == 3


def test_near_misses_stand_beside_the_time_and_the_way_that_they_came_in():
    time = np.linspace(0.0, 4.0, 401)
    there = beside(0.8 + 0.5 * np.cos(np.pi * time), time=time)
    assert personal_zones.near_misses_per_minute(there) == pytest.approx(60.0 * personal_zones.near_misses(there) / 4.0)
    still = drive(time, np.full(401, 1.0), np.full(401, 2.0), 0.7, **among(time, (1.9 + 0.2 * np.cos(np.pi * time), 2.0)))
    assert personal_zones.near_misses(still) > 0 and personal_zones.near_misses_per_metre(still) is None
    ahead = drive(
        time, 1.0 + 0.5 * time, np.full(401, 2.0), 0.7, **among(time, (1.9 + 0.5 * time + 0.2 * np.cos(np.pi * time), 2.0))
    )
    assert personal_zones.near_misses_per_metre(ahead) == pytest.approx(personal_zones.near_misses(still) / 2.0)
    alone = drive(time[:1], [1.0], [2.0])
    assert personal_zones.near_misses_per_minute(alone) is None


def test_robot_sf_counts_samples_between_contact_and_half_a_metre():
    time = np.array([0.0, 0.1, 0.5, 0.6, 2.0])
    assert personal_zones.near_misses_robot_sf(beside(np.array([-0.1, 0.01, 0.49, 0.51, 0.3]), time=time)) == 3


def head_on(robot, person):
    """The robot, at (2, 3), and a pedestrian 4 m ahead approach along 2.2 rad for 1.5 s."""
    time = np.linspace(0.0, 1.5, 301)
    c, s = np.cos(2.2), np.sin(2.2)
    along, other = robot * time, 4.0 - person * time
    crowd = among(time, (2.0 + c * other, 3.0 + s * other))
    return drive(time, 2.0 + c * along, 3.0 + s * along, 2.2, [[robot, 0.0, 0.0]] * len(time), **crowd)


@pytest.mark.parametrize(
    ("robot", "person", "who"), [(2.2, 0.0, "robot"), (0.0, 2.2, "person"), (1.3, 1.2, "both"), (1.8, 0.6, "robot")]
)
def test_violations_are_charged_to_whom_closed_the_gap(robot, person, who):
    recording = head_on(robot, person)
    for zone in ("intimate", "personal"):
        counts = {name: getattr(personal_zones, f"{zone}_violations_by_{name}")(recording) for name in ("robot", "person", "both")}
        assert counts == {name: float(name == who) for name in counts}, zone


def test_a_robot_that_backs_away_is_not_charged():
    time = np.linspace(0.0, 4.0, 401)
    crowd = among(time, (-0.5 + 1.4 * time, 2.0))
    fleeing = drive(time, 2.0 + 0.4 * time, np.full_like(time, 2.0), np.pi, [[-0.4, 0.0, 0.0]] * len(time), **crowd)
    assert (
        personal_zones.personal_violations_by_person(fleeing) == 1.0 and personal_zones.personal_violations_by_robot(fleeing) == 0.0
    )


def test_discomfort_is_the_shaping_of_both_rewards():
    time = np.array([0.0, 0.5, 1.5, 3.0])
    near = beside(0.1, time=time)
    assert personal_zones.discomfort_crowdnav(near) == pytest.approx(0.5 * (0.1 - 0.2) * 3.0)
    assert personal_zones.discomfort_dsrnn(near) == pytest.approx(10.0 * (0.1 - 0.25) * 3.0)
    between = beside(0.22, time=time)
    assert personal_zones.discomfort_crowdnav(between) == 0.0 and personal_zones.discomfort_dsrnn(between) == pytest.approx(
        10.0 * -0.03 * 3.0
    )


def passing(beside=0.4, time=DRIVE, **crowd):
    """The robot (radius 0.3) drives 10 m at 1 m/s along y = -2 from x = 3 past a pedestrian (radius 0.25) at x = 8."""
    return drive(time, 3.0 + time, np.full_like(time, -2.0), 0.0, **among(time, (8.0, -2.0 + beside), **crowd))


def test_time_in_private_zone_is_the_chord_of_the_zone():
    # sqrt(0.5^2 - 0.4^2) = 0.3 m before and after
    assert personal_zones.time_in_private_zone(passing(0.4)) == pytest.approx(0.6, abs=0.011)
    assert personal_zones.time_in_private_zone(passing(-0.55)) == 0.0


def test_time_in_private_zone_of_the_outlines_is_the_chord_of_a_larger_zone():
    # 0.5 m between discs of 0.3 and 0.25 m: sqrt(1.05^2 - 0.4^2) before and after
    assert personal_zones.time_in_private_zone_outline(passing(0.4)) == pytest.approx(2 * np.sqrt(1.05**2 - 0.4**2), abs=0.011)
    assert (
        personal_zones.time_in_private_zone_outline(passing(1.06))
        == 0.0
        < personal_zones.time_in_private_zone_outline(passing(0.9))
    )


def test_private_zone_counts_seconds_and_not_samples():
    # samples are dense inside the zone and rare outside it, as Arena's irregular clock has them
    uneven = np.concatenate((np.arange(0.0, 4.5, 0.5), np.arange(4.5, 5.5, 0.001), np.arange(5.5, 10.2, 0.5)))
    assert personal_zones.time_in_private_zone(passing(0.4, uneven)) == pytest.approx(0.6, abs=0.002)
    assert personal_zones.personal_space_compliance_igibson(passing(0.4, uneven)) == pytest.approx(0.94, abs=0.002)


def test_two_pedestrians_at_once_count_once():
    twins = drive(DRIVE, 3.0 + DRIVE, np.zeros_like(DRIVE), 0.0, **among(DRIVE, (8.0, 0.4), (8.0, -0.4)))
    assert personal_zones.time_in_private_zone(twins) == pytest.approx(0.6, abs=0.011)


def test_each_source_of_personal_space_compliance_has_its_own_distance():
    # centre distance while passing at 0.4 m: below 0.5 for 0.6 s, below 0.75 for 1.27 s, below 1.0 for 1.83 s
    recording = passing(0.4)
    assert personal_zones.personal_space_compliance_igibson(recording) == pytest.approx(0.94, abs=0.002)
    assert personal_zones.personal_space_compliance_socnavgym(recording) == pytest.approx(
        1 - 0.2 * np.sqrt(0.75**2 - 0.16), abs=0.002
    )
    assert personal_zones.personal_space_compliance_robosense(recording) == pytest.approx(1 - 0.2 * np.sqrt(1.0 - 0.16), abs=0.002)
    # of the gap between discs of 0.3 and 0.25 m, and of a success alone
    assert personal_zones.personal_space_compliance_social_jym(recording) == pytest.approx(
        1 - 0.2 * np.sqrt(1.05**2 - 0.16), abs=0.002
    )
    failed = dataclasses.replace(recording, outcome=Outcome.TIMEOUT)
    assert personal_zones.personal_space_compliance_social_jym(failed) is None


def test_violations_are_events_of_each_pedestrian():
    # gap to the first swings 0.8 +- 0.5 m twice below 0.45 m and stays personal; the second begins inside and leaves
    time = np.linspace(0.0, 2.0, 2001)
    first = 0.55 + 0.8 + 0.5 * np.cos(2 * np.pi * time)
    second = -(0.55 + 0.1 + 2.0 * time)
    still = drive(
        time, np.full_like(time, 6.0), np.full_like(time, 1.0), 0.2, **among(time, (6.0 + first, 1.0), (6.0, 1.0 + second))
    )
    assert personal_zones.intimate_violations(still) == 3
    assert personal_zones.personal_violations(still) == 1 + 2


def test_robot_sfs_compliance_is_the_share_of_violations():
    assert personal_zones.personal_space_compliance_robot_sf(passing(0.4)) == pytest.approx(0.06, abs=0.002)
