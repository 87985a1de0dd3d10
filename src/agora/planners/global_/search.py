"""Kernels that find shortest paths over cells and pull paths taut, for A*, Dijkstra and the geodesic length."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.jit import hidden, lean_kernel
from agora.core.state import Array, Bools, Doubles, Floats
from agora.costmap.inflation import cost_at

_ONE, _HALF, _ZERO = np.float32(1.0), np.float32(0.5), np.float32(0.0)
_HALF_DIAGONAL = np.float32(math.sqrt(0.5))
FACTOR, LENGTH = 0, 1
AFTER, BEFORE, SLOT, PARENT = 0, 1, 2, 3
_BEYOND = np.float32(math.sqrt(2.0) - 1.0)
_INFINITE = np.float32(np.inf)
_PER_CELL = np.float32(16.0)
_SAMPLES, _TWO, _SLACK = np.float32(4.0), np.float32(2.0), np.float32(1.0001)
_ROWS, _COLUMNS = (0, 0, -1, 1, -1, -1, 1, 1), (-1, 1, 0, 0, -1, 1, -1, 1)
_EDGE = np.float32(1.001)
NO_LAYER: Array = np.zeros((0, 0), np.uint8)
"""Costs of layers if there are no layers."""


@hidden
def _unlink(cell, links, heads):
    """Remove a queued cell from its bucket's list."""
    after, before = links[cell, AFTER], links[cell, BEFORE]
    if before >= 0:
        links[before, AFTER] = after
    else:
        heads[links[cell, SLOT] & (heads.size - 1)] = after
    if after >= 0:
        links[after, BEFORE] = before
    links[cell, SLOT] = -1


@hidden
def _enqueue(cell, key, now, links, heads):
    """Insert a cell at the front of the bucket for its key; return the change in the number of queued cells."""
    more = 1
    if links[cell, SLOT] >= 0:
        _unlink(cell, links, heads)
        more = 0
    slot = max(np.int32(key * _PER_CELL), now)
    bucket = slot & (heads.size - 1)
    after = heads[bucket]
    links[cell, SLOT], links[cell, AFTER], links[cell, BEFORE] = slot, after, -1
    if after >= 0:
        links[after, BEFORE] = cell
    heads[bucket] = cell
    return more


@hidden
def _octile(rows, columns):
    """Return the length, in cells, of a shortest 8-connected path without obstacles."""
    rows, columns = abs(rows), abs(columns)
    return np.float32(max(rows, columns)) + _BEYOND * np.float32(min(rows, columns))


