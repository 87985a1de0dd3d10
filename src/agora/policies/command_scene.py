"""The surroundings of a robot in its own frame: people, walls and the path ahead; float32."""

from __future__ import annotations

import math
from typing import NamedTuple

from agora.core.jit import hidden, lean_inlined
from agora.core.kinematics import clamp
from agora.core.scalar import ONE, ZERO, F, sincos
from agora.core.state import Bools, Floats, Ints

POINTS, SPACING = 26, F(0.3)
"""Points of the path that are looked at, and the way from one to the next, m."""
SECTORS = 32
"""Sectors of the scan that are shown as they are."""

_FAR2, _TINY = F(1e18), F(1e-6)
_SEEN = F(6.0)  # m
_OWN = F(0.15)  # m beyond a person's radius within which a beam has met the person


class Body(NamedTuple):
    """N robots; limits as of `agora.robots.limits.Limits`.

    Attributes:
        pose: (N, 3) x, y and heading, m and rad, map frame.
        twist: (N, 3) m/s and rad/s.
        radius: (N,) m.
    """

    pose: Floats
    twist: Floats
    radius: Floats
    max_vx: Floats
    max_omega: Floats
    max_ax: Floats
    max_ay: Floats
    max_alpha: Floats
    turning_radius: Floats
    holonomic: Bools


class Sight(NamedTuple):
    """The scans, the paths and the goals of N robots.

    Attributes:
        scan: (N, B) ranges, m.
        angles: (B,) of the beams, rad.
        sensor: (3,) pose of the sensor in the robot's frame, m and rad.
        path: (N, L, 2) m.
        path_count: (N,) points of the path in use.
        goal: (N, 3) in place of a path that has no point.
    """

    scan: Floats
    angles: Floats
    sensor: Floats
    path: Floats
    path_count: Ints
    goal: Floats


class Others(NamedTuple):
    """People and robots about N robots, in Q slots."""

    position: Floats
    velocity: Floats
    radius: Floats
    group: Ints
    present: Bools


class Near(NamedTuple):
    """The M nearest others, nearest first, in the robot's frame: places, velocities, radii, squared distances, groups."""

    x: Floats
    y: Floats
    vx: Floats
    vy: Floats
    radius: Floats
    distance2: Floats
    group: Floats


@lean_inlined
def find_others(n, body, others, reach, near):
    """Write the nearest others within ``reach`` m; return how many there are."""
    sine, cosine = sincos(body.pose[n, 2])
    count, most = 0, len(near.x)
    for i in range(others.present.shape[1]):
        dx, dy = others.position[n, i, 0] - body.pose[n, 0], others.position[n, i, 1] - body.pose[n, 1]
        away = dx * dx + dy * dy
        if not others.present[n, i] or away > reach * reach or (count == most and away >= near.distance2[most - 1]):
            continue
        k = count if count < most else most - 1
        while k > 0 and near.distance2[k - 1] > away:
            near.x[k], near.y[k], near.vx[k], near.vy[k] = near.x[k - 1], near.y[k - 1], near.vx[k - 1], near.vy[k - 1]
            near.radius[k], near.distance2[k], near.group[k] = near.radius[k - 1], near.distance2[k - 1], near.group[k - 1]
            k -= 1
        vx, vy = others.velocity[n, i, 0], others.velocity[n, i, 1]
        near.x[k], near.y[k] = cosine * dx + sine * dy, cosine * dy - sine * dx
        near.vx[k], near.vy[k] = cosine * vx + sine * vy, cosine * vy - sine * vx
        near.radius[k], near.distance2[k], near.group[k] = others.radius[n, i], away, F(others.group[n, i])
        count = min(count + 1, most)
    return count


@hidden
def _is_of_somebody(x, y, near, people):
    """Return whether a beam that ends at (x, y) has met one of the others."""
    for j in range(people):
        dx, dy, reach = x - near.x[j], y - near.y[j], near.radius[j] + _OWN
        if dx * dx + dy * dy < reach * reach:
            return True
    return False


@lean_inlined
def find_walls(n, sight, near, people, walls, shown):
    """Write the nearest point of each sector that has not met anybody, and what is shown of the scan; return how many points."""
    sine, cosine = sincos(sight.sensor[2])
    count, sectors, beams = 0, walls.shape[1], sight.scan.shape[1]
    shown[:] = ONE
    for m in range(sectors):
        shortest, any_range, found = _SEEN, _SEEN, False
        for b in range(m * beams // sectors, (m + 1) * beams // sectors):
            reach = sight.scan[n, b]
            any_range = min(any_range, reach)
            if reach < shortest:
                beam_sine, beam_cosine = sincos(sight.angles[b])
                x, y = reach * beam_cosine, reach * beam_sine
                x, y = sight.sensor[0] + cosine * x - sine * y, sight.sensor[1] + sine * x + cosine * y
                if not _is_of_somebody(x, y, near, people):
                    shortest, found = reach, True
                    walls[0, count], walls[1, count] = x, y
        count += found
        part = m * SECTORS // sectors
        shown[part] = min(shown[part], max(any_range, ZERO) / _SEEN)
    return count


@lean_inlined
def find_path(n, body, sight, points):
    """Write the points of the path ahead, the last of which is its end where it ends before.

    Returns:
        How many there are, and the way along the path to its end, m.
    """
    x, y, path, count = body.pose[n, 0], body.pose[n, 1], sight.path[n], sight.path_count[n]
    sine, cosine = sincos(body.pose[n, 2])
    best, leg, start = _FAR2, 0, ZERO
    for k in range(count - 1):
        dx, dy = path[k + 1, 0] - path[k, 0], path[k + 1, 1] - path[k, 1]
        t = clamp(((x - path[k, 0]) * dx + (y - path[k, 1]) * dy) / max(dx * dx + dy * dy, _TINY), ZERO, ONE)
        ox, oy = path[k, 0] + t * dx - x, path[k, 1] + t * dy - y
        if ox * ox + oy * oy < best:
            best, leg, start = ox * ox + oy * oy, k, t
    filled, gone, following = 0, ZERO, ZERO
    for k in range(leg, count - 1):
        dx, dy = path[k + 1, 0] - path[k, 0], path[k + 1, 1] - path[k, 1]
        length = math.sqrt(dx * dx + dy * dy)
        rest = (ONE - start) * length
        while filled < POINTS and following <= gone + rest and length > ZERO:
            t = start + (following - gone) / length
            ox, oy = path[k, 0] + t * dx - x, path[k, 1] + t * dy - y
            points[0, filled], points[1, filled] = cosine * ox + sine * oy, cosine * oy - sine * ox
            filled += 1
            following += SPACING
        gone += rest
        start = ZERO
    if filled < POINTS:
        ex, ey = sight.goal[n, 0] - x, sight.goal[n, 1] - y
        if count > 0:
            ex, ey = path[count - 1, 0] - x, path[count - 1, 1] - y
        points[0, filled], points[1, filled] = cosine * ex + sine * ey, cosine * ey - sine * ex
        filled += 1
    return filled, gone
