"""People found in scans of known scenes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.perception.plain_detector import plain_detect
from tests.perception.scans import HALL, LIDAR, apart, scans

from agora.maps.grid import Map
from agora.maps.store import build_store
from agora.optics.lidar import Lidar
from agora.perception.detector import Detector
from agora.perception.perception import Perception, ScanTracker
from agora.perception.tracker import Tracker, empty_tracks

POSE = np.array([[0.37, -0.52, 0.9]])


def found(places, pose=POSE, lidar=LIDAR, detector=None, place=None, **how):
    """Return the people (k, 2) whom the detector sees, and the variances, in one row."""
    tracker = ScanTracker(lidar, Perception("tracked", detector=detector or Detector()), rows=len(pose), **maps_of(place))
    tracker.see(scans(places, pose, lidar, place=place or HALL, **how), pose, 0.0)
    seen = tracker.detections
    count = seen.count[0]
    return np.stack([seen.x[0, :count], seen.y[0, :count]], -1), seen.variance[0, :count]


def maps_of(place):
    return {} if place is None else {"maps": build_store([place], [0])}


def nearest(places, seen):
    return np.hypot(*(np.asarray(places)[:, None] - seen[None]).transpose(2, 0, 1)).min(1)


def test_the_centre_of_a_body_is_found_to_millimetres_at_any_distance_and_bearing():
    for bearing in np.linspace(-3.0, 3.1, 13):
        for distance in (0.8, 2.3, 5.1, 8.9):
            place = POSE[0, :2] + distance * np.array([np.cos(bearing), np.sin(bearing)])
            seen, variance = found([[place]])
            assert len(seen) == 1
            assert nearest([place], seen).max() < 0.02
            assert 0.0 < variance[0] < 0.1**2


def test_nobody_is_found_where_nobody_is():
    assert len(found(np.zeros((1, 0, 2)))[0]) == 0


def test_somebody_across_the_first_and_the_last_beam_is_one():
    lidar = Lidar(beams=360, range_max=10.0, heading=0.4)
    behind = POSE[0, 2] + lidar.heading + np.pi
    place = POSE[0, :2] + 2.0 * np.array([np.cos(behind), np.sin(behind)])
    seen, _ = found([[place]], lidar=lidar)
    assert len(seen) == 1
    assert nearest([place], seen).max() < 0.01


def test_two_side_by_side_are_two_and_so_are_two_behind_each_other():
    for places in ([(3.1, 0.2), (3.1, 0.85)], [(3.0, 0.3), (3.35, 0.9)], [(2.6, 0.1), (3.5, 0.85)]):
        seen, _ = found([places])
        assert len(seen) == 2
        assert nearest(places, seen).max() < 0.1


def test_everybody_of_whom_two_beams_see_something_is_found_in_a_crowd_and_nobody_else():
    rng = np.random.default_rng(3)
    missed = total = false = 0
    for _ in range(12):
        places = apart(rng, 20, POSE[0])
        ranges = scans([places], POSE)[0]
        angles = LIDAR.angles.astype(float) + LIDAR.heading + POSE[0, 2]
        turn = np.array([[np.cos(POSE[0, 2]), -np.sin(POSE[0, 2])], [np.sin(POSE[0, 2]), np.cos(POSE[0, 2])]])
        hits = POSE[0, :2] + turn @ (LIDAR.x, LIDAR.y) + ranges[:, None] * np.stack([np.cos(angles), np.sin(angles)], -1)
        on = np.abs(np.hypot(*(hits[:, None] - places[None]).transpose(2, 0, 1)) - 0.3) < 1e-3
        in_sight = on.sum(0) >= 2
        seen, _ = found([places])
        missed += (nearest(places[in_sight], seen) > 0.35).sum()
        total += in_sight.sum()
        false += (nearest(seen, places) > 0.35).sum()
    assert total > 150
    assert missed <= 0.02 * total
    assert false <= 0.02 * total


def test_what_the_map_shows_is_nobody_and_somebody_beside_a_wall_is_somebody():
    walls = [(4.0, -5.0, 4.6, 5.0), (-3.0, 2.9, 4.3, 3.3)]
    place = Map.from_shapes(segments=walls, discs=[(1.9, -2.2, 0.3)], bounds=(-8.3, -6.1, 9.4, 7.7), resolution=0.05)
    assert len(found(np.zeros((1, 0, 2)), place=place)[0]) == 0
    people = [(3.7, 0.4), (1.0, 2.6)]
    seen, _ = found([people], place=place)
    assert len(seen) == 2
    assert nearest(people, seen).max() < 0.1


def test_without_a_map_a_long_wall_is_nobody_and_a_pillar_like_a_body_is_somebody():
    place = Map.from_shapes(segments=[(3.0, -5.0, 3.4, 5.0)], discs=[(-1.9, -2.2, 0.3)], bounds=(-8.3, -6.1, 9.4, 7.7))
    tracker = ScanTracker(LIDAR)
    tracker.see(scans(np.zeros((1, 0, 2)), POSE, place=place), POSE, 0.0)
    seen = tracker.detections
    assert seen.count[0] == 1
    assert (seen.x[0, 0], seen.y[0, 0]) == pytest.approx((-1.9, -2.2), abs=0.02)


def test_another_robot_who_says_where_it_is_is_nobody():
    others = empty_tracks(1, 1)
    others.position[0, 0], others.radius[0, 0] = (2.2, 0.4), 0.3
    for present in (False, True):
        others.present[0, 0] = present
        tracker = ScanTracker(LIDAR, robots=others)
        tracker.see(scans([[(2.2, 0.4)]], POSE), POSE, 0.0)
        assert tracker.detections.count[0] == (0 if present else 1)


def test_two_legs_are_one_person():
    lidar = Lidar(beams=720, range_max=10.0, legs=True)
    rng = np.random.default_rng(1)
    errors = []
    for distance in (1.2, 2.4, 4.1):
        for bearing in rng.uniform(-3.0, 3.0, 6):
            place = POSE[0, :2] + distance * np.array([np.cos(bearing), np.sin(bearing)])
            heading = rng.uniform(-3.0, 3.0)
            seen, _ = found([[place]], lidar=lidar, velocities=[[(1.2 * np.cos(heading), 1.2 * np.sin(heading))]])
            assert len(seen) == 1
            errors.append(nearest([place], seen)[0])
    assert np.median(errors) < 0.05
    assert max(errors) < 0.4


def test_noise_does_not_make_people_and_the_variance_that_is_claimed_covers_that_of_the_places():
    lidar = Lidar(beams=360, range_max=10.0, noise=0.03)
    rng = np.random.default_rng(5)
    pose = np.repeat(POSE, 300, 0)
    places = np.array([[apart(rng, 1, p, around=5.0)[0]] for p in pose])
    tracker = ScanTracker(lidar, rows=300)
    tracker.see(scans(places, pose, lidar), pose, 0.0)
    seen = tracker.detections
    assert (seen.count == 1).mean() > 0.98
    one = seen.count == 1
    error = np.stack([seen.x[one, 0], seen.y[one, 0]], -1) - places[one, 0]
    claimed = seen.variance[one, 0].mean()
    assert 0.1 * claimed < (error**2).mean() < claimed


def test_a_scan_of_which_nothing_can_be_said_shows_nobody():
    for reading in (0.0, 10.0):
        tracker = ScanTracker(LIDAR)
        tracker.see(np.full((1, 360), reading, np.float32), POSE, 0.0)
        assert tracker.detections.count[0] == 0


def test_parameters_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="radius"):
        Detector(radius=0.0)
    with pytest.raises(ValueError, match="margin"):
        Detector(margin=float("nan"))


def test_more_people_than_there_is_room_for_are_not_written_beyond_it():
    tracker = ScanTracker(LIDAR, Perception("tracked", tracker=Tracker(most=5)))
    rng = np.random.default_rng(4)
    tracks = tracker.see(scans([apart(rng, 20, POSE[0])], POSE), POSE, 0.0)
    assert tracker.detections.count[0] == 5
    assert tracks.present.shape == (1, 5)


WIDE = Lidar(beams=360, range_max=10.0, x=0.11, y=-0.04, heading=0.3)
NARROW = Lidar(beams=271, angle_min=-2.1, angle_max=1.7, range_min=0.15, range_max=8.0, x=-0.2, y=0.07, heading=0.6)
YARD = Map.from_shapes(
    segments=[(3.3, -5.1, 4.4, 5.3), (-4.1, 3.2, 2.3, 4.4)],
    discs=[(-1.9, -2.2, 0.35)],
    bounds=(-8.3, -6.1, 9.4, 7.7),
    resolution=0.07,
)


@pytest.mark.parametrize(
    ("lidar", "detector"),
    [
        (WIDE, Detector()),
        (replace(WIDE, noise=0.02, dropout=0.05), Detector(reach=6.5, misfit=0.03)),
        (NARROW, Detector(radius=0.27, margin=0.3)),
        (replace(WIDE, beams=720, legs=True), Detector()),
        (replace(NARROW, legs=True, noise=0.01), Detector(leg_width=0.15, both_width=0.4, stride=0.6)),
        (WIDE, Detector(legs=True)),
    ],
)
@pytest.mark.parametrize("place", [None, YARD], ids=["no map", "map"])
def test_what_is_found_is_what_the_plain_twin_finds(lidar, detector, place):
    rng = np.random.default_rng(7)
    rows = 24
    pose = np.column_stack((rng.uniform(-1, 1, (rows, 2)), rng.uniform(-np.pi, np.pi, rows)))
    people = np.array([apart(rng, 14, p) for p in pose])
    others = empty_tracks(rows, 2)
    others.position[:, 0], others.radius[:, 0] = people[:, 3] + 0.1, 0.35
    others.present[::2, 0] = True
    maps = build_store([place or HALL], [0])
    index = np.full(rows, -1 if place is None else 0, np.int32)
    tracker = ScanTracker(lidar, Perception("tracked", detector=detector), rows, maps, index, others)
    speeds = rng.uniform(-1.2, 1.2, people.shape)
    ranges = scans(people, pose, lidar, velocities=speeds, place=place or HALL)
    tracker.see(ranges, pose, 0.0)
    seen, told = tracker.detections, 0
    for n in range(rows):
        robots = [(*others.position[n, 0], 0.35)] if others.present[n, 0] else []
        at = pose[n].astype(np.float32)
        places, variances = plain_detect(detector, lidar, ranges[n], at, None if place is None else maps, robots)
        assert len(places) == seen.count[n]
        got = np.stack((seen.x[n], seen.y[n]), -1)[: len(places)]
        assert got == pytest.approx(places, abs=2e-3)
        assert seen.variance[n, : len(places)] == pytest.approx(variances, rel=2e-2)
        told += len(places)
    assert told > 4 * rows
