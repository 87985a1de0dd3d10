"""Proxemics: distances and zones about people who stand or walk by."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from agora.core.recording import Outcome
from agora.metrics import proxemics
from recordings import Wall, among, drive

TIME = np.append(np.arange(0.0, 10.0, 0.01), 10.0)


def passing(beside=0.4, time=TIME, **crowd):
    """The robot (radius 0.3) drives 10 m at 1 m/s along y = -2 from x = 3 past a pedestrian (radius 0.25) at x = 8."""
    return drive(time, 3.0 + time, np.full_like(time, -2.0), 0.0, **among(time, (8.0, -2.0 + beside), **crowd))


def test_time_in_private_zone_is_the_chord_of_the_zone():
    # sqrt(0.5^2 - 0.4^2) = 0.3 m before and after
    assert proxemics.time_in_private_zone(passing(0.4)) == pytest.approx(0.6, abs=0.011)
    assert proxemics.time_in_private_zone(passing(-0.55)) == 0.0


def test_time_in_private_zone_of_the_outlines_is_the_chord_of_a_larger_zone():
    # 0.5 m between discs of 0.3 and 0.25 m: sqrt(1.05^2 - 0.4^2) before and after
    assert proxemics.time_in_private_zone_outline(passing(0.4)) == pytest.approx(2 * np.sqrt(1.05**2 - 0.4**2), abs=0.011)
    assert proxemics.time_in_private_zone_outline(passing(1.06)) == 0.0 < proxemics.time_in_private_zone_outline(passing(0.9))


def test_private_zone_counts_seconds_and_not_samples():
    # samples are dense inside the zone and rare outside it, as Arena's irregular clock has them
    uneven = np.concatenate((np.arange(0.0, 4.5, 0.5), np.arange(4.5, 5.5, 0.001), np.arange(5.5, 10.2, 0.5)))
    assert proxemics.time_in_private_zone(passing(0.4, uneven)) == pytest.approx(0.6, abs=0.002)
    assert proxemics.personal_space_compliance_igibson(passing(0.4, uneven)) == pytest.approx(0.94, abs=0.002)


def test_a_sample_stands_for_the_interval_up_to_the_next():
    # a pedestrian 0.4 m away at 0 and 5 s, 2.4 m away at 1 s: near for 1 of 5 s, and what holds at the end lasts no longer
    time = np.array([0.0, 1.0, 5.0])
    crowd = among(time, (np.array([0.4, 2.4, 0.4]), 1.0))
    recording = drive(time, np.zeros(3), np.ones(3), 0.7, **crowd)
    assert proxemics.time_in_private_zone(recording) == 1.0
    assert proxemics.personal_space_compliance_igibson(recording) == pytest.approx(0.8)
    assert proxemics.closest_pedestrian_distance_average(recording) == pytest.approx((0.4 * 1 + 2.4 * 4) / 5 - 0.55)


def test_two_pedestrians_at_once_count_once():
    twins = drive(TIME, 3.0 + TIME, np.zeros_like(TIME), 0.0, **among(TIME, (8.0, 0.4), (8.0, -0.4)))
    assert proxemics.time_in_private_zone(twins) == pytest.approx(0.6, abs=0.011)


def test_closest_distance_is_between_the_discs_and_negative_where_they_overlap():
    assert proxemics.closest_pedestrian_distance_min(passing(1.4)) == pytest.approx(1.4 - 0.55)
    assert proxemics.closest_pedestrian_distance_min(passing(0.4)) == pytest.approx(-0.15)


def test_closest_distance_saturates_at_ten_metres():
    far = passing(40.0)
    assert proxemics.closest_pedestrian_distance_min(far) == 10.0
    assert proxemics.closest_pedestrian_distance_average(far) == pytest.approx(10.0)


def test_average_distance_while_parting_is_linear():
    # 1 m to 9 m between centres, less radii
    time = np.linspace(0.0, 8.0, 8001)
    parting = drive(time, 1.0 - time, np.full_like(time, 4.0), np.pi, **among(time, (2.0, 4.0)))
    assert proxemics.closest_pedestrian_distance_average(parting) == pytest.approx(5.0 - 0.55, abs=1e-3)


def test_a_pedestrian_who_is_not_there_has_no_zone():
    gone = passing(0.4, present=(TIME < 3.0)[:, None])
    assert proxemics.time_in_private_zone(gone) == 0.0
    assert proxemics.closest_pedestrian_distance_min(gone) == pytest.approx(np.hypot(2.01, 0.4) - 0.55)
    assert proxemics.personal_violations(gone) == 0.0


def test_without_pedestrians_distances_are_undefined_and_compliance_is_full():
    alone = drive(TIME, 3.0 + TIME, np.zeros_like(TIME), 0.0)
    never = passing(0.4, present=False)
    for recording in (alone, never):
        assert proxemics.closest_pedestrian_distance_min(recording) is None
        assert proxemics.closest_pedestrian_distance_average(recording) is None
        assert proxemics.personal_space_compliance_igibson(recording) == 1.0
        assert proxemics.personal_space_compliance_socnavgym(recording) == 1.0
        assert proxemics.time_in_private_zone(recording) == 0.0
        assert proxemics.intimate_violations(recording) == 0.0


def test_each_source_of_personal_space_compliance_has_its_own_distance():
    # centre distance while passing at 0.4 m: below 0.5 for 0.6 s, below 0.75 for 1.27 s, below 1.0 for 1.83 s
    recording = passing(0.4)
    assert proxemics.personal_space_compliance_igibson(recording) == pytest.approx(0.94, abs=0.002)
    assert proxemics.personal_space_compliance_socnavgym(recording) == pytest.approx(1 - 0.2 * np.sqrt(0.75**2 - 0.16), abs=0.002)
    assert proxemics.personal_space_compliance_robosense(recording) == pytest.approx(1 - 0.2 * np.sqrt(1.0 - 0.16), abs=0.002)
    # of the gap between discs of 0.3 and 0.25 m, and of a success alone
    assert proxemics.personal_space_compliance_social_jym(recording) == pytest.approx(1 - 0.2 * np.sqrt(1.05**2 - 0.16), abs=0.002)
    failed = dataclasses.replace(recording, outcome=Outcome.TIMEOUT)
    assert proxemics.personal_space_compliance_social_jym(failed) is None


def test_violations_are_events_of_each_pedestrian():
    # gap to the first swings 0.8 +- 0.5 m twice below 0.45 m and stays personal; the second begins inside and leaves
    time = np.linspace(0.0, 2.0, 2001)
    first = 0.55 + 0.8 + 0.5 * np.cos(2 * np.pi * time)
    second = -(0.55 + 0.1 + 2.0 * time)
    still = drive(
        time, np.full_like(time, 6.0), np.full_like(time, 1.0), 0.2, **among(time, (6.0 + first, 1.0), (6.0, 1.0 + second))
    )
    assert proxemics.intimate_violations(still) == 3
    assert proxemics.personal_violations(still) == 1 + 2


def test_clearing_distance_is_the_walls_clearance_less_the_radius():
    # away from a wall 0.1 m thick along 0.6 rad through (1, 2)
    time = np.linspace(0.0, 5.0, 501)
    out = 0.8 + 0.4 * time
    recording = drive(time, 1.0 - np.sin(0.6) * out, 2.0 + np.cos(0.6) * out, map=Wall((1.0, 2.0), 0.6))
    assert proxemics.clearing_distance_min(recording) == pytest.approx(0.8 - 0.05 - 0.3)
    assert proxemics.clearing_distance_average(recording) == pytest.approx(1.8 - 0.05 - 0.3, abs=0.003)
    assert proxemics.clearing_distance_min(drive(time, time, time)) is None
    nowhere = Wall((1.0, 2.0), 0.6)
    nowhere.gap = lambda points: np.full(len(points), np.inf)
    assert proxemics.clearing_distance_average(drive(time, time, time, map=nowhere)) is None


def test_the_farthest_that_everybody_was_away_saturates():
    # 5 m at first and at last, less both radii
    assert proxemics.closest_pedestrian_distance_max(passing(0.4)) == pytest.approx(np.hypot(5.0, 0.4) - 0.55)
    assert proxemics.closest_pedestrian_distance_max(passing(40.0)) == 10.0


def test_hunavsim_leaves_the_pedestrians_radius_out_of_the_extremes():
    time = np.array([0.0, 1.0, 3.0, 4.0])
    crowd = among(time, (5.0, 1.0), (2.0 + time, 4.0), present=np.array([[1, 1], [1, 0], [1, 1], [0, 0]], bool))
    recording = drive(time, np.full(4, 2.0), np.full(4, 1.0), 0.2, **crowd)
    far = np.hypot(3.0, 3.0)
    assert proxemics.closest_pedestrian_distance_min_hunavsim(recording) == pytest.approx(3.0 - 0.3)
    assert proxemics.closest_pedestrian_distance_max_hunavsim(recording) == pytest.approx(far - 0.3)
    # the sample without pedestrians counts 0, though nobody was near
    assert proxemics.closest_pedestrian_distance_average_hunavsim(recording) == pytest.approx(3 * (3.0 - 0.55) / 4)


def test_robot_sfs_compliance_is_the_share_of_violations():
    assert proxemics.personal_space_compliance_robot_sf(passing(0.4)) == pytest.approx(0.06, abs=0.002)


def test_nobody_has_no_distance_in_any_variant():
    alone = drive(TIME, 3.0 + TIME, np.zeros_like(TIME), 0.0)
    for metric in (
        proxemics.closest_pedestrian_distance_max,
        proxemics.closest_pedestrian_distance_min_hunavsim,
        proxemics.closest_pedestrian_distance_max_hunavsim,
        proxemics.closest_pedestrian_distance_average_hunavsim,
        proxemics.personal_space_compliance_robot_sf,
        proxemics.obstacle_safety,
    ):
        assert metric(alone) is None, metric.name


def test_obstacle_safety_is_the_time_near_walls():
    # the outline is 0.45 m less 0.04 m/s away from the wall: below 0.3 m after 3.75 of 10 s
    time = np.linspace(0.0, 10.0, 1001)
    out = 0.05 + 0.3 + 0.45 - 0.04 * time
    recording = drive(time, 1.0 - np.sin(0.6) * out, 2.0 + np.cos(0.6) * out, map=Wall((1.0, 2.0), 0.6))
    assert proxemics.obstacle_safety(recording) == pytest.approx(0.625, abs=0.002)
