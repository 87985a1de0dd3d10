"""A way leads round obstacles, fits the disc that walks it, and is not much longer than the shortest."""

from __future__ import annotations

import numpy as np
import pytest
from tests import places

from agora.maps.grid import Map
from agora.maps.ways import along, length_of, way


def test_in_sight_the_way_is_straight():
    found = way(places.rooms(), 0.3, (-2.0, 3.0), (1.0, 5.0))
    assert found == pytest.approx(np.array([[-2.0, 3.0], [1.0, 5.0]]))


def test_behind_a_wall_the_way_leads_through_the_gap():
    # The wall at x = 2.8 ... 3.1 is open from y = 5.7 to y = 7.7.
    found = way(places.rooms(), 0.3, (1.0, 2.5), (5.0, 2.5))
    assert found is not None
    crossing = [along(found, d) for d in np.arange(0.0, length_of(found), 0.05)]
    at_wall = [p for p in crossing if 2.8 <= p[0] <= 3.1]
    assert at_wall and all(5.7 < y < 7.7 for _, y in at_wall)
    assert (places.rooms().clearance_at(np.array(crossing)) >= 0.3 - 0.05).all()
    corner = np.hypot(2.0, 5.7 + 0.3 - 2.5)
    assert 2 * corner < length_of(found) < 1.3 * 2 * corner, "round the corner, and not much farther"


def test_there_is_no_way_into_a_closed_room():
    closed = Map.from_shapes(
        segments=[(2.0, -1.0, 5.0, -1.0), (5.0, -1.0, 5.0, 2.0), (5.0, 2.0, 2.0, 2.0), (2.0, 2.0, 2.0, -1.0)],
        bounds=(-7.0, -3.5, 9.0, 8.5),
        resolution=0.1,
        name="crooked",
    )
    assert way(closed, 0.3, (-2.0, 0.0), (3.5, 0.5)) is None


def test_along_a_way_one_gets_from_its_beginning_to_its_end_and_no_farther():
    points = np.array([[1.0, 0.0], [1.0, 2.0], [4.0, 2.0]])
    assert length_of(points) == 5.0
    assert along(points, 0.0) == pytest.approx((1.0, 0.0))
    assert along(points, 3.0) == pytest.approx((2.0, 2.0))
    assert along(points, 9.0) == pytest.approx((4.0, 2.0))
