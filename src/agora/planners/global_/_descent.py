"""Paths that descend a potential: along its gradient in steps of half a cell, or from cell to cell, as in navfn and
global_planner.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import hidden, lean_kernel
from agora.core.scalar import HALF, ONE, ZERO
from agora.core.state import Doubles, Floats
from agora.planners.global_.potential import EDGE, UNREACHED

_AROUND = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))


@hidden
def _lowest_neighbour(potential, cell, columns):
    """Return the neighbour with the lowest potential among the eight, or the cell itself if none is lower. Diagonal steps between
    two unreached cells are excluded.
    """
    lowest, least = cell, potential[cell]
    for row, column in _AROUND:
        beside, above = potential[cell + column], potential[cell + row * columns]
        if row != 0 and column != 0 and beside >= UNREACHED and above >= UNREACHED:
            continue
        other = cell + row * columns + column
        if potential[other] < least:
            lowest, least = other, potential[other]
    return lowest


@hidden
def _is_at_edge(potential, cell, columns):
    """Return whether a cell or one of its eight neighbours has not been reached by the wave."""
    unreached = potential[cell] >= UNREACHED
    for row, column in _AROUND:
        unreached |= potential[cell + row * columns + column] >= UNREACHED
    return unreached


@hidden
def _slope(low, middle, high):
    """Return the slope of the descent along an axis; it is halved if one neighbour is unreached."""
    before = low - middle if low < UNREACHED else ZERO
    return before + (middle - high if high < UNREACHED else ZERO)


@hidden
def _direction(potential, cell, columns):
    """Return the unit vector of the descent direction at a reached cell, or zero."""
    middle = potential[cell]
    x = _slope(potential[cell - 1], middle, potential[cell + 1])
    y = _slope(potential[cell - columns], middle, potential[cell + columns])
    long = math.sqrt(x * x + y * y)
    return (x / long, y / long) if long > ZERO else (ZERO, ZERO)


@lean_kernel
def _descend(potential, columns, begin, end, grid, out):
    """Write the path from ``begin`` down to ``end``, in cells of the arrays; return the number of its points, or 0 on failure.

    Args:
        potential: (cells,) potential, with a border of two unreached cells around the map.
        columns: number of columns of the arrays.
        begin: (2,) first point.
        end: (2,) last point, within one cell of every source.
        grid: whether the path only moves from cell to cell, in which case the descent cannot fail.
        out: (K, 2) points.
    """
    column, row = np.int64(begin[0]), np.int64(begin[1])
    dx, dy = begin[0] - np.float32(column), begin[1] - np.float32(row)
    cell = row * columns + column
    for k in range(len(out)):
        x, y = np.float32(cell % columns) + dx, np.float32(cell // columns) + dy
        if abs(x - end[0]) < HALF and abs(y - end[1]) < HALF:
            out[k, 0], out[k, 1] = end[0], end[1]
            return k + 1
        out[k, 0], out[k, 1] = x, y
        again = k >= 2 and out[k - 2, 0] == x and out[k - 2, 1] == y
        u, v = ZERO, ZERO
        if not (grid or again or _is_at_edge(potential, cell, columns)):
            a, b = _direction(potential, cell, columns), _direction(potential, cell + 1, columns)
            c, d = _direction(potential, cell + columns, columns), _direction(potential, cell + columns + 1, columns)
            u = (ONE - dy) * ((ONE - dx) * a[0] + dx * b[0]) + dy * ((ONE - dx) * c[0] + dx * d[0])
            v = (ONE - dy) * ((ONE - dx) * a[1] + dx * b[1]) + dy * ((ONE - dx) * c[1] + dx * d[1])
        if u == ZERO and v == ZERO:
            lower = _lowest_neighbour(potential, cell, columns)
            if lower == cell:
                at_source = abs(x - end[0]) <= ONE and abs(y - end[1]) <= ONE and k + 1 < len(out)
                if at_source:
                    out[k + 1, 0], out[k + 1, 1] = end[0], end[1]
                return k + 2 if at_source else 0
            cell, dx, dy = lower, ZERO, ZERO
            continue
        step = HALF / math.sqrt(u * u + v * v)
        dx, dy = dx + u * step, dy + v * step
        if abs(dx) > ONE:
            cell, dx = (cell + 1, dx - ONE) if dx > ZERO else (cell - 1, dx + ONE)
        if abs(dy) > ONE:
            cell, dy = (cell + columns, dy - ONE) if dy > ZERO else (cell - columns, dy + ONE)
    return 0


def descend(potential: Floats, begin: Doubles, end: Doubles, grid: bool) -> Doubles | None:
    """Return the path (K, 2) that descends a potential, or None if it ends in a local minimum.

    Each step follows the gradient, interpolated between four cells. Next to cells without a potential, or if the gradient is zero
    or makes the path jump back and forth, the step goes to the lowest of the eight neighbours instead. If following the gradient
    leads in a circle, the whole path moves from cell to cell.

    Args:
        potential: (rows + 2 EDGE, columns + 2 EDGE) potential, as returned by `spread`.
        begin: (2,) first point, x and y in cells from the centre of the map's cell [0, 0].
        end: (2,) last point, in the same form.
        grid: whether the path only moves from cell to cell.
    """
    ends = ((begin + EDGE).astype(np.float32), (end + EDGE).astype(np.float32))
    for only_cells in (False, True)[int(grid) :]:
        out = np.empty((2 * potential.size, 2), np.float32)
        count = _descend(potential.reshape(-1), potential.shape[1], *ends, only_cells, out)
        if count:
            return out[:count].astype(np.float64) - EDGE
    return None
