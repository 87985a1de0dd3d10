"""The position of a robot along its path, and the point ahead that it aims for."""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import lean
from agora.core.scalar import ONE, ZERO

_TINY = np.float32(1e-12)
_FAR = np.float32(3e38)


@lean
def point_ahead(path, count, x, y, lookahead):
    """Return the point that lies ``lookahead`` metres farther along the path than the path point nearest to (x, y).

    Args:
        path: (K, 2) points, m.
        count: number of points in use.
        x: x of the robot, m.
        y: y of the robot, m.
        lookahead: distance along the path, m.

    Returns:
        Whether the path continues beyond the point; x and y of the point, or of the last point if the path ends before it (of the
        robot if there is no path); the length from the nearest point to the end of the path, m.
    """
    best, leg, start = _FAR, 0, ZERO
    for k in range(count - 1):
        ax, ay = path[k, 0], path[k, 1]
        dx, dy = path[k + 1, 0] - ax, path[k + 1, 1] - ay
        t = min(max(((x - ax) * dx + (y - ay) * dy) / max(dx * dx + dy * dy, _TINY), ZERO), ONE)
        ox, oy = ax + t * dx - x, ay + t * dy - y
        squared = ox * ox + oy * oy
        if squared < best:
            best, leg, start = squared, k, t
    left, way, found = lookahead, ZERO, False
    tx, ty = x, y
    if count > 0:
        tx, ty = path[count - 1, 0], path[count - 1, 1]
    for k in range(leg, count - 1):
        ax, ay = path[k, 0], path[k, 1]
        dx, dy = path[k + 1, 0] - ax, path[k + 1, 1] - ay
        length = math.sqrt(dx * dx + dy * dy)
        rest = (ONE - start) * length
        if not found and left < rest:
            t = start + left / length
            found, tx, ty = True, ax + t * dx, ay + t * dy
        left -= rest
        way += rest
        start = ZERO
    return found, tx, ty, way
