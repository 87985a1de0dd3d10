"""Time to collision: closed forms of two discs."""

from __future__ import annotations

import numpy as np
import pytest

from agora.metrics import conflict
from recordings import among, crowded, drive


def meeting(beside=0.0, closing=2.0, gap=6.0, tilt=0.7, radius=0.25, present=True):
    """One moment: robot (radius 0.3) and pedestrian head for each other along ``tilt``, ``gap`` m apart, missing by ``beside``."""
    ahead, left = np.array([np.cos(tilt), np.sin(tilt)]), np.array([-np.sin(tilt), np.cos(tilt)])
    place = np.array([4.0, -1.0]) + gap * ahead + beside * left
    crowd = among([0.0], tuple(place), radius=radius, present=present)
    crowd["pedestrian_velocity"][0, 0] = -0.5 * closing * ahead
    return drive([0.0], [4.0], [-1.0], tilt, [[0.5 * closing, 0.0, 0.0]], **crowd)


def test_head_on_the_gap_closes_at_the_sum_of_speeds():
    assert conflict.time_to_collision_min(meeting()) == pytest.approx((6.0 - 0.55) / 2.0)


def test_a_grazing_encounter_touches_where_the_chord_says():
    assert conflict.time_to_collision_min(meeting(0.4)) == pytest.approx((6.0 - np.sqrt(0.55**2 - 0.4**2)) / 2.0)


def test_those_who_miss_each_other_do_not_collide_but_close_in_along_the_line_of_sight():
    recording = meeting(0.56)
    assert conflict.time_to_collision_min(recording) == 10.0
    distance = np.hypot(6.0, 0.56)
    assert conflict.time_to_collision_min_socnavbench(recording) == pytest.approx((distance - 0.3) / (2.0 * 6.0 / distance))


def test_both_radii_count():
    # SocNavBench's code and robot_sf's leave radii out
    assert conflict.time_to_collision_min(meeting(radius=0.7)) == pytest.approx((6.0 - 1.0) / 2.0)
    assert conflict.time_to_collision_min_socnavbench(meeting(radius=0.7)) == pytest.approx((6.0 - 0.3) / 2.0)


def test_times_beyond_ten_seconds_saturate():
    slow = meeting(closing=0.4)
    assert conflict.time_to_collision_min(slow) == 10.0
    assert conflict.time_to_collision_min_socnavbench(slow) == 10.0


@pytest.mark.parametrize("closing", [0.0, -1.5])
def test_parting_or_resting_never_collides(closing):
    assert conflict.time_to_collision_min(meeting(closing=closing)) == 10.0
    assert conflict.time_to_collision_min_socnavbench(meeting(closing=closing)) == 10.0


def test_overlapping_discs_have_collided_even_while_parting():
    assert conflict.time_to_collision_min(meeting(gap=0.5, closing=-1.0)) == 0.0
    assert conflict.time_to_collision_min_socnavbench(meeting(gap=0.2)) == 0.0


def test_absent_pedestrians_are_no_danger():
    assert conflict.time_to_collision_min(meeting(present=False)) is None
    assert conflict.time_to_collision_average_socnavbench(meeting(present=False)) is None


def test_average_over_an_approach_is_that_of_a_falling_line():
    # from 5 s down to 0 at constant speeds: 2.5 s, whatever the time stamps
    time = np.sort(np.concatenate(([0.0, 5.0], 5.0 * np.random.default_rng(5).random(2000))))
    walker = (4.0 + 0.55 + 10.0 - time, np.full_like(time, 2.0))
    recording = drive(time, 4.0 + time, np.full_like(time, 2.0), 0.0, **among(time, walker))
    assert conflict.time_to_collision_average(recording) == pytest.approx(2.5, abs=0.01)
    assert conflict.time_to_collision_min(recording) == pytest.approx(0.0, abs=1e-6)


def test_the_soonest_of_several_counts():
    time = np.array([0.0, 0.1])
    crowd = among(time, (9.0, 0.0), (1.6, 0.0), (-4.0, 0.0))
    recording = drive(time, np.array([0.0, 0.1]), np.zeros(2), 0.0, [[1.0, 0.0, 0.0]] * 2, **crowd)
    assert conflict.time_to_collision_min(recording) == pytest.approx(1.6 - 0.1 - 0.55)


