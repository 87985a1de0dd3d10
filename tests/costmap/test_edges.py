"""The straight edges of a window's lethal cells, against a plain search edge by edge."""

from __future__ import annotations

import numpy as np
import pytest

from agora.core.cells import index_in
from agora.core.jit import device
from agora.costmap.edges import most_edges, nearest_edges

CELL = 0.07
ORIGIN = np.array([-3.21, 1.07], np.float32)


@device
def found(cost, origin, x, y, reach):
    room = most_edges(max(cost.shape))
    keys, nearest, edges = np.empty(room, np.int64), np.empty(room, np.int64), np.empty((room, 4), np.float32)
    count = nearest_edges(cost, origin[0], origin[1], np.float32(CELL), x, y, reach, keys, nearest, edges)
    return edges[np.array([index_in(key) for key in nearest[:count]], np.int64)]


def plain(cost):
    """Edges (row, column) to (row, column) of the lattice: sides of one lethal cell alone, joined while one follows the other."""
    sides, rows, columns = set(), *cost.shape
    for row, column in map(tuple, np.argwhere(cost == 254).tolist()):
        for side in (
            ((row, column), (row, column + 1)),
            ((row + 1, column), (row + 1, column + 1)),
            ((row, column), (row + 1, column)),
            ((row, column + 1), (row + 1, column + 1)),
        ):
            sides ^= {side}
    inner = {
        (a, b) for a, b in sides if not (a[0] == b[0] and a[0] in (0, rows)) and not (a[1] == b[1] and a[1] in (0, columns))
    }  # the window's own sides: nobody knows what is beyond
    joined = []
    for a, b in sorted(inner):
        step = (b[0] - a[0], b[1] - a[1])
        if ((a[0] - step[0], a[1] - step[1]), a) in inner:
            continue
        while (b, (b[0] + step[0], b[1] + step[1])) in inner:
            b = (b[0] + step[0], b[1] + step[1])
        joined.append((a[1], a[0], b[1], b[0]))
    return np.array(joined, float).reshape(-1, 4)


def distances(edges):
    """From (0, 0) to edges (n, 4), m."""
    a, along = edges[:, :2], edges[:, 2:] - edges[:, :2]
    share = np.clip(-(a * along).sum(1) / (along**2).sum(1), 0.0, 1.0)
    return np.hypot(*(a + share[:, None] * along).T)


@pytest.mark.parametrize("walls", [0.04, 0.3, 0.6])
@pytest.mark.parametrize("reach", [9.0, 0.9, 0.15])
def test_sides_in_one_line_are_one_edge_and_the_nearest_comes_first(rng, reach, walls):
    free = (1.0 - walls) / 4
    cost = rng.choice(np.array([0, 90, 253, 254, 255], np.uint8), (31, 44), p=[free, free, free, walls, free])
    whole = plain(cost)
    for x, y in rng.uniform(ORIGIN + 0.2, ORIGIN + (2.8, 1.9), (8, 2)).astype(np.float32):
        edges = found(cost, ORIGIN, x, y, np.float32(reach)).astype(float)
        expected = whole * CELL + np.tile(ORIGIN.astype(float) - (x, y), 2)
        expected = expected[distances(expected) < reach]
        order, other = np.lexsort(np.round(edges, 3).T), np.lexsort(np.round(expected, 3).T)
        assert edges[order] == pytest.approx(expected[other], abs=1e-5)
        assert (np.diff(distances(edges)) > -1e-6).all()


def test_cells_that_alternate_have_the_most_edges_and_all_have_room():
    cost = (np.indices((9, 9)).sum(0) % 2 * 254).astype(np.uint8)
    edges = found(cost, np.zeros(2, np.float32), np.float32(0.3), np.float32(0.2), np.float32(50.0))
    assert len(edges) == len(plain(cost)) == 16  # of the lines between cells each is an edge from end to end
    stripes = np.zeros((9, 9), np.uint8)
    stripes[1::2, ::2] = 254
    edges = found(stripes, np.zeros(2, np.float32), np.float32(0.3), np.float32(0.2), np.float32(50.0))
    assert len(edges) == len(plain(stripes)) == 8 * 5 + 4 * 8


def test_a_wall_across_the_window_is_two_edges_that_end_with_the_window():
    cost = np.zeros((20, 30), np.uint8)
    cost[12:14] = 254
    x, y = np.float32(-1.9), np.float32(1.5)
    edges = found(cost, ORIGIN, x, y, np.float32(5.0)).astype(float) + np.tile([x, y], 2)
    left, right = ORIGIN[0], ORIGIN[0] + 30 * CELL
    expected = [[left, ORIGIN[1] + k * CELL, right, ORIGIN[1] + k * CELL] for k in (12, 14)]
    assert edges == pytest.approx(np.array(expected), abs=1e-5)


def test_a_window_without_cells_or_walls_or_of_walls_alone_has_no_edges():
    x = np.float32(0.4)
    for cost in (np.zeros((0, 0), np.uint8), np.full((9, 9), 255, np.uint8), np.full((9, 9), 254, np.uint8)):
        assert len(found(cost, ORIGIN, x, x, np.float32(9.0))) == 0
