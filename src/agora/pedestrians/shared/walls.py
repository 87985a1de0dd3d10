"""Reads the distance field at the positions of all pedestrians of a world: `agora.core.field.clearance_at` as three loops, two of
which vectorise.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import part
from agora.core.scalar import HALF, ONE, ZERO

ROWS = 6
"""Number of scratch rows that `clearances` needs."""

_TINY = np.float32(1e-9)
_EDGE = np.float32(1.001)


@part
def clearances(maps, m, x, y, count, cell, scratch):
    """Read the distance field of map ``m`` at the first ``count`` points (x, y).

    Args:
        maps: `agora.core.state.Maps`.
        m: number of the map.
        x: (P,) x of the points, m.
        y: (P,) y of the points, m.
        count: number of points.
        cell: (P,) int32, overwritten.
        scratch: (ROWS, P) float32, overwritten.

    Returns:
        Rows of ``scratch``: the distance to the nearest obstacle, m, and x and y of the unit vector away from the obstacle.
    """
    a, b, d, nx, ny, corner = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4], scratch[5]
    columns, rows, field = maps.columns[m], maps.rows[m], maps.clearance
    inverse, origin_x, origin_y = ONE / maps.resolution[m], maps.origin_x[m], maps.origin_y[m]
    right, upper = np.float32(columns) - _EDGE, np.float32(rows) - _EDGE
    for i in range(count):
        u = min(max((x[i] - origin_x) * inverse - HALF, ZERO), right)
        v = min(max((y[i] - origin_y) * inverse - HALF, ZERO), upper)
        column, row = np.int32(u), np.int32(v)
        a[i], b[i] = u - np.float32(column), v - np.float32(row)
        cell[i] = row * columns + column
    start = maps.clearance_start[m]
    for i in range(count):
        k = start + cell[i]
        d[i], nx[i], ny[i], corner[i] = field[k], field[k + 1], field[k + columns], field[k + columns + 1]
    for i in range(count):
        d00, d01, d10, d11 = d[i], nx[i], ny[i], corner[i]
        gx = (d01 - d00) * (ONE - b[i]) + (d11 - d10) * b[i]
        gy = (d10 - d00) * (ONE - a[i]) + (d11 - d01) * a[i]
        inverse_norm = ONE / math.sqrt(gx * gx + gy * gy + _TINY)
        d[i] = (d00 * (ONE - a[i]) + d01 * a[i]) * (ONE - b[i]) + (d10 * (ONE - a[i]) + d11 * a[i]) * b[i]
        nx[i], ny[i] = gx * inverse_norm, gy * inverse_norm
    return d, nx, ny
