"""Time to collision: closed forms of two discs."""

from __future__ import annotations

import numpy as np
import pytest

from agora.metrics import conflict
from recordings import among, drive


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
