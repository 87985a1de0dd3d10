"""The cell list against what it means."""

from __future__ import annotations

import numpy as np
import pytest

from agora.core.cells import cell_at, extent, index_in, key_of, run, select_nearest, sort_into_cells
from agora.core.jit import kernel

F = np.float32


@kernel
def _sorted(x, y, active, count, size, starts, order, blocks, sizes):
    """Sort, write the 3 x 3 neighbourhood of every slot into the rows of ``blocks``, and return the shape of the grid."""
    cells = sort_into_cells(extent(x, y, active, count), x, y, active, count, size, starts, order)
    for i in range(count):
        sizes[i] = 0
        if active[i]:
            column, row = cell_at(cells, x[i], y[i])
            for r in range(row - 1, row + 2):
                begin, end = run(cells, starts, r, column - 1, column + 1)
                for k in range(begin, end):
                    blocks[i, sizes[i]] = order[k]
                    sizes[i] += 1
    return cells.columns, cells.rows, cells.size


@kernel
def _select(squared, index, keys, nearest):
    for k in range(squared.size):
        keys[k] = key_of(squared[k], index[k])
    kept = select_nearest(keys, squared.size, nearest)
    for n in range(kept):
        nearest[n] = index_in(nearest[n])
    return kept


def _sort(x, y, active, size, cells=200):
    slots = len(x)
    starts, order = np.full(cells + 1, -7, np.int32), np.full(slots, -7, np.int32)
    blocks, sizes = np.full((slots, slots), -1, np.int32), np.zeros(slots, np.int32)
    columns, rows, size = _sorted(x.astype(F), y.astype(F), active, slots, F(size), starts, order, blocks, sizes)
    return columns, rows, size, starts, order, [set(b[:n].tolist()) for b, n in zip(blocks, sizes, strict=True)]


def _cloud(rng, slots=90):
    active = rng.random(slots) < 0.8
    return rng.uniform(-7.0, 31.0, slots), rng.normal(100.0, 4.0, slots), active


def test_every_active_slot_is_listed_once_and_in_rising_order_within_a_cell(rng):
    x, y, active = _cloud(rng)
    columns, rows, _, starts, order, _ = _sort(x, y, active, 2.3)
    total = starts[columns * rows]
    assert total == active.sum()
    assert sorted(order[:total]) == np.flatnonzero(active).tolist()
    for c in range(columns * rows):
        members = order[starts[c] : starts[c + 1]]
        assert (np.diff(members) > 0).all()


def test_all_within_a_cells_size_are_in_the_nine_cells_about(rng):
    x, y, active = _cloud(rng)
    *_, blocks = _sort(x, y, active, 2.3)
    distance = np.hypot(x[:, None] - x, y[:, None] - y)
    for i in np.flatnonzero(active):
        near = set(np.flatnonzero((distance[i] < 2.299) & active).tolist())
        assert near <= blocks[i]
        assert all(abs(x[j] - x[i]) < 4.61 and abs(y[j] - y[i]) < 4.61 for j in blocks[i])


def test_what_inactive_slots_hold_does_not_matter(rng):
    x, y, active = _cloud(rng)
    once = _sort(x, y, active, 2.3)
    x[~active], y[~active] = 1e9, -3e8
    again = _sort(x, y, active, 2.3)
    assert once[:3] == again[:3]
    assert once[5] == again[5]


def test_cells_grow_where_there_would_be_too_many():
    x, y = np.array([0.0, 1e7, 3.0, -2e6]), np.array([5.0, 1.0, 5.5, 9e6])
    columns, rows, size, starts, _, blocks = _sort(x, y, np.ones(4, bool), 0.5, cells=20)
    assert columns * rows <= 20
    assert size > 0.5
    assert starts[columns * rows] == 4
    assert 2 in blocks[0]


@pytest.mark.parametrize("count", [0, 1, 5])
def test_pedestrians_in_one_place_make_one_cell(count):
    active = np.arange(6) < count
    columns, rows, _, starts, _, blocks = _sort(np.full(6, 3.3), np.full(6, -1.2), active, 1.0, cells=1)
    assert (columns, rows, starts[1]) == (1, 1, count)
    assert all(blocks[i] == (set(range(count)) if i < count else set()) for i in range(6))


@pytest.mark.parametrize(("count", "most"), [(0, 3), (1, 3), (16, 16), (17, 5), (40, 10), (5, 0)])
def test_the_nearest_are_selected_by_distance_then_by_index_in_any_order(rng, count, most):
    squared = rng.integers(0, 12, count).astype(F) / F(3.0)
    index = rng.permutation(count)
    expected = index[np.lexsort((index, squared))][:most]
    nearest, keys = np.full(most, -1), np.zeros(count + 15, np.int64)
    kept = _select(squared, index, keys, nearest)
    assert kept == min(count, most)
    assert nearest[:kept].tolist() == expected.tolist()