def test_robot_sfs_time_leaves_radii_and_misses_out():
    # 6 m apart, closing at 2 m/s, whatever the radii and however far beside
    assert conflict.time_to_collision_min_robot_sf(meeting(radius=0.7)) == pytest.approx(3.0)
    assert conflict.time_to_collision_min_robot_sf(meeting(2.0)) == pytest.approx(np.hypot(6.0, 2.0) / 2.0)
    assert conflict.time_to_collision_min_robot_sf(meeting(closing=-1.0)) is None


def following(ahead, beside=0.0, walking=0.6, turned=0.0, speed=0.8):
    """One moment: the robot drives at 0.8 m/s along 0.7 rad, a pedestrian is ahead and beside and walks ``turned`` off that."""
    c, s = np.cos(0.7), np.sin(0.7)
    crowd = among([0.0], (4.0 + c * ahead - s * beside, -1.0 + s * ahead + c * beside))
    crowd["pedestrian_velocity"][0, 0] = walking * np.cos(0.7 + turned), walking * np.sin(0.7 + turned)
    return drive([0.0], [4.0], [-1.0], 0.7, [[speed, 0.0, 0.0]], **crowd)


def test_the_headway_is_the_way_to_the_leader_over_the_followers_speed():
    assert conflict.time_headway_min(following(3.0)) == pytest.approx((3.0 - 0.55) / 0.8)
    assert conflict.time_headway_min(following(3.0, 0.4)) == pytest.approx((3.0 - np.sqrt(0.55**2 - 0.4**2)) / 0.8)
    assert conflict.time_headway_min(following(30.0)) == 10.0
    assert conflict.time_headway_min(following(0.5)) == 0.0
    assert conflict.time_headway_min(following(3.0, turned=np.radians(44.0))) == pytest.approx((3.0 - 0.55) / 0.8)


@pytest.mark.parametrize(
    "changes", [{"ahead": -3.0}, {"beside": 0.56}, {"turned": np.radians(46.0)}, {"walking": 0.0}, {"speed": 0.0}]
)
def test_who_is_behind_beside_crossing_or_standing_leads_nobody(changes):
    assert conflict.time_headway_min(following(**{"ahead": 3.0, **changes})) is None


def crossing(lead):
    """The robot drives along x through (5, 2) at 1 m/s after 5 s; a pedestrian crosses it there ``lead`` s before."""
    time = np.linspace(0.0, 12.0, 601)
    walker = (np.full_like(time, 5.0), 2.0 + 1.25 * (time - (5.0 - lead)))
    return drive(time, time, np.full_like(time, 2.0), 0.0, **among(time, walker))


@pytest.mark.parametrize("lead", [3.0, -3.0])
def test_post_encroachment_is_the_time_between_both_at_the_nearest_of_their_places(lead):
    # discs of 0.3 and 0.25 m that cross at right angles: |t_r - t_p| is least where (u, 1.25 (u - 3)) is 0.55 long
    u = np.linspace(-2.0, 4.0, 200001)
    robot = u
    person = np.sqrt(np.maximum(0.55**2 - robot**2, 0.0)) / 1.25
    gap = np.where(np.abs(robot) <= 0.55, np.abs(3.0 - person - np.abs(robot)), np.inf)
    assert conflict.post_encroachment_time_min(crossing(lead)) == pytest.approx(gap.min(), abs=0.05)


def test_post_encroachment_is_nought_in_contact_and_nothing_where_ways_never_meet():
    assert conflict.post_encroachment_time_min(crossing(0.2)) == 0.0
    assert conflict.post_encroachment_time_min(crossing(40.0)) is None
    assert conflict.post_encroachment_time_min(drive([0.0, 1.0], [0.0, 1.0], [0.0, 0.0])) is None


def test_the_kernel_finds_the_pair_of_samples_that_a_search_of_all_finds():
    recording = crowded(np.linspace(0.0, 40.0, 121), 5, 8)
    best = np.inf
    for i in range(5):
        here = recording.pedestrian_present[:, i]
        away = np.hypot(*(recording.pedestrian_position[None, here, i] - recording.pose[:, None, :2]).transpose(2, 0, 1))
        apart = np.abs(recording.time[:, None] - recording.time[here])
        best = min(best, apart[away < 0.55].min(initial=np.inf))
    assert best < 10.0 and conflict.post_encroachment_time_min(recording) == best
