"""Zones, near misses and who came too near, by hand; the robot's radius is 0.3 m, a pedestrian's 0.25 m."""

from __future__ import annotations

import numpy as np
import pytest

from agora.metrics import space
from recordings import among, drive

TIME = np.linspace(0.0, 10.0, 2001)
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
    shares = [getattr(space, f"space_share_{zone}")(leaving) for zone in space.BANDS]
    assert shares == pytest.approx([0.0625, 0.1875, 0.6, 0.15], abs=0.001)
    assert sum(shares) == pytest.approx(1.0)


def test_hunavsims_zones_leave_out_the_pedestrians_radius():
    # D - r_robot is 0.25 m more: never below 0.45, 1.2 m after 1.875 s, 3.6 m after 7.875 s
    leaving = beside(0.2001 + 0.4 * TIME)
    assert space.space_share_intimate_hunavsim(leaving) == 0.0
    assert space.space_share_personal_hunavsim(leaving) == pytest.approx(0.1875, abs=0.001)
    assert space.space_share_social_hunavsim(leaving) == pytest.approx(0.6, abs=0.001)


def test_without_pedestrians_all_space_is_public():
    gone = beside(0.3)
    gone.pedestrian_present[:] = False
    for alone in (beside(), gone):
        assert space.space_share_public(alone) == 1.0 and space.space_share_intimate(alone) == 0.0
        assert space.near_misses(alone) == space.near_misses_robot_sf(alone) == 0.0
        assert space.discomfort_crowdnav(alone) == space.discomfort_dsrnn(alone) == 0.0
        assert space.pedestrian_speed_average(alone) is None and space.closest_pedestrian_speed_average(alone) is None
        assert space.personal_violations_by_robot(alone) == 0.0


def test_near_misses_come_near_and_do_not_touch():
    # twice down to 0.3 m; once into contact, which is no miss; once inside from the beginning
    time = np.linspace(0.0, 2.0, 401)
    swings, hits, begins = 0.8 + 0.5 * np.cos(2 * np.pi * time), np.abs(time - 1.0) * 1.1 - 0.1, 0.1 + 2.0 * time
    assert space.near_misses(beside(swings, time=time)) == 2
    assert space.near_misses(beside(hits, time=time)) == 0
    assert space.near_misses(beside(swings, hits, begins, time=time)) == 3


def test_near_misses_stand_beside_the_time_and_the_way_that_they_came_in():
    time = np.linspace(0.0, 4.0, 401)
    there = beside(0.8 + 0.5 * np.cos(np.pi * time), time=time)
    assert space.near_misses_per_minute(there) == pytest.approx(60.0 * space.near_misses(there) / 4.0)
    still = drive(time, np.full(401, 1.0), np.full(401, 2.0), 0.7, **among(time, (1.9 + 0.2 * np.cos(np.pi * time), 2.0)))
    assert space.near_misses(still) > 0 and space.near_misses_per_metre(still) is None
    ahead = drive(
        time, 1.0 + 0.5 * time, np.full(401, 2.0), 0.7, **among(time, (1.9 + 0.5 * time + 0.2 * np.cos(np.pi * time), 2.0))
    )
    assert space.near_misses_per_metre(ahead) == pytest.approx(space.near_misses(still) / 2.0)
    alone = drive(time[:1], [1.0], [2.0])
    assert space.near_misses_per_minute(alone) is None


def test_robot_sf_counts_samples_between_contact_and_half_a_metre():
    time = np.array([0.0, 0.1, 0.5, 0.6, 2.0])
    assert space.near_misses_robot_sf(beside(np.array([-0.1, 0.01, 0.49, 0.51, 0.3]), time=time)) == 3


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
        counts = {name: getattr(space, f"{zone}_violations_by_{name}")(recording) for name in ("robot", "person", "both")}
        assert counts == {name: float(name == who) for name in counts}, zone


def test_a_robot_that_backs_away_is_not_charged():
    time = np.linspace(0.0, 4.0, 401)
    crowd = among(time, (-0.5 + 1.4 * time, 2.0))
    fleeing = drive(time, 2.0 + 0.4 * time, np.full_like(time, 2.0), np.pi, [[-0.4, 0.0, 0.0]] * len(time), **crowd)
    assert space.personal_violations_by_person(fleeing) == 1.0 and space.personal_violations_by_robot(fleeing) == 0.0


def test_discomfort_is_the_shaping_of_both_rewards():
    time = np.array([0.0, 0.5, 1.5, 3.0])
    near = beside(0.1, time=time)
    assert space.discomfort_crowdnav(near) == pytest.approx(0.5 * (0.1 - 0.2) * 3.0)
    assert space.discomfort_dsrnn(near) == pytest.approx(10.0 * (0.1 - 0.25) * 3.0)
    between = beside(0.22, time=time)
    assert space.discomfort_crowdnav(between) == 0.0 and space.discomfort_dsrnn(between) == pytest.approx(10.0 * -0.03 * 3.0)


def test_speeds_of_pedestrians_count_while_they_are_there():
    # one walks at 1.2 m/s all 10 s; a nearer one at 0.4 m/s leaves after 5 s
    recording = beside(3.0 + 1.2 * TIME, 1.0 + 0.4 * TIME)
    recording.pedestrian_present[TIME >= 5.0, 1] = False
    assert space.pedestrian_speed_average(recording) == pytest.approx((12.0 + 2.0) / 15.0, abs=1e-3)
    assert space.closest_pedestrian_speed_average(recording) == pytest.approx(0.8, abs=1e-3)
