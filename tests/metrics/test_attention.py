"""Attention: cones about headings, and walls that block the view."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from agora.maps.grid import Map
from agora.metrics import attention
from recordings import Wall, among, drive

TIME = np.array([0.0, 1.0, 1.5, 4.0])
ALL = 4.0


def pair(robot_heading, bearing, pedestrian_heading, distance=3.0, **changes):
    """A robot at (-2, 5) and a pedestrian in direction ``bearing`` stand for 4 s; degrees."""
    b = np.radians(bearing)
    crowd = among(TIME, (-2.0 + distance * np.cos(b), 5.0 + distance * np.sin(b)), heading=np.radians(pedestrian_heading))
    return drive(TIME, [-2.0] * 4, [5.0] * 4, np.radians(robot_heading), **{**crowd, **changes})


@pytest.mark.parametrize("bearing", [-178.0, -90.0, 13.0, 90.0, 179.0])
def test_whoever_faces_exactly_is_seen_from_every_side(bearing):
    # Arena's code is 180 degrees off for a pedestrian in the north who faces the robot
    recording = pair(bearing, bearing, bearing + 180.0)
    assert attention.time_facing_pedestrians(recording) == ALL
    assert attention.time_seen_by_pedestrians(recording) == ALL
    away = pair(bearing + 180.0, bearing, bearing)
    assert attention.time_facing_pedestrians(away) == 0.0
    assert attention.time_seen_by_pedestrians(away) == 0.0


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_the_cone_is_five_degrees_to_either_side_across_the_wrap(side):
    assert attention.time_facing_pedestrians(pair(179.0 + side * 4.9, 179.0, 0.0)) == ALL
    assert attention.time_facing_pedestrians(pair(179.0 + side * 5.1, 179.0, 0.0)) == 0.0
    assert attention.time_seen_by_pedestrians(pair(0.0, 2.0, -178.0 + side * 4.9)) == ALL
    assert attention.time_seen_by_pedestrians(pair(0.0, 2.0, -178.0 + side * 5.1)) == 0.0


def test_the_field_of_view_reaches_a_little_behind_the_shoulders_and_ten_metres():
    view = attention.time_seen_by_pedestrians_field_of_view
    assert view(pair(0.0, 2.0, -178.0 + 94.0)) == ALL
    assert view(pair(0.0, 2.0, -178.0 - 96.0)) == 0.0
    assert view(pair(0.0, 2.0, -178.0, distance=9.9)) == ALL
    assert view(pair(0.0, 2.0, -178.0, distance=10.1)) == 0.0


def test_time_is_that_of_the_clock():
    # facing in the samples at 1.0 and 4.0 s: the interval from 1.0 to 1.5 s, and nothing after the end
    recording = pair(np.array([90.0, 30.0, 90.0, 30.0]), 30.0, 0.0)
    assert attention.time_facing_pedestrians(recording) == pytest.approx(0.5)


def test_nobody_and_the_absent_are_not_faced():
    assert attention.time_facing_pedestrians(drive(TIME, [-2.0] * 4, [5.0] * 4, 0.3)) == 0.0
    absent = pair(30.0, 30.0, 210.0, pedestrian_present=np.zeros((4, 1), bool))
    assert attention.time_facing_pedestrians(absent) == 0.0
    assert attention.time_seen_by_pedestrians(absent) == 0.0


@pytest.mark.parametrize("half", [0.001, 0.05, 0.4])
def test_a_wall_between_them_blocks_the_view_both_ways(half):
    between = Wall((-0.5, 5.0), 1.9, half)
    behind = Wall((-7.0, 5.0), 1.9, half)
    for seen in (
        attention.time_facing_pedestrians,
        attention.time_seen_by_pedestrians,
        attention.time_seen_by_pedestrians_field_of_view,
    ):
        assert seen(pair(30.0, 30.0, 210.0, map=between)) == 0.0
        assert seen(pair(30.0, 30.0, 210.0, map=behind)) == ALL


def test_a_wall_hides_only_those_behind_it():
    crowd = among(TIME, (6.0, 5.0), (1.0, 5.0), heading=np.pi)
    recording = drive(TIME, [-2.0] * 4, [5.0] * 4, 0.0, map=Wall((3.0, 5.0), 1.2), **crowd)
    assert attention.time_facing_pedestrians(recording) == ALL
    hidden = among(TIME, (6.0, 5.0), (1.0, 7.0), heading=np.pi)
    assert attention.time_facing_pedestrians(drive(TIME, [-2.0] * 4, [5.0] * 4, 0.0, map=Wall((3.0, 5.0), 1.2), **hidden)) == 0.0


class Raster:
    """Stands in for a map of occupied cells: bilinear between the distances of cells' centres to occupied ones'."""

    def __init__(self, cells, resolution):
        self.cells, self.resolution = np.asarray(cells, float), resolution
        self.origin, self.size = np.array([-100.0, -100.0]), (200.0, 200.0)

    def clearance_at(self, points):
        place = points / self.resolution - 0.5
        low = np.floor(place)
        total = np.zeros(len(points))
        for corner in np.ndindex(2, 2):
            distance = np.hypot(*np.moveaxis((low + corner)[:, None] - self.cells, 2, 0)).min(axis=1)
            total += distance * np.prod(np.where(corner, place - low, low + 1 - place), axis=1)
        return total * self.resolution


@pytest.mark.parametrize("resolution", [0.05, 0.2])
@pytest.mark.parametrize("through", [180.0, 135.0])
def test_a_wall_of_single_cells_is_neither_leapt_over_nor_seen_through_at_corners(through, resolution):
    # a column of cells, and a diagonal of cells that touch at corners; looked through at right angles and askew
    across = np.arange(-80, 80)
    wall = Raster(np.stack((across if through == 135.0 else 0 * across, across), axis=1), resolution)
    normal = np.radians(through)
    for bearing in normal + np.radians(np.linspace(-20.0, 20.0, 9)):
        for along in np.linspace(0.0, resolution, 6):
            x, y = -1.3 * np.cos(normal) + along * np.sin(normal), -1.3 * np.sin(normal) - along * np.cos(normal)
            crowd = among(TIME, (x + 3.0 * np.cos(bearing), y + 3.0 * np.sin(bearing)))
            assert attention.time_facing_pedestrians(drive(TIME, [x] * 4, [y] * 4, bearing, map=wall, **crowd)) == 0.0
            near = among(TIME, (x + 0.9 * np.cos(bearing), y + 0.9 * np.sin(bearing)))
            assert attention.time_facing_pedestrians(drive(TIME, [x] * 4, [y] * 4, bearing, map=wall, **near)) == ALL


@pytest.mark.parametrize("x", [-1e9, 1e9])
def test_a_robot_far_beside_the_map_is_seen_past_its_walls_and_not_through_them(x):
    """A map from (-3, 1) to (9, 6), all of it free or with a wall across it at x = 4 m."""
    free = Map.open((-3.0, 1.0), (12.0, 5.0), resolution=0.25)
    walled = dataclasses.replace(free, occupied=np.tile(np.arange(48) == 28, (20, 1)))
    person = 0.5 if x > 0 else 6.5
    for y, place, seen in ((3.3, free, ALL), (3.3, walled, 0.0), (90.0, walled, ALL)):
        crowd = among(TIME, (person, y), heading=0.0 if x > 0 else np.pi)
        recording = drive(TIME, [x] * 4, [y] * 4, np.pi if x > 0 else 0.0, **crowd, map=place)
        assert attention.time_facing_pedestrians(recording) == seen
        assert attention.time_seen_by_pedestrians(recording) == seen
