"""Other routes: paths along the roads of a map that avoid a blocked place.

A pedestrian that takes another route first walks to a place near the middle of that route (`agora.engine.standing_back`).
"""

from __future__ import annotations

import numpy as np

from agora.core.jit import hidden
from agora.core.scalar import HALF, ONE, ZERO
from agora.engine.narrow import gap
from agora.maps.road_kernels import cell_near, road
from agora.maps.roads import SEEN

REACHED = np.float32(1.0)
"""Distance at which a pedestrian has reached the place via which its other route leads, m."""

_BARS = np.float32(0.9)  # m, distance from the blocked place within which a road is blocked
_LEAVES = np.float32(0.6)  # fraction of the distance to the blocked place; a road that comes no nearer leads away from it
_FURTHER = np.float32(20.0)  # m, maximum additional length of another route
_EQUAL = np.float32(0.01)  # m, tolerance for equal costs
_TINY = np.float32(1e-6)
_INFINITE = np.float32(np.inf)


@hidden
def line_distance(px, py, ax, ay, bx, by):
    """Return the distance from a point to the line segment between two other points, m."""
    dx, dy = bx - ax, by - ay
    share = min(max(((px - ax) * dx + (py - ay) * dy) / max(dx * dx + dy * dy, _TINY), ZERO), ONE)
    return gap(px, py, ax + share * dx, ay + share * dy)


@hidden
def _is_through(bx, by, ax, ay, cx, cy):
    """Return whether the line segment from one point to another leads through a blocked place, rather than away from it."""
    return line_distance(bx, by, ax, ay, cx, cy) < min(_BARS, _LEAVES * gap(ax, ay, bx, by))


@hidden
def _is_open(roads, q, a, b, bx, by):
    """Return whether the path from place a to place b avoids a blocked place."""
    base, n, pairs = roads.place_start[q], roads.places[q], roads.pair_start[q]
    while a != b:
        after = roads.after[pairs + np.int64(a) * n + b]
        if after < 0:
            return False
        ax, ay = roads.place_x[base + a], roads.place_y[base + a]
        if _is_through(bx, by, ax, ay, roads.place_x[base + after], roads.place_y[base + after]):
            return False
        a = after
    return True


@hidden
def _length_past(roads, maps, m, q, x, y, v, bx, by, to_v, radius, most):
    """Return the cost of the cheapest path between a point and place v that avoids a blocked place; infinite if no such path is
    cheaper than ``most``. The path leads from the point to the place if ``to_v`` is true, and in the opposite direction otherwise.
    """
    base, n, pairs, cell, best = roads.place_start[q], roads.places[q], roads.pair_start[q], cell_near(roads, q, x, y), most
    for s in range(SEEN if cell >= 0 else 0):
        a = roads.seen[cell, s]
        if a < 0:
            break
        ax, ay, way = roads.place_x[base + a], roads.place_y[base + a], roads.cost[pairs + np.int64(a) * n + v]
        if way + gap(x, y, ax, ay) >= best:  # a lower bound of the cost
            continue
        way += road(maps, m, x, y, ax, ay, radius)
        if to_v:
            passes = way < best and not _is_through(bx, by, x, y, ax, ay) and _is_open(roads, q, a, v, bx, by)
        else:
            passes = way < best and not _is_through(bx, by, ax, ay, x, y) and _is_open(roads, q, v, a, bx, by)
        best = way if passes else best
    return best if best < most else _INFINITE


@hidden
def _usual_path(roads, maps, m, q, x, y, to_x, to_y, bx, by, radius):
    """Return the cost of the cheapest path from one point to another (infinite if there is no path), and whether that path avoids a
    blocked place.
    """
    base, n, pairs, best, first, last = roads.place_start[q], roads.places[q], roads.pair_start[q], _INFINITE, -1, -1
    here, there = cell_near(roads, q, x, y), cell_near(roads, q, to_x, to_y)
    for s in range(SEEN if here >= 0 and there >= 0 else 0):
        a = roads.seen[here, s]
        for t in range(SEEN if a >= 0 else 0):
            b = roads.seen[there, t]
            if b < 0:
                break
            way = roads.cost[pairs + np.int64(a) * n + b]
            way += road(maps, m, x, y, roads.place_x[base + a], roads.place_y[base + a], radius)
            way += road(maps, m, roads.place_x[base + b], roads.place_y[base + b], to_x, to_y, radius)
            if way < best:
                best, first, last = way, a, b
    if first < 0:
        return best, False
    ax, ay, zx, zy = (
        roads.place_x[base + first],
        roads.place_y[base + first],
        roads.place_x[base + last],
        roads.place_y[base + last],
    )
    passes = not _is_through(bx, by, x, y, ax, ay) and not _is_through(bx, by, zx, zy, to_x, to_y)
    return best, passes and _is_open(roads, q, first, last, bx, by)


@hidden
def alternative_place(roads, maps, m, q, x, y, to_x, to_y, bx, by, radius):
    """Return the number of a place near the middle of the cheapest path from one point to another that avoids a blocked place.

    Returns -1 if there is no such path, if it is too long, or if the usual path does not lead through the blocked place. Of equally
    cheap paths, the right-hand one is chosen.
    """
    usual, avoids = _usual_path(roads, maps, m, q, x, y, to_x, to_y, bx, by, radius)
    if avoids or usual == _INFINITE:
        return -1
    base = roads.place_start[q]
    # Of places on equally cheap routes, the one closest to the middle of its route is taken (the shorter part is longest), then the
    # right-hand one.
    best, middle, right, found = usual + _FURTHER, ZERO, -_INFINITE, -1
    for v in range(roads.places[q]):
        vx, vy = roads.place_x[base + v], roads.place_y[base + v]
        if gap(x, y, vx, vy) < REACHED + HALF or _is_through(bx, by, x, y, vx, vy):
            continue  # the pedestrian is there already, or the straight line to place v leads through the blocked place
        there = _length_past(roads, maps, m, q, x, y, v, bx, by, True, radius, best + _EQUAL)
        if there == _INFINITE:
            continue
        on = _length_past(roads, maps, m, q, to_x, to_y, v, bx, by, False, radius, best + _EQUAL - there)
        total, inner = there + on, min(there, on)
        side = (vx - x) * (by - y) - (vy - y) * (bx - x)
        same = total > best - _EQUAL and (inner < middle - _EQUAL or (inner < middle + _EQUAL and side <= right))
        if total < best + _EQUAL and inner >= REACHED and not same:
            best, middle, right, found = min(best, total), inner, side, v
    return found
