"""Distances to people who stand or walk by, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from agora.metrics import pedestrian_distance, personal_zones, wall_distance
from recordings import among, drive

TIME = np.append(np.arange(0.0, 10.0, 0.01), 10.0)


def passing(beside=0.4, time=TIME, **crowd):
    """The robot (radius 0.3) drives 10 m at 1 m/s along y = -2 from x = 3 past a pedestrian (radius 0.25) at x = 8."""
    return drive(time, 3.0 + time, np.full_like(time, -2.0), 0.0, **among(time, (8.0, -2.0 + beside), **crowd))


def test_a_sample_stands_for_the_interval_up_to_the_next():
    # a pedestrian 0.4 m away at 0 and 5 s, 2.4 m away at 1 s: near for 1 of 5 s, and what holds at the end lasts no longer
    time = np.array([0.0, 1.0, 5.0])
    crowd = among(time, (np.array([0.4, 2.4, 0.4]), 1.0))
    recording = drive(time, np.zeros(3), np.ones(3), 0.7, **crowd)
    assert personal_zones.time_in_private_zone(recording) == 1.0
    assert personal_zones.personal_space_compliance_igibson(recording) == pytest.approx(0.8)
    assert pedestrian_distance.closest_pedestrian_distance_average(recording) == pytest.approx((0.4 * 1 + 2.4 * 4) / 5 - 0.55)


def test_closest_distance_is_between_the_discs_and_negative_where_they_overlap():
    assert pedestrian_distance.closest_pedestrian_distance_min(passing(1.4)) == pytest.approx(1.4 - 0.55)
    assert pedestrian_distance.closest_pedestrian_distance_min(passing(0.4)) == pytest.approx(-0.15)


def test_closest_distance_saturates_at_ten_metres():
    far = passing(40.0)
    assert pedestrian_distance.closest_pedestrian_distance_min(far) == 10.0
    assert pedestrian_distance.closest_pedestrian_distance_average(far) == pytest.approx(10.0)


def test_average_distance_while_parting_is_linear():
    # 1 m to 9 m between centres, less radii
    time = np.linspace(0.0, 8.0, 8001)
    parting = drive(time, 1.0 - time, np.full_like(time, 4.0), np.pi, **among(time, (2.0, 4.0)))
    assert pedestrian_distance.closest_pedestrian_distance_average(parting) == pytest.approx(5.0 - 0.55, abs=1e-3)


def test_a_pedestrian_who_is_not_there_has_no_zone():
    gone = passing(0.4, present=(TIME < 3.0)[:, None])
    assert personal_zones.time_in_private_zone(gone) == 0.0
    assert pedestrian_distance.closest_pedestrian_distance_min(gone) == pytest.approx(np.hypot(2.01, 0.4) - 0.55)
    assert personal_zones.personal_violations(gone) == 0.0


def test_without_pedestrians_distances_are_undefined_and_compliance_is_full():
    alone = drive(TIME, 3.0 + TIME, np.zeros_like(TIME), 0.0)
    never = passing(0.4, present=False)
    for recording in (alone, never):
        assert pedestrian_distance.closest_pedestrian_distance_min(recording) is None
        assert pedestrian_distance.closest_pedestrian_distance_average(recording) is None
        assert personal_zones.personal_space_compliance_igibson(recording) == 1.0
        assert personal_zones.personal_space_compliance_socnavgym(recording) == 1.0
        assert personal_zones.time_in_private_zone(recording) == 0.0
        assert personal_zones.intimate_violations(recording) == 0.0


def test_the_farthest_that_everybody_was_away_saturates():
    # 5 m at first and at last, less both radii
    assert pedestrian_distance.closest_pedestrian_distance_max(passing(0.4)) == pytest.approx(np.hypot(5.0, 0.4) - 0.55)
    assert pedestrian_distance.closest_pedestrian_distance_max(passing(40.0)) == 10.0


def test_hunavsim_leaves_the_pedestrians_radius_out_of_the_extremes():
    time = np.array([0.0, 1.0, 3.0, 4.0])
    crowd = among(time, (5.0, 1.0), (2.0 + time, 4.0), present=np.array([[1, 1], [1, 0], [1, 1], [0, 0]], bool))
    recording = drive(time, np.full(4, 2.0), np.full(4, 1.0), 0.2, **crowd)
    far = np.hypot(3.0, 3.0)
    assert pedestrian_distance.closest_pedestrian_distance_min_hunavsim(recording) == pytest.approx(3.0 - 0.3)
    assert pedestrian_distance.closest_pedestrian_distance_max_hunavsim(recording) == pytest.approx(far - 0.3)
    # the sample without pedestrians counts 0, though nobody was near
    assert pedestrian_distance.closest_pedestrian_distance_average_hunavsim(recording) == pytest.approx(3 * (3.0 - 0.55) / 4)


def test_nobody_has_no_distance_in_any_variant():
    alone = drive(TIME, 3.0 + TIME, np.zeros_like(TIME), 0.0)
    for metric in (
        pedestrian_distance.closest_pedestrian_distance_max,
        pedestrian_distance.closest_pedestrian_distance_min_hunavsim,
        pedestrian_distance.closest_pedestrian_distance_max_hunavsim,
        pedestrian_distance.closest_pedestrian_distance_average_hunavsim,
        personal_zones.personal_space_compliance_robot_sf,
        wall_distance.obstacle_safety,
    ):
        assert metric(alone) is None, metric.name
