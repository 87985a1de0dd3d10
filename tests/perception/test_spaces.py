"""The room of a group: circles, hulls and o-spaces."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agora.pedestrians.shared.formations import formation
from agora.perception import spaces


def test_the_circle_reaches_to_the_farthest_member_who_is_there():
    position = np.array([[[1.0, 2.0], [3.0, 2.0], [50.0, 50.0], [2.0, 5.0]]])
    present = np.array([[True, True, False, True]])
    centre, radius = spaces.circle(position, present)
    assert centre[0] == pytest.approx([2.0, 3.0])
    assert radius[0] == pytest.approx(2.0)
    assert spaces.circle(position, np.zeros((1, 4), bool))[1][0] == -np.inf


def test_a_hull_is_counter_clockwise_and_has_no_corner_too_many():
    points = np.array([[0.0, 0.0], [4.0, 1.0], [2.0, 0.5], [1.0, 3.0], [1.5, 1.0], [4.0, 1.0]])
    assert spaces.hull(points).tolist() == [[0.0, 0.0], [4.0, 1.0], [1.0, 3.0]]
    assert spaces.hull(points[:1]).tolist() == [[0.0, 0.0]]
    assert len(spaces.hull(np.array([[0.0, 0.0], [2.0, 1.0], [4.0, 2.0]]))) == 2


def test_the_distance_to_a_triangle_by_hand():
    members = np.tile(np.array([[1.0, 1.0], [5.0, 1.0], [1.0, 4.0]]), (5, 1, 1))
    points = np.array([[2.0, 2.0], [3.0, -1.0], [0.0, 0.0], [5.0, 5.0], [0.4, 2.0]])
    distance = spaces.hull_distance(members, np.ones((5, 3), bool), points)
    # inside; below the base; off a corner; 12 / 5 - ... from the slanted side 3x + 4y = 19: |15 + 20 - 19| / 5; left of the wall
    assert distance == pytest.approx([0.0, 2.0, np.sqrt(2.0), 16 / 5, 0.6])
    two = np.broadcast_to([True, True, False], (5, 3))
    assert spaces.hull_distance(members, two, points)[:2] == pytest.approx([1.0, 2.0])
    assert spaces.hull_distance(members, np.zeros((5, 3), bool), points)[0] == np.inf


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(3, 7))
def test_the_distance_agrees_with_shapely(seed, count):
    from shapely import MultiPoint, Point

    rng = np.random.default_rng(seed)
    members, points = rng.normal(0.0, 2.0, (1, count, 2)) + (7.0, -3.0), rng.normal(0.0, 3.0, (20, 2)) + (7.0, -3.0)
    present = np.ones((20, count), bool)
    shape = MultiPoint(members[0]).convex_hull
    expected = [shape.distance(Point(p)) for p in points]
    assert spaces.hull_distance(np.repeat(members, 20, 0), present, points) == pytest.approx(expected, abs=1e-9)
    assert np.array(shape.exterior.coords[:-1]).shape == spaces.hull(members[0]).shape


@pytest.mark.parametrize("count", [2, 4, 6])
def test_the_o_space_of_a_formation_is_where_it_was_put(count):
    position, heading = formation("circle", count, (2.5, -4.0, 1.1))
    centre, radius = spaces.o_space(position, heading)
    assert centre == pytest.approx([2.5, -4.0], abs=1e-6)
    assert radius == pytest.approx(np.hypot(*(position[0] - centre)))
