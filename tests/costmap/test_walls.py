"""The nearest lethal cells of a window, one of every block, against a plain search."""

from __future__ import annotations

import numpy as np
import pytest

from agora.core.jit import device
from agora.costmap.walls import key_count, nearest_walls, walls_around

CELL = 0.07


@device
def found(cost, origin, x, y, reach, most):
    keys, nearest, points = (
        np.empty(key_count(max(cost.shape)), np.int64),
        np.empty(most, np.int64),
        np.empty((most, 2), np.float32),
    )
    count = nearest_walls(cost, origin[0], origin[1], np.float32(CELL), x, y, reach, keys, nearest, points)
    return points[:count]


@device
def all_found(cost, origin, x, y, reach):
    keys = np.empty(key_count(max(cost.shape)), np.int64)
    points = np.empty((keys.size, 2), np.float32)
    count = walls_around(cost, origin[0], origin[1], np.float32(CELL), x, y, reach, keys, points)
    return keys[:count], points[:count]


def plain(cost, origin, x, y, reach, most):
    """The nearest lethal cell of each 3 x 3 about the robot's, in float64."""
    best = {}
    own = np.floor((np.array([y, x]) - origin[::-1]) / CELL)
    for row, column in np.argwhere(cost == 254):
        point = origin + (np.array([column, row]) + 0.5) * CELL - (x, y)
        block = tuple((np.array([row, column]) - own + 1) // 3)
        if np.hypot(*point) < reach and (block not in best or np.hypot(*point) < np.hypot(*best[block])):
            best[block] = point
    return np.array(sorted(best.values(), key=lambda p: np.hypot(*p))[:most]).reshape(-1, 2)


@pytest.mark.parametrize(("reach", "most"), [(9.0, 500), (1.1, 500), (0.9, 7), (0.02, 4)])
def test_the_nearest_cell_of_every_block_is_found_and_unknown_ones_are_no_walls(rng, reach, most):
    cost = rng.choice(np.array([0, 90, 253, 254, 255], np.uint8), (31, 44), p=[0.5, 0.2, 0.1, 0.1, 0.1])
    origin = np.array([-3.21, 1.07], np.float32)
    for x, y in rng.uniform(origin + 0.2, origin + (2.8, 1.9), (8, 2)).astype(np.float32):
        points = found(cost, origin, x, y, np.float32(reach), most)
        expected = plain(cost, origin.astype(float), float(x), float(y), reach, most)
        assert len(points) == len(expected)
        assert np.hypot(*points.T) == pytest.approx(np.hypot(*expected.T), abs=1e-5)


def test_all_walls_are_those_that_the_nearest_are_taken_from_and_keys_sort_them(rng):
    cost = rng.choice(np.array([0, 254], np.uint8), (31, 44), p=[0.7, 0.3])
    origin, x, y = np.array([-3.21, 1.07], np.float32), np.float32(-1.9), np.float32(2.2)
    keys, points = all_found(cost, origin, x, y, np.float32(1.1))
    assert (points[np.argsort(keys)] == found(cost, origin, x, y, np.float32(1.1), 500)).all()


def test_a_window_without_cells_or_walls_has_none():
    origin, x = np.zeros(2, np.float32), np.float32(0.4)
    for cost in (np.zeros((0, 0), np.uint8), np.full((9, 9), 255, np.uint8)):
        assert len(found(cost, origin, x, x, np.float32(3.0), 5)) == len(all_found(cost, origin, x, x, np.float32(3.0))[0]) == 0
