"""Clearances of robots with corners: by hand, and against fine samples of the outline."""

from __future__ import annotations

import numpy as np
import pytest

from agora.core.state import RobotTraits
from agora.maps.grid import Map
from agora.metrics import conflict, pedestrian_distance, wall_distance
from agora.metrics.quantities import outline
from recordings import among, drive

BOX = np.array([[-0.2, -0.15], [0.4, -0.15], [0.4, 0.15], [-0.2, 0.15]])
"""0.6 x 0.3 m; the base is 0.2 m from the back and 0.4 m from the front."""
ARROW = np.array([[-0.4, -0.3], [0.5, 0.0], [-0.4, 0.3], [-0.1, 0.0]])
"""Not convex: a notch at the back."""


def shaped(corners=BOX):
    """The traits of a robot with these corners."""
    fields = dict.fromkeys(RobotTraits._fields, np.zeros((1, 1), np.float32))
    x, y = np.asarray(corners, np.float32).T[:, None, None]
    return RobotTraits(**{**fields, "vertices": np.full((1, 1), len(corners)), "footprint_x": x, "footprint_y": y})


def standing(x, y, heading, corners=BOX, velocity=(0.0, 0.0), twist=(0.0, 0.0, 0.0), place=None):
    """One moment of a robot at (3, -2) and a pedestrian of 0.25 m at (3 + x, -2 + y)."""
    crowd = among([0.0], (3.0 + x, -2.0 + y))
    crowd["pedestrian_velocity"][0, 0] = velocity
    return drive([0.0], [3.0], [-2.0], heading, [twist], radius=0.43, robot=shaped(corners), map=place, **crowd)


@pytest.mark.parametrize("turn", [0.0, 0.7, -2.5])
def test_the_distance_to_a_person_is_from_the_nearest_side_or_corner(turn):
    c, s = np.cos(turn), np.sin(turn)

    def gap(x, y):
        return pedestrian_distance.closest_pedestrian_distance_min(standing(c * x - s * y, s * x + c * y, turn))

    assert gap(1.4, 0.1) == pytest.approx(1.0 - 0.25)  # ahead: from the front
    assert gap(0.1, 0.55) == pytest.approx(0.4 - 0.25)  # beside: not from the disc of 0.43 m about it
    assert gap(0.7, -0.55) == pytest.approx(0.5 - 0.25)  # 0.3 and 0.4 from a corner
    assert gap(0.3, 0.0) == pytest.approx(-0.1 - 0.25)  # a centre in the body: how deep from the front


def test_a_person_in_a_notch_is_near_its_sides():
    assert pedestrian_distance.closest_pedestrian_distance_min(standing(-1.1, 0.0, 0.0, ARROW)) == pytest.approx(
        np.hypot(0.7, 0.3) - 0.25
    )
    recording = standing(-0.5, 0.0, 0.0, ARROW)
    assert outline.gaps(recording)[0, 0] == pytest.approx(0.4 / np.sqrt(2.0))  # the sides are at 45 degrees


@pytest.mark.parametrize("turn", [0.0, 1.1])
@pytest.mark.parametrize(
    ("place", "velocity", "expected"),
    [
        ((2.4, 0.0), (-1.0, 0.0), 2.4 - 0.4 - 0.25),  # on the front
        ((2.4, 0.15 + 0.2), (-1.0, 0.0), 2.4 - 0.4 - 0.15),  # on a corner: sqrt(0.25^2 - 0.2^2) = 0.15
        ((2.4, 0.15 + 0.26), (-1.0, 0.0), 10.0),  # past it by 1 cm, though into the disc about it
        ((0.1, 1.4), (0.0, -0.5), 2.0),  # on a side
        ((-0.9, 1.4), (0.5, -0.5), 2.0),  # on a side, aslant
        ((0.1, 0.3), (0.0, 1.0), 0.0),  # in it already
        ((2.4, 0.0), (1.0, 0.0), 10.0),
    ],
)
def test_the_time_to_collision_is_until_the_outlines_touch(turn, place, velocity, expected):
    c, s = np.cos(turn), np.sin(turn)
    (x, y), (vx, vy) = place, velocity
    recording = standing(c * x - s * y, s * x + c * y, turn, velocity=(c * vx - s * vy, s * vx + c * vy))
    assert conflict.time_to_collision_min(recording) == pytest.approx(expected)


