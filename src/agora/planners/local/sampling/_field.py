"""Distances to the goal through free space, in the window of a local costmap; the sampling planner uses them to rate positions.

The original computes the distance on the whole map by fast marching. This module solves the same equation, |grad D| = 1, in the
window by sweeps over its cells (Zhao, "A fast sweeping method for Eikonal equations", Mathematics of Computation 74, 2005). The
sweeps start from the point where the global path leaves the window or ends, and the length of the rest of the path is added.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import hidden
from agora.core.scalar import HALF, ONE, TWO, ZERO
from agora.costmap.inflation import LETHAL

CLOSED = np.float32(1000.0)
"""Additional distance of cells that the wave does not reach, m: the original's value of obstacles."""

_LETHAL = np.uint8(LETHAL)
_TINY, _STEADY = np.float32(1e-9), np.float32(1e-4)
_ROUNDS = 32


@hidden
def _nearest(path, count, x, y):
    """Return the point of the path nearest to (x, y), as the index of the next corner and a position."""
    least, after, px, py = np.float32(np.inf), 0, path[0, 0], path[0, 1]
    for k in range(max(count - 1, 1)):
        end = min(k + 1, count - 1)
        ex, ey = path[end, 0] - path[k, 0], path[end, 1] - path[k, 1]
        share = ((x - path[k, 0]) * ex + (y - path[k, 1]) * ey) / max(ex * ex + ey * ey, _TINY)
        share = min(max(share, ZERO), ONE)
        cx, cy = path[k, 0] + share * ex, path[k, 1] + share * ey
        away = (x - cx) * (x - cx) + (y - cy) * (y - cy)
        if away < least:
            least, after, px, py = away, end, cx, cy
    return after, px, py


@hidden
def _length(path, count, after, x, y):
    """Return the length of the path from a point on it to its end."""
    gone = ZERO
    for k in range(after, count):
        gone += math.sqrt((path[k, 0] - x) * (path[k, 0] - x) + (path[k, 1] - y) * (path[k, 1] - y))
        x, y = path[k, 0], path[k, 1]
    return gone


@hidden
def _seed(cost, left, bottom, cell, path, count, x, y):
    """Follow the line from the robot to the path, then the path, to the last free point before the path leaves the window; return
    whether there is such a point, its position, and the length of the rest of the path.

    The outermost cells do not count as part of the window. The line is sampled in steps of half a cell.
    """
    rows, columns = cost.shape
    after, px, py = _nearest(path, count, x, y)
    rest = math.sqrt((px - x) * (px - x) + (py - y) * (py - y)) + _length(path, count, after, px, py)
    found, sx, sy, remains = False, ZERO, ZERO, ZERO
    # The first leg is the line from the robot to the path.
    for k in range(after - 1, count):
        ex, ey = (px, py) if k < after else (path[k, 0], path[k, 1])
        leg = math.sqrt((ex - x) * (ex - x) + (ey - y) * (ey - y))
        steps = np.int64(np.ceil(TWO * leg / cell)) + 1
        for j in range(steps + 1):
            share = np.float32(j) / np.float32(steps)
            qx, qy = x + share * (ex - x), y + share * (ey - y)
            u, v = np.int64(np.floor((qx - left) / cell)), np.int64(np.floor((qy - bottom) / cell))
            if u < 1 or v < 1 or u >= columns - 1 or v >= rows - 1:
                return found, sx, sy, remains
            if cost[v, u] < _LETHAL:
                found, sx, sy, remains = True, qx, qy, max(rest - share * leg, ZERO)
        x, y, rest = ex, ey, rest - leg
    return found, sx, sy, remains


@hidden
def _sweep_row(above, here, below, cost, cell, begin, end, step):
    """Lower the distances in a row, one after the other, using the distances of the neighbours; return whether any distance has
    changed.
    """
    changed, before = False, here[begin - step]
    for u in range(begin, end, step):
        now = here[u]
        if cost[u] < _LETHAL:
            a, b = min(before, here[u + step]), min(above[u], below[u])
            low, gap = min(a, b), abs(a - b)
            if low < now - _STEADY:
                # |grad D| = 1 in upwind differences: along one axis if the smaller neighbour alone determines the cell,
                # otherwise along both
                given = low + cell if gap >= cell else HALF * (a + b + math.sqrt(TWO * cell * cell - gap * gap))
                if given < now - _STEADY:
                    here[u], now, changed = given, given, True
        before = now
    return changed


@hidden
def _sweep(distance, cost, cell):
    """Sweep over all cells except the outermost, once from each corner; return whether any distance has changed."""
    rows, columns = cost.shape
    changed = False
    for turn in range(4):
        begin, end, step = (1, columns - 1, 1) if turn % 2 == 0 else (columns - 2, 0, -1)
        for i in range(1, rows - 1):
            v = i if turn < 2 else rows - 1 - i
            changed |= _sweep_row(distance[v - 1], distance[v], distance[v + 1], cost[v], cell, begin, end, step)
    return changed


@hidden
def write_goal_distances(cost, left, bottom, cell, path, count, x, y, distance):
    """Write the distances from cell centres to the goal through free space, m; return the distance at or above which cells count as
    blocked.

    A cell that the wave does not reach gets the seed's distance plus `CLOSED`. Without a seed, all cells count as blocked.

    Args:
        cost: (H, W) costs of the window.
        left: x of the window's lower-left corner, m.
        bottom: y of the window's lower-left corner, m.
        cell: length of a cell, m.
        path: (K, 2) points of the path, m.
        count: number of valid points of the path, at least 1.
        x: x of the robot, m.
        y: y of the robot, m.
        distance: out, (H, W) distances, m.
    """
    rows, columns = cost.shape
    found, sx, sy, rest = _seed(cost, left, bottom, cell, path, count, x, y)
    distance[:] = CLOSED
    if found:
        # The wave starts from the four cell centres around the seed, at their straight distances.
        column = min(max(np.int64(np.floor((sx - left) / cell - HALF)), 1), columns - 3)
        row = min(max(np.int64(np.floor((sy - bottom) / cell - HALF)), 1), rows - 3)
        for v in range(row, row + 2):
            for u in range(column, column + 2):
                dx, dy = left + (np.float32(u) + HALF) * cell - sx, bottom + (np.float32(v) + HALF) * cell - sy
                if cost[v, u] < _LETHAL:
                    distance[v, u] = math.sqrt(dx * dx + dy * dy)
        rounds = 0
        while rounds < _ROUNDS and _sweep(distance, cost, cell):
            rounds += 1
    for v in range(rows):
        for u in range(columns):
            distance[v, u] += rest
    return rest + CLOSED
