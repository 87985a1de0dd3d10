"""The place of a robot at a moment between two sightings."""

from __future__ import annotations

import numpy as np
import pytest

from agora.node_logic.track import Sighting, Track


def circle(time: float) -> Sighting:
    """A robot with 0.5 m/s and 0.4 rad/s on a circle about (3, -7)."""
    heading = np.arctan2(np.sin(2.9 + 0.4 * time), np.cos(2.9 + 0.4 * time))
    pose = np.array([3.0 + 1.25 * np.sin(heading), -7.0 - 1.25 * np.cos(heading), heading])
    return Sighting(time, pose, np.array([0.5, 0.0, 0.4], np.float32))


def test_between_two_sightings_a_robot_is_where_it_was_at_that_moment_whenever_they_were_told():
    times = np.cumsum(np.random.default_rng(3).uniform(0.005, 0.05, 200))
    track = Track(0.0, circle(0.0).pose)
    for time in times:
        track.see(circle(time))
    for time in np.arange(times[0], times[-1], 1 / 30):
        seen, true = track.at(time), circle(time)
        assert seen.pose[:2] == pytest.approx(true.pose[:2], abs=1e-4)  # of a chord: 1.25 (1 - cos(0.01)) = 6e-5
        assert np.cos(seen.pose[2] - true.pose[2]) == pytest.approx(1.0, abs=1e-9) and abs(seen.pose[2]) <= np.pi
        assert seen.twist == pytest.approx(true.twist)


def test_a_robot_that_sets_off_has_the_twist_of_the_moment_and_sightings_are_taken_as_they_are():
    track = Track(2.0, np.array([1.0, -3.0, 3.1]))
    track.see(Sighting(2.1, np.array([1.2, -3.0, -3.1]), np.array([0.4, 0.0, -0.2], np.float32)))
    half = track.at(2.05)
    assert half.pose[:2] == pytest.approx((1.1, -3.0)) and abs(half.pose[2]) == pytest.approx(np.pi)
    assert half.twist == pytest.approx((0.2, 0.0, -0.1))
    assert track.at(2.1 - 1e-9) is track.last


def test_before_the_first_and_after_the_last_sighting_a_robot_is_there_and_what_is_old_or_told_twice_changes_nothing():
    track = Track(2.0, np.array([1.0, -3.0, 0.1]))
    assert track.at(1.0).pose == pytest.approx((1.0, -3.0, 0.1)) and track.at(9.0) is track.last
    for time in (1.9, 2.0):
        track.see(circle(time))
    assert track.last.time == 2.0 and track.last.pose == pytest.approx((1.0, -3.0, 0.1)) and not track.last.twist.any()