@pytest.mark.parametrize("corners", [BOX, ARROW])
def test_the_time_to_collision_is_when_the_distance_has_shrunk_to_nothing(corners):
    rng = np.random.default_rng(5)
    for _ in range(40):
        place, heading = rng.uniform(-2, 2, 2), rng.uniform(-3, 3)
        velocity = rng.normal(0, 0.5, 2) - 0.5 * place
        time = conflict.time_to_collision_min(standing(*place, heading, corners, velocity))
        way = place + np.linspace(0.0, min(time, 6.0), 60)[:, None] * velocity
        gaps = [outline.surface_distances(standing(*there, heading, corners))[0, 0] for there in way]
        assert min(gaps[:-1]) > 0.0 or time == 0.0
        assert time in (0.0, 10.0) or gaps[-1] == pytest.approx(0.0, abs=1e-6)


def surroundings():
    cells = np.zeros((60, 90), np.bool_)
    cells[30:34, 40:42] = cells[10, 60] = True
    place = {
        "segments": [[0.3, -1.0, 1.2, 0.7]],
        "discs": [[4.0, 2.0, 0.3]],
        "polygons": (np.array([[-1.0, 2], [-0.4, 2.1], [-0.8, 3.0]]),),
    }
    return Map("crooked", 0.07, (-1.3, -1.9), cells, **place)


@pytest.mark.parametrize("corners", [BOX, ARROW])
def test_the_gap_to_walls_is_that_of_the_nearest_point_of_the_outline(corners):
    place, rng = surroundings(), np.random.default_rng(2)
    share = np.linspace(0.0, 1.0, 401)[:-1, None, None]
    for _ in range(120):
        x, y, heading = rng.uniform(-1.5, 5.0), rng.uniform(-2.0, 2.5), rng.uniform(-3, 3)
        c, s = np.cos(heading), np.sin(heading)
        outline_ = corners @ np.array([[c, s], [-s, c]]) + (x, y)
        samples = (outline_ + share * (np.roll(outline_, -1, axis=0) - outline_)).reshape(-1, 2)
        inner = (x, y) + np.linspace(0.0, 1.0, 20)[:, None, None] * (samples[::10] - (x, y))  # where something is in it
        sampled = min(place.gap(samples).min(), place.gap(inner.reshape(-1, 2)).min())
        exact = place.gap_of(outline_[None])[0]
        assert exact <= sampled + 1e-9 and sampled - exact < 1.3e-3  # half the spacing of the samples


def test_what_is_inside_the_outline_is_touched():
    inner = Map.from_shapes(discs=[[0.1, 0.0, 0.02]], bounds=(-3.0, -2.0, 4.0, 3.0), name="post")
    assert inner.gap_of(BOX[None]).tolist() == [0.0]
    cell = np.zeros((50, 70), np.bool_)
    cell[20, 31] = True  # (0.1, 0) to (0.2, 0.1)
    assert Map("one", 0.1, (-3.0, -2.0), cell).gap_of(BOX[None]).tolist() == [0.0]
    assert Map.open((-3.0, -2.0), (4.0, 3.0)).gap_of(BOX[None]).tolist() == [np.inf]


def test_a_box_beside_a_wall_has_room_where_its_disc_has_none():
    wall = Map.from_shapes(segments=[[-3.0, -2.25, 8.0, -2.25]], bounds=(-3.0, -4.0, 8.0, 3.0), name="wall")
    assert wall_distance.clearing_distance_min(standing(3.0, 3.0, 0.0, place=wall)) == pytest.approx(0.1)
    assert wall_distance.clearing_distance_min(standing(3.0, 3.0, -np.pi / 2, place=wall)) == 0.0