@lean_kernel
def _search(nodes, links, heads, columns, start, goal, exits, guided):
    """Search from a cell; return the cell at which the search ended, or -1 if there is no path.

    The queue is a ring of buckets (Dial 1969), each of which is a last-in, first-out list. A cell whose path improves after it has
    left the queue is queued again, and the search continues to the end of the goal's bucket, so that the result does not depend on
    the width of the buckets.

    Args:
        nodes: (cells, 2) FACTOR: cost per cell length, at least 1, infinite for blocked cells and the whole border; LENGTH: length
            of the path to the cell, in and out, initially infinite.
        links: (cells, 4) links of the buckets' lists, with SLOT initially -1; PARENT: previous cell on the path, out.
        heads: first cell of each bucket, initially -1; the number of buckets is a power of two above the maximum difference between
            queued keys.
        columns: number of columns of the grid.
        start: index of the first cell, row * columns + column; it may be blocked.
        goal: index of the last cell, or -1 for the nearest cell in ``exits``.
        exits: (cells,) whether reaching a cell ends the search.
        guided: whether the octile distance to the goal guides the search (A*); otherwise the search is Dijkstra's.
    """
    around = (-1, 1, -columns, columns, -columns - 1, -columns + 1, columns - 1, columns + 1)
    goal_row, goal_column = goal // columns, goal % columns
    targeted = goal >= 0
    key = _octile(goal_row - start // columns, goal_column - start % columns) if guided else _ZERO
    now = np.int32(key * _PER_CELL)
    nodes[start, LENGTH], links[start, PARENT] = _ZERO, start
    queued = _enqueue(start, key, now, links, heads)
    end = np.int32(-1)
    while queued > 0:
        while heads[now & (heads.size - 1)] < 0:
            now += np.int32(1)
            if end >= 0:
                return goal
        cell = heads[now & (heads.size - 1)]
        _unlink(cell, links, heads)
        queued -= 1
        own, walked = nodes[cell, FACTOR], nodes[cell, LENGTH]
        if not targeted and exits[cell] and (end < 0 or walked < nodes[goal, LENGTH]):
            goal, end = cell, now
        if cell == goal:
            end = now
            continue
        own = own if own < _INFINITE else _ONE
        row, column = np.uint32(cell) // np.uint32(columns), np.uint32(cell) % np.uint32(columns)
        for k in range(8):
            other = cell + around[k]
            factor = nodes[other, FACTOR]
            if factor == _INFINITE:
                continue
            step = _HALF
            if k >= 4:
                beside, above = cell + around[k & 1], cell + around[2 + ((k - 4) >> 1)]
                if nodes[beside, FACTOR] == _INFINITE or nodes[above, FACTOR] == _INFINITE:
                    continue
                step = _HALF_DIAGONAL
            reached = walked + step * (own + factor)
            if reached < nodes[other, LENGTH]:
                key = reached
                if guided:
                    key += _octile(goal_row - np.int32(row) - _ROWS[k], goal_column - np.int32(column) - _COLUMNS[k])
                nodes[other, LENGTH], links[other, PARENT] = reached, cell
                queued += _enqueue(other, key, now, links, heads)
    return goal if end >= 0 else -1


def search(factor: Floats, start: int, goal: int, exits: Bools | None = None, *, guided: bool = True) -> Array | None:
    """Return the indices (K,) of the cells on the cheapest 8-connected path, including both ends, or None if there is no path.

    Diagonal steps do not cut blocked corners. A step costs its length in cells times the mean factor of its two cells. Ties are
    decided by the fixed order of the search, so the result is always the same path.

    Args:
        factor: (rows, columns) float32 cost per cell length, at least 1, infinite for blocked cells. The start may be blocked.
        start: index of the first cell, row * columns + column.
        goal: index of the last cell; -1 for the nearest cell in ``exits``.
        exits: (rows, columns) cells that end the search, if ``goal`` is -1.
        guided: True for A* with the octile distance, False for Dijkstra.
    """
    columns = factor.shape[1] + 2
    nodes, links, heads = _room(factor)
    doors = np.zeros(1, np.bool_) if exits is None else np.pad(exits, 1).ravel()
    first, last = (-1 if n < 0 else (n // (columns - 2) + 1) * columns + n % (columns - 2) + 1 for n in (start, goal))
    end = _search(nodes, links, heads, columns, first, last, doors, guided)
    if end < 0:
        return None
    path = [end]
    while path[-1] != first:
        path.append(links[path[-1], PARENT])
    numbers: Array = np.array(path[::-1], np.int64)
    return np.asarray((numbers // columns - 1) * (columns - 2) + numbers % columns - 1)


def costs_from(factor: Floats, start: int, until: Bools) -> Floats:
    """Return the costs (rows, columns) of the cheapest paths, as in `search`, from a cell to all cells that are closer than the
    nearest cell in ``until``.

    Cells that are farther away get the cost of the nearest cell in ``until``, which is a lower bound on their own cost. Blocked and
    unreachable cells have an infinite cost.

    Args:
        factor: (rows, columns) float32 cost per cell length, at least 1, infinite for blocked cells. The start may be blocked.
        start: index of the first cell, row * columns + column.
        until: (rows, columns) cells that end the search, which stops when it reaches the first of them.
    """
    rows, columns = factor.shape
    nodes, links, heads = _room(factor)
    first = (start // columns + 1) * (columns + 2) + start % columns + 1
    end = _search(nodes, links, heads, columns + 2, first, -1, np.pad(until, 1).ravel(), False)
    costs = nodes.reshape(rows + 2, columns + 2, 2)[1:-1, 1:-1, LENGTH]
    return costs if end < 0 else np.where(np.isfinite(factor), np.minimum(costs, nodes[end, LENGTH]), costs)


def _room(factor: Floats) -> tuple[Floats, Array, Array]:
    """Return the arrays for a search: the cells with a blocked border, their lists, and the buckets."""
    rows, columns = factor.shape[0] + 2, factor.shape[1] + 2
    nodes = np.full((rows, columns, 2), np.inf, np.float32)
    nodes[1:-1, 1:-1, FACTOR] = factor
    dearest = float(np.max(factor, initial=1.0, where=np.isfinite(factor)))
    heads = np.full(1 << int(2.0 * (dearest + 1.0) * float(_PER_CELL) + 1.0).bit_length(), -1, np.int32)
    return nodes.reshape(-1, 2), np.full((rows * columns, 4), -1, np.int32), heads


def centres(numbers: Array, columns: int) -> Doubles:
    """Return the positions (x, y) of cells, (K, 2), in cells from the centre of cell [0, 0]."""
    return np.stack((numbers % columns, numbers // columns), axis=1).astype(np.float64)


def path_to_free_cell(clearance: Floats, resolution: float, start: int, free: Bools) -> Array | None:
    """Return the indices (K,) of the cells on the shortest path, around obstacles, from a cell to the nearest free cell, or None.

    Args:
        clearance: (rows, columns) clearance, m.
        resolution: length of a cell, m.
        start: index of the first cell, row * columns + column.
        free: (rows, columns) cells where the path may end.
    """
    return search(np.where(clearance > 0.5 * resolution, np.float32(1.0), np.float32(np.inf)), start, -1, free, guided=False)


class Ends(NamedTuple):
    """The ends of a path among the cells.

    Attributes:
        first: index of the first free cell, row * columns + column.
        last: index of the goal's cell.
        lead: (K, 2) points, in cells, from a start that is not in a free cell to the first free cell, excluding the first free cell
            itself; empty if the start is free.
    """

    first: int
    last: int
    lead: Doubles


def ends_of(clearance: Floats, resolution: float, ends: Doubles, free: Bools) -> Ends | None:
    """Return the cells of a start and a goal. If the start's cell is not free, the path first leads around obstacles to the nearest
    free cell.

    Return None if the start or goal is outside the map, the goal's cell is not free, or no path leads from the start to a free
    cell.

    Args:
        clearance: (rows, columns) clearance, m.
        resolution: length of a cell, m.
        ends: (2, 2) start and goal in cells from the centre of cell [0, 0].
        free: (rows, columns) cells that a path may use.
    """
    rows, columns = clearance.shape
    cells = np.floor(ends + 0.5).astype(np.int64)
    if not ((cells >= 0) & (cells < (columns, rows))).all():
        return None
    first, last = (int(y * columns + x) for x, y in cells)
    if not free.flat[last]:
        return None
    if free.flat[first]:
        return Ends(first, last, np.zeros((0, 2)))
    way = path_to_free_cell(clearance, resolution, first, free)
    return None if way is None else Ends(int(way[-1]), last, np.vstack((ends[:1], centres(way[1:-1], columns))))


@lean_kernel
def cell_factors(clearance, layer, least, radius, share, inflation_radius, scaling, out):
    """Write the factor of each cell: infinite if the clearance is not above ``least``, else 1 + share * cost.

    The cost is the higher of the inflated cost and the cost in ``layer``, which is (rows, columns) uint8, or of shape (0, 0).
    """
    layered = layer.size > 0
    for row in range(clearance.shape[0]):
        for column in range(clearance.shape[1]):
            d = clearance[row, column]
            cost = cost_at(d, _ZERO, radius, inflation_radius, scaling)
            if layered:
                cost = max(cost, np.float32(layer[row, column]))
            out[row, column] = _ONE + share * cost if d > least else _INFINITE


@hidden
def _line_cost(clearance, layer, x0, y0, x1, y1, least, radius, share, inflation_radius, scaling):
    """Return the cost of a straight line, in cells; infinite if the interpolated clearance does not stay above ``least``."""
    rows, columns = clearance.shape
    layered = layer.size > 0
    dx, dy = x1 - x0, y1 - y0
    long = math.sqrt(dx * dx + dy * dy)
    count = int(np.ceil(long * _SAMPLES)) + 1
    total = _ZERO
    for i in range(count):
        t = (np.float32(i) + _HALF) / np.float32(count)
        u = min(max(x0 + t * dx, _ZERO), np.float32(columns) - _EDGE)
        v = min(max(y0 + t * dy, _ZERO), np.float32(rows) - _EDGE)
        c, r = int(u), int(v)
        a, b = u - np.float32(c), v - np.float32(r)
        lower = clearance[r, c] * (_ONE - a) + clearance[r, c + 1] * a
        upper = clearance[r + 1, c] * (_ONE - a) + clearance[r + 1, c + 1] * a
        d = lower * (_ONE - b) + upper * b
        if not d > least:
            return _INFINITE
        if share == _ZERO:
            total += _ONE
            continue
        cost = cost_at(d, _ZERO, radius, inflation_radius, scaling)
        if layered:
            cost = max(cost, np.float32(layer[int(v + _HALF), int(u + _HALF)]))
        total += _ONE + share * cost
    return total * long / np.float32(count)


@lean_kernel
def _is_line_free(clearance, ends, least):
    p, q = ends[0], ends[1]
    return _line_cost(clearance, NO_LAYER, p[0], p[1], q[0], q[1], least, _ZERO, _ZERO, _ZERO, _ZERO) < _INFINITE


def is_line_free(clearance: Floats, ends: Doubles, least: float) -> bool:
    """Return whether the clearance (rows, columns), m, interpolated between cells, is above ``least`` all along a line (2, 2), in
    cells.
    """
    return bool(_is_line_free(clearance, ends.astype(np.float32), np.float32(least)))


@lean_kernel
def _pull(clearance, layer, points, least, radius, share, inflation_radius, scaling, behind, keep):
    """Mark in ``keep`` the points of a path that remain when each part that is no cheaper than a straight line is replaced with
    that line.
    """
    count = len(points)
    behind[0] = _ZERO
    for i in range(1, count):
        p, q = points[i - 1], points[i]
        cost = _line_cost(clearance, layer, p[0], p[1], q[0], q[1], least, radius, share, inflation_radius, scaling)
        dx, dy = q[0] - p[0], q[1] - p[1]
        behind[i] = behind[i - 1] + (cost if cost < _INFINITE else _TWO * math.sqrt(dx * dx + dy * dy))
    anchor = 0
    keep[0] = True
    while anchor < count - 1:
        reached, misses, j = anchor + 1, 0, anchor + 2
        while j < count and misses < 16:
            p, q = points[anchor], points[j]
            cost = _line_cost(clearance, layer, p[0], p[1], q[0], q[1], least, radius, share, inflation_radius, scaling)
            if cost <= (behind[j] - behind[anchor]) * _SLACK:
                reached, misses = j, 0
            else:
                misses += 1
            j += 1
        keep[reached] = True
        anchor = reached


def pull(
    clearance: Floats,
    points: Doubles,
    least: float,
    radius: float = 0.0,
    share: float = 0.0,
    inflation_radius: float = 0.0,
    scaling: float = 1.0,
    layer: Array = NO_LAYER,
) -> Doubles:
    """Return a path (K, 2) in which parts are replaced with straight lines that cost no more and have sufficient clearance.

    Args:
        clearance: (rows, columns) clearance, m.
        points: (K, 2) points in cells from the centre of cell [0, 0], x before y.
        least: clearance that must be exceeded, m.
        radius: inscribed radius for the inflated cost, m.
        share: weight of the inflated cost relative to length; 0 to use the length alone.
        inflation_radius: distance beyond which an obstacle has no cost, m.
        scaling: rate at which the cost of an obstacle decays with distance, 1/m.
        layer: (rows, columns) uint8 additional costs, or an array of shape (0, 0).
    """
    behind, keep = np.empty(len(points), np.float32), np.zeros(len(points), np.bool_)
    numbers = (np.float32(v) for v in (least, radius, share, inflation_radius, scaling))
    _pull(clearance, layer, points.astype(np.float32), *numbers, behind, keep)
    return points[keep]


@lean_kernel
def tighten(clearance, points, least, sweeps):
    """Move the inner points of a path (K, 2), in place, towards the midpoints of their neighbours, as far as the clearance
    allows.
    """
    for _ in range(sweeps):
        moved = False
        for i in range(1, len(points) - 1):
            ax, ay, bx, by = points[i - 1, 0], points[i - 1, 1], points[i + 1, 0], points[i + 1, 1]
            share = _ONE
            for _ in range(6):
                x = points[i, 0] + share * (_HALF * (ax + bx) - points[i, 0])
                y = points[i, 1] + share * (_HALF * (ay + by) - points[i, 1])
                there = _line_cost(clearance, NO_LAYER, ax, ay, x, y, least, _ZERO, _ZERO, _ZERO, _ZERO)
                if there + _line_cost(clearance, NO_LAYER, x, y, bx, by, least, _ZERO, _ZERO, _ZERO, _ZERO) < _INFINITE:
                    moved |= x != points[i, 0] or y != points[i, 1]
                    points[i, 0], points[i, 1] = x, y
                    break
                share *= _HALF
        if not moved:
            return


def resample(points: Doubles, spacing: float) -> Doubles:
    """Return a polyline (K, 2) with points added so that they are at most ``spacing`` apart; the original points are kept."""
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    parts = np.maximum(np.ceil(steps / spacing - 1e-6), 1).astype(np.int64)
    knots = np.concatenate([[0], np.cumsum(parts)])
    return np.stack([np.interp(np.arange(knots[-1] + 1), knots, points[:, axis]) for axis in (0, 1)], axis=1)
