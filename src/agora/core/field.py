"""Lookups in the distance field of a map."""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import hidden
from agora.core.scalar import HALF, ONE, ZERO

_TINY = np.float32(1e-9)
_STEP = np.float32(0.25)  # cells, shortest step along a line
_EDGE = np.float32(1.001)


@hidden
def _interpolate(maps, start, columns, u, v):
    """Interpolate the distance field bilinearly at (u, v), in cells from the centre of the map's first cell, whose index is
    ``start``.
    """
    column, row = np.int32(u), np.int32(v)
    a, b = u - np.float32(column), v - np.float32(row)
    k = start + np.int64(row) * columns + column
    lower = maps.clearance[k] * (ONE - a) + maps.clearance[k + 1] * a
    upper = maps.clearance[k + columns] * (ONE - a) + maps.clearance[k + columns + 1] * a
    return lower * (ONE - b) + upper * b


@hidden
def distance_at(maps, m, x, y):
    """The distance that `clearance_at` returns, without the direction."""
    columns, rows = maps.columns[m], maps.rows[m]
    inverse = ONE / maps.resolution[m]
    u = min(max((x - maps.origin_x[m]) * inverse - HALF, ZERO), np.float32(columns) - _EDGE)
    v = min(max((y - maps.origin_y[m]) * inverse - HALF, ZERO), np.float32(rows) - _EDGE)
    return _interpolate(maps, maps.clearance_start[m], columns, u, v)


@hidden
def _line_through_cells(maps, m, x0, y0, x1, y1):
    """Return the values needed to read the distance field along a line: the line's length, m; and the line's start, its direction
    and the end of the field, in cells.
    """
    inverse = ONE / maps.resolution[m]
    right, top = np.float32(maps.columns[m]) - _EDGE, np.float32(maps.rows[m]) - _EDGE
    u0, v0 = (x0 - maps.origin_x[m]) * inverse - HALF, (y0 - maps.origin_y[m]) * inverse - HALF
    dx, dy = x1 - x0, y1 - y0
    length = math.sqrt(dx * dx + dy * dy)
    scale = inverse / max(length, _TINY)
    return length, u0, v0, dx * scale, dy * scale, right, top


@hidden
def is_clear(maps, m, x0, y0, x1, y1, least):
    """Return whether the distance to the nearest obstacle is at least ``least`` everywhere on a straight line from (x0, y0) to (x1,
    y1).

    The line is traversed in steps as long as the distance at each point allows, but not shorter than `_STEP`.
    """
    length, u0, v0, du, dv, right, top = _line_through_cells(maps, m, x0, y0, x1, y1)
    columns, start, shortest = maps.columns[m], maps.clearance_start[m], _STEP * maps.resolution[m]
    t = ZERO
    while True:
        u, v = min(max(u0 + t * du, ZERO), right), min(max(v0 + t * dv, ZERO), top)
        d = _interpolate(maps, start, columns, u, v)
        if d < least:
            return False
        if t >= length:
            return True
        t = min(t + max(d - least, shortest), length)


@hidden
def is_clear_between(maps, m, x0, y0, x1, y1, least, d):
    """Like `is_clear`, for a line at whose two ends the distance is known to be at least ``least``; ``d`` is the distance at the
    first end.
    """
    length, u0, v0, du, dv, right, top = _line_through_cells(maps, m, x0, y0, x1, y1)
    columns, start, shortest = maps.columns[m], maps.clearance_start[m], _STEP * maps.resolution[m]
    t = max(d - least, shortest)
    while t < length:
        u, v = min(max(u0 + t * du, ZERO), right), min(max(v0 + t * dv, ZERO), top)
        d = _interpolate(maps, start, columns, u, v)
        if d < least:
            return False
        t += max(d - least, shortest)
    return True


@hidden
def clearance_at(maps, m, x, y):
    """Distance to the nearest obstacle of map ``m`` and the unit vector away from it, at (x, y), interpolated bilinearly between
    cell centres.

    Outside the map, the value at the map's border is returned.
    """
    columns, rows = maps.columns[m], maps.rows[m]
    inverse = ONE / maps.resolution[m]
    u = min(max((x - maps.origin_x[m]) * inverse - HALF, ZERO), np.float32(columns) - _EDGE)
    v = min(max((y - maps.origin_y[m]) * inverse - HALF, ZERO), np.float32(rows) - _EDGE)
    column, row = np.int32(u), np.int32(v)
    a, b = u - np.float32(column), v - np.float32(row)
    k = maps.clearance_start[m] + np.int64(row) * columns + column
    d00, d01 = maps.clearance[k], maps.clearance[k + 1]
    d10, d11 = maps.clearance[k + columns], maps.clearance[k + columns + 1]
    d = (d00 * (ONE - a) + d01 * a) * (ONE - b) + (d10 * (ONE - a) + d11 * a) * b
    nx = (d01 - d00) * (ONE - b) + (d11 - d10) * b
    ny = (d10 - d00) * (ONE - a) + (d11 - d01) * a
    inverse_norm = ONE / math.sqrt(nx * nx + ny * ny + _TINY)
    return d, nx * inverse_norm, ny * inverse_norm
