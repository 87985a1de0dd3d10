"""Visibility: the pedestrians that a robot's lidar reaches with at least one beam, and those that walls hide from a robot."""

from __future__ import annotations

import math

import numpy as np

from agora.core.field import distance_at, is_clear
from agora.core.jit import hidden, lean_kernel
from agora.core.scalar import ZERO, sincos

_LOOKS = 3
_LOOK = np.float32(1.0)
"""Time between the instants, starting now, at which walls must separate robot and pedestrian, s."""

_IN_WALL = np.float32(0.51)  # distance from the centre of an occupied cell, or from a thin wall, that counts as inside, in cells
_SHARE = np.float32(0.98)  # fraction of the clearance at an end of a line, so that a body touching a wall is not inside it
_TINY = np.float32(1e-6)


@hidden
def _is_walled(maps, m, x, y, to_x, to_y, near):
    """Return whether a straight line crosses a wall or ends in one; robot and pedestrian are at least ``near`` m away from
    walls.
    """
    return not is_clear(maps, m, x, y, to_x, to_y, min(_IN_WALL * maps.resolution[m], _SHARE * near))


@hidden
def is_parted(maps, m, x, y, px, py, vx, vy, radius):
    """Return whether walls separate a pedestrian from a robot: they hide the pedestrian's disc now and on its path over the next
    two seconds.

    Args:
        maps: `agora.core.state.Maps`.
        m: number of the map.
        x: x of the robot, m.
        y: y of the robot, m.
        px: x of the pedestrian, m.
        py: y of the pedestrian, m.
        vx: velocity of the pedestrian, x, m/s.
        vy: velocity of the pedestrian, y, m/s.
        radius: radius of the pedestrian, m.
    """
    own, its = distance_at(maps, m, x, y), distance_at(maps, m, px, py)
    if min(own, its) < _TINY:  # the map must be wrong at this position
        return False
    near = min(own, its)
    for k in range(_LOOKS):
        tx, ty = px + np.float32(k) * _LOOK * vx, py + np.float32(k) * _LOOK * vy
        if k > 0 and ((tx == px and ty == py) or _is_walled(maps, m, px, py, tx, ty, near)):
            return True
        if not _is_walled(maps, m, x, y, tx, ty, near):
            return False
        dx, dy = tx - x, ty - y
        aside = radius / max(math.sqrt(dx * dx + dy * dy), _TINY)
        ax, ay = -dy * aside, dx * aside
        if not (_is_walled(maps, m, x, y, tx + ax, ty + ay, near) and _is_walled(maps, m, x, y, tx - ax, ty - ay, near)):
            return False
    return True


@lean_kernel
def see(beams, slack, ranges, pose, due, position, radius, present, seen, first, last):
    """Write which discs are visible in rows ``first <= n < last``: a disc is visible if at least one beam within range and view
    reaches it.

    Args:
        beams: `agora.optics.lidar.Beams`.
        slack: amount by which a beam may be too short because of noise, m.
        ranges: (N, B) ranges, m.
        pose: (N, 3) poses of the robots.
        due: (N,) whether a row has a new scan; other rows are left unchanged.
        position: (N, Q, 2) positions of the discs, m.
        radius: (N, Q) radii of the discs, m.
        present: (N, Q) whether a slot holds a disc.
        seen: (N, Q) whether a disc is visible, out.
        first: first row.
        last: one more than the last row.
    """
    total = ranges.shape[1]
    for n in range(first, last):
        if not due[n]:
            continue
        sine, cosine = sincos(pose[n, 2])
        x0 = pose[n, 0] + cosine * beams.x - sine * beams.y
        y0 = pose[n, 1] + sine * beams.x + cosine * beams.y
        for q in range(present.shape[1]):
            seen[n, q] = False
            if not present[n, q]:
                continue
            wx, wy = position[n, q, 0] - x0, position[n, q, 1] - y0
            x, y = cosine * wx + sine * wy, cosine * wy - sine * wx
            r = radius[n, q]
            if x * x + y * y <= r * r:
                seen[n, q] = True
                continue
            for b in range(total):
                along, aside = x * beams.dx[b] + y * beams.dy[b], x * beams.dy[b] - y * beams.dx[b]
                if along > ZERO and abs(aside) < r:
                    entry = along - math.sqrt((r - aside) * (r + aside))
                    if entry < beams.range_max and ranges[n, b] >= entry - slack:
                        seen[n, q] = True
                        break
