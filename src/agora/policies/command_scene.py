"""The surroundings of a robot in the robot's frame, in float32: people, walls and the path ahead."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.jit import hidden, lean_inlined
from agora.core.kinematics import clamp
from agora.core.scalar import HALF, ONE, TWO, ZERO, F, sincos
from agora.core.state import Array, Bools, Floats, Ints

POINTS, SPACING = 26, F(0.3)
"""Number of path points that are used, and the distance between two path points, m."""
SECTORS = 32
"""Number of sectors of the scan in the observation."""
HIDDEN = 48
"""Number of directions around the robot; in each direction that the lidar does not cover, one map point is used."""

_FAR2, _TINY = F(1e18), F(1e-6)
_SEEN = F(6.0)  # maximum range up to which the scan is used, m
_OWN = F(0.15)  # distance from a person's outline within which the end of a beam counts as hitting the person, m
_KNOWN = F(3.0)  # maximum distance up to which the map is used, m
_ROUND = F(3.0)  # half the field of view at or above which a lidar counts as covering all directions, rad
_PARTS = F(HIDDEN / 4)  # number of directions in a quarter turn
_LETHAL, _OUTSIDE = 254, 255  # cost of a wall, and of a point outside the map


class Body(NamedTuple):
    """The states and limits of N robots; the limits are the same as in `agora.robots.limits.Limits`.

    Attributes:
        pose: (N, 3) x, y and heading in the map frame, m and rad.
        twist: (N, 3) vx, vy and omega, m/s and rad/s.
        radius: (N,) radius of each robot, m.
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
        angles: (B,) directions of the beams, rad.
        sensor: (3,) pose of the sensor in the robot's frame, m and rad.
        path: (N, L, 2) points on the path, m.
        path_count: (N,) number of used path points.
        goal: (N, 3) goals, used if the path has no points.
        cost: (N, H, H) costs of the map around the robots; H = 0 without a map.
        corner: (N, 2) lower-left corner of ``cost``, m.
        cell: edge length of a cell of ``cost``, m.
    """

    scan: Floats
    angles: Floats
    sensor: Floats
    path: Floats
    path_count: Ints
    goal: Floats
    cost: Array
    corner: Floats
    cell: F


class Others(NamedTuple):
    """People and other robots around N robots, in Q slots."""

    position: Floats
    velocity: Floats
    radius: Floats
    group: Ints
    present: Bools


class Near(NamedTuple):
    """The M nearest people and robots, nearest first, in the robot's frame.

    The fields are positions, velocities, radii, squared distances and groups.
    """

    x: Floats
    y: Floats
    vx: Floats
    vy: Floats
    radius: Floats
    distance2: Floats
    group: Floats


@lean_inlined
def find_others(n, body, others, reach, near):
    """Write the nearest people and robots within ``reach`` metres; return how many there are."""
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
    """Return whether a beam that ends at (x, y) hits a person or a robot."""
    for j in range(people):
        dx, dy, reach = x - near.x[j], y - near.y[j], near.radius[j] + _OWN
        if dx * dx + dy * dy < reach * reach:
            return True
    return False


@lean_inlined
def find_walls(n, sight, near, people, walls, shown):
    """Write the scan values, and the nearest point in each sector that is not on a person or robot; return the number of points."""
    sine, cosine = sincos(sight.sensor[2])
    count, sectors, beams = 0, walls.shape[1] - HIDDEN, sight.scan.shape[1]
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


@hidden
def _direction(x, y):
    """Return a number that grows from -2 to 2 while the direction of (x, y) grows from -pi to pi; avoids square root and
    arctangent.
    """
    length = max(abs(x) + abs(y), _TINY)
    return y / length if x >= ZERO else (TWO - y / length if y >= ZERO else -TWO - y / length)


@lean_inlined
def find_hidden(n, body, sight, count, walls, nearest):
    """Append points on the map's walls and edge that are outside the lidar's field of view; return the new number of points.

    In each of `HIDDEN` directions, the point nearest to the robot is appended.

    Args:
        n: row of the robot.
        body: the robots.
        sight: scans, paths and goals of the robots.
        count: number of points before the call.
        walls: (2, S + HIDDEN) points, m; new points are appended after the first ``count`` points.
        nearest: (3, HIDDEN) working memory for squared distances and points.
    """
    x, y, half = body.pose[n, 0], body.pose[n, 1], HALF * sight.cell
    sine, cosine = sincos(body.pose[n, 2])
    beams, side = len(sight.angles), sight.cost.shape[1]
    middle, wide = HALF * (sight.angles[0] + sight.angles[beams - 1]), HALF * abs(sight.angles[beams - 1] - sight.angles[0])
    aim_sine, aim_cosine = sincos(sight.sensor[2] + middle)
    edge_sine, edge_cosine = sincos(wide)
    seen = TWO if wide > _ROUND else _direction(edge_cosine, edge_sine)
    nearest[0] = _FAR2
    for i in range(side):
        wy = sight.corner[n, 1] + (F(i) + HALF) * sight.cell - y
        wy = wy - clamp(wy, -half, half)
        for j in range(side):
            cost = sight.cost[n, i, j]
            if cost < _LETHAL:
                continue
            wx = sight.corner[n, 0] + (F(j) + HALF) * sight.cell - x
            wx = wx - clamp(wx, -half, half)
            away = wx * wx + wy * wy
            if away > _KNOWN * _KNOWN:
                continue
            px, py = cosine * wx + sine * wy, cosine * wy - sine * wx
            if cost < _OUTSIDE:
                dx, dy = px - sight.sensor[0], py - sight.sensor[1]
                if abs(_direction(aim_cosine * dx + aim_sine * dy, aim_cosine * dy - aim_sine * dx)) <= seen:
                    continue
            part = min(np.int64((_direction(px, py) + TWO) * _PARTS), HIDDEN - 1)
            if away < nearest[0, part]:
                nearest[0, part], nearest[1, part], nearest[2, part] = away, px, py
    for part in range(HIDDEN):
        if nearest[0, part] < _FAR2:
            walls[0, count], walls[1, count] = nearest[1, part], nearest[2, part]
            count += 1
    return count


@lean_inlined
def find_path(n, body, sight, points):
    """Write the points on the path ahead; if the path ends earlier, the last point is the end of the path.

    Returns:
        The number of points, and the distance along the path to its end, m.
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
