"""Neighbour search in the plane with a uniform grid: sorts the pedestrians of one world into cells, using scratch arrays that the
caller provides.

Slots are listed row by row and cell by cell, in ascending order within a cell. Adjacent cells in a row are therefore one contiguous
run in the list: the 3 x 3 neighbourhood of a cell consists of three runs, and a ring of any width also consists of runs. Inactive
slots have no influence. Positions may lie anywhere: the grid covers their bounding box, and its cells become larger if there would
be too many.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agora.core.jit import part
from agora.core.scalar import ONE, ZERO

_GROWTH = np.float32(1.25)
_FAR = np.float32(3e38)
_SHIFT, _INDEX, _LAST = np.int64(32), np.int64(0xFFFFFFFF), np.int64(2**63 - 1)
_ALL, _ONE = np.uint64(2**64 - 1), np.uint64(1)
_LANES = 16


class Cells(NamedTuple):
    """A grid of cells over one world.

    Attributes:
        x: lower-left corner, x, m.
        y: lower-left corner, y, m.
        size: edge of a cell, m.
        columns: number of columns.
        rows: number of rows.
    """

    x: np.float32
    y: np.float32
    size: np.float32
    columns: np.int64
    rows: np.int64


@part
def extent(x, y, active, count):
    """Bounding box (x, y, width, height), m, of the active slots below ``count``, and the number of these slots; all values are 0
    if there are no such slots.
    """
    x0, y0, x1, y1 = _FAR, _FAR, -_FAR, -_FAR
    found = 0
    for j in range(count):
        if active[j]:
            x0, x1 = min(x0, x[j]), max(x1, x[j])
            y0, y1 = min(y0, y[j]), max(y1, y[j])
            found += 1
    if found == 0:
        x0, y0, x1, y1 = ZERO, ZERO, ZERO, ZERO
    return x0, y0, x1 - x0, y1 - y0, found


@part
def cell_at(cells, x, y):
    """Column and row of the cell that contains a point; for points outside the grid, of the nearest cell."""
    column = min(max((x - cells.x) / cells.size, ZERO), np.float32(cells.columns - 1))
    row = min(max((y - cells.y) / cells.size, ZERO), np.float32(cells.rows - 1))
    return np.int64(column), np.int64(row)


@part
def sort_into_cells(box, x, y, active, count, size, starts, order):
    """Sort the active slots below ``count`` of one world into cells.

    Args:
        box: `extent` of the slots.
        x: (P,) positions, m.
        y: (P,) positions, m.
        active: (P,) whether each slot is in use.
        count: number of slots considered; later slots are ignored.
        size: minimum edge length of a cell, m, above 0.
        starts: (C + 1,) int32, C at least 1, written: the slots of cell c = row * columns + column are ``order[starts[c]:starts[c +
            1]]``; there are never more than C cells, regardless of ``size``.
        order: (P,) int32, written: slots, sorted by cell.

    Returns:
        The `Cells`.
    """
    x0, y0, width, height, found = box
    most = np.float32(starts.size - 1)
    while np.floor(width / size + ONE) * np.floor(height / size + ONE) > most:
        size *= _GROWTH
    cells = Cells(x0, y0, size, np.int64(width / size) + np.int64(1), np.int64(height / size) + np.int64(1))
    total = cells.columns * cells.rows
    starts[: total + 1] = 0
    for j in range(count):
        if active[j]:
            column, row = cell_at(cells, x[j], y[j])
            starts[row * cells.columns + column] += 1
    ends = 0
    for c in range(total):
        ends += starts[c]
        starts[c] = ends
    starts[total] = found
    for back in range(count):
        j = count - 1 - back
        if active[j]:
            column, row = cell_at(cells, x[j], y[j])
            c = row * cells.columns + column
            starts[c] -= 1
            order[starts[c]] = j
    return cells


@part
def run(cells, starts, row, first, last):
    """Bounds (begin, end) in ``order`` of the slots in columns first..last of a row; parts outside the grid contain no slots."""
    first, last = max(first, 0), min(last, cells.columns - 1)
    if row < 0 or row >= cells.rows or first > last:
        return 0, 0
    base = row * cells.columns
    return starts[base + first], starts[base + last + 1]


@part
def key_of(squared, index):
    """A squared distance, m2, and an index below 2**32, packed into one integer. Keys sort by distance, then by index; no two keys
    are equal.
    """
    return (np.int64(np.float32(squared).view(np.int32)) << _SHIFT) | np.int64(index)


@part
def index_in(key):
    """The index that a key contains."""
    return key & _INDEX


@part
def select_nearest(keys, found, nearest):
    """Write the smallest keys in sorted order; the result does not depend on the order of the input.

    Args:
        keys: (N,) int64, the first ``found`` in use; the rest of the last block of 16 is overwritten, so N must leave room for 15
            more.
        found: number of keys.
        nearest: (K,) int64, written.

    Returns:
        The number of keys written: the smaller of ``found`` and K.
    """
    end = (found + _LANES - 1) // _LANES * _LANES
    for k in range(found, end):
        keys[k] = _LAST
    kept = min(found, nearest.size)
    above = np.uint64(0)
    for n in range(kept):
        best = _ALL  # the smallest of the keys from ``above`` on: smaller keys wrap around
        for k in range(end):
            best = min(best, np.uint64(keys[k]) - above)
        nearest[n] = np.int64(above + best)
        above += best + _ONE
    return kept
