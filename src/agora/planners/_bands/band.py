"""Construction of timed elastic bands from paths: the path to plan for, the initial guess, and how bands grow, shrink and follow
the robot.

Based on teb_local_planner (timed_elastic_band.cpp, teb_local_planner_ros.cpp). A band of n poses is an array (n, 4) of x, y,
heading and the time to the next pose; positions are relative to the robot, along the map's axes, m.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import hidden
from agora.core.scalar import HALF, ONE, TWO, ZERO, atan2, sincos, wrap

SPACING = np.float32(0.1)
_FAR, _TINY = np.float32(3e38), np.float32(1e-12)
_REACHED = np.float32(0.05)
_LOOK = np.float32(0.3)
_LEAST_TIME = np.float32(0.1)
_PASSES, _PASSED = 100, 10


@hidden
def nearest_leg(path, count, leg, x, y):
    """Return the leg of the path nearest to a point, searching from leg ``leg`` on, and the position along that leg, from 0 to 1.

    A path that passes the same place twice is followed in order: the search for the nearest leg ends where the path, having come
    within 0.22 m of the point, moves away from it again.
    """
    best, found, share = _FAR, min(leg, max(count - 2, 0)), ZERO
    for k in range(found, count - 1):
        ax, ay = path[k, 0], path[k, 1]
        dx, dy = path[k + 1, 0] - ax, path[k + 1, 1] - ay
        t = min(max(((x - ax) * dx + (y - ay) * dy) / max(dx * dx + dy * dy, _TINY), ZERO), ONE)
        ox, oy = ax + t * dx - x, ay + t * dy - y
        squared = ox * ox + oy * oy
        if squared < best:
            best, found, share = squared, k, t
        elif best < _REACHED:
            break
    return found, share


@hidden
def local_path(path, count, leg, share, x, y, reach, half, spacing, out):
    """Write points on the path, ``spacing`` apart, from a given position on a leg up to ``reach`` m along the path, as long as they
    are within ``half`` m of the robot along x and y.

    Args:
        path: (K, 2) path, m.
        count: number of points on the path.
        leg: leg on which the local path starts.
        share: fraction of this leg at which the local path starts.
        x: x of the robot, m.
        y: y of the robot, m.
        reach: maximum distance along the path, m.
        half: maximum distance from the robot along x or y, m.
        spacing: distance between the points, m.
        out: (A, 2) points relative to the robot, m; the first is the robot's position.

    Returns:
        The number of points, 1 if the path is not nearby; whether the last point is the end of the path; the direction of the path
        at the last point.
    """
    out[0, 0], out[0, 1] = ZERO, ZERO
    points, way, wanted = 1, ZERO, spacing
    px, py = path[count - 1, 0] - x, path[count - 1, 1] - y
    k, t = leg, share
    while k < count - 1:
        ax, ay = path[k, 0] - x, path[k, 1] - y
        dx, dy = path[k + 1, 0] - x - ax, path[k + 1, 1] - y - ay
        long = math.sqrt(dx * dx + dy * dy)
        rest = (ONE - t) * long
        if way + rest < wanted or long <= ZERO:
            way, k, t = way + rest, k + 1, ZERO
            continue
        t += (wanted - way) / long
        way = wanted
        px, py = ax + t * dx, ay + t * dy
        if way > reach or points >= out.shape[0] - 1 or px * px + py * py > half * half:
            return points, False, _direction(path, count, k, t, out[points - 1, 0] + x, out[points - 1, 1] + y)
        out[points, 0], out[points, 1] = px, py
        points += 1
        wanted += spacing
    px, py = path[count - 1, 0] - x, path[count - 1, 1] - y
    if px * px + py * py > half * half:
        return points, False, _direction(path, count, k, t, out[points - 1, 0] + x, out[points - 1, 1] + y)
    if points > 1 and wanted - way > HALF * spacing:
        points -= 1
    out[points, 0], out[points, 1] = px, py
    return points + 1, True, ZERO


@hidden
def _direction(path, count, leg, share, x, y):
    """Return the direction from a point to the path point 0.3 m after a given position on the path, or to the path's end."""
    k, t, left = leg, share, _LOOK
    px, py = path[count - 1, 0], path[count - 1, 1]
    while k < count - 1:
        dx, dy = path[k + 1, 0] - path[k, 0], path[k + 1, 1] - path[k, 1]
        long = math.sqrt(dx * dx + dy * dy)
        if (ONE - t) * long >= left:
            t += left / max(long, _TINY)
            px, py = path[k, 0] + t * dx, path[k, 1] + t * dy
            break
        left, k, t = left - (ONE - t) * long, k + 1, ZERO
    return atan2(py - y, px - x)


@hidden
def _time(band, i, speed, omega):
    """Return the time for the step from pose ``i`` to the next pose at the given speed and turning rate, at least 0.1 s."""
    dx, dy = band[i + 1, 0] - band[i, 0], band[i + 1, 1] - band[i, 1]
    turn = abs(wrap(band[i + 1, 2] - band[i, 2]))
    return max(math.sqrt(dx * dx + dy * dy) / speed, turn / omega, _LEAST_TIME)


@hidden
def initialise(points, count, heading, goal_heading, speed, omega, least, band):
    """Write an initial guess along ``count`` points, with times for the given speed and turning rate; return the number of
    poses.
    """
    n = 0
    for i in range(count - 1):
        band[n, 0], band[n, 1] = points[i, 0], points[i, 1]
        band[n, 2] = heading if i == 0 else atan2(points[i + 1, 1] - points[i, 1], points[i + 1, 0] - points[i, 0])
        n += 1
    while n < least - 1:
        band[n, 0], band[n, 1] = HALF * (band[n - 1, 0] + points[count - 1, 0]), HALF * (band[n - 1, 1] + points[count - 1, 1])
        band[n, 2] = _mean_angle(band[n - 1, 2], goal_heading)
        n += 1
    band[n, 0], band[n, 1], band[n, 2], band[n, 3] = points[count - 1, 0], points[count - 1, 1], goal_heading, ZERO
    for i in range(n):
        band[i, 3] = _time(band, i, speed, omega)
    return n + 1


@hidden
def _mean_angle(heading, other):
    """Return the mean of two angles, along the shorter arc."""
    return wrap(heading + HALF * wrap(other - heading))


@hidden
def write_pose(band, i, pose):
    """Write pose ``i`` one number at a time, because assigning whole rows makes Numba compile a shape check, with an error, for
    each assignment.
    """
    for j in range(4):
        band[i, j] = pose[j]


@hidden
def _remove(band, n, first, last):
    """Remove the poses ``first <= i < last`` from a band."""
    for i in range(last, n):
        write_pose(band, first + i - last, band[i])
    return n - (last - first)


@hidden
def resize(band, n, dt_ref, hysteresis, least, most):
    """Insert and remove poses until all times are within ``hysteresis`` of ``dt_ref``, as far as possible.

    The number of steps stays between ``least`` and ``most``.
    """
    for _ in range(_PASSES):
        modified = False
        i = np.int64(0)
        while i < n - 1:
            dt = band[i, 3]
            if dt > dt_ref + hysteresis and n - 1 < most:
                if dt > TWO * dt_ref:
                    for k in range(n, i + 1, -1):
                        write_pose(band, k, band[k - 1])
                    band[i + 1, 0], band[i + 1, 1] = HALF * (band[i, 0] + band[i + 2, 0]), HALF * (band[i, 1] + band[i + 2, 1])
                    band[i + 1, 2] = _mean_angle(band[i, 2], band[i + 2, 2])
                    band[i, 3], band[i + 1, 3] = HALF * dt, HALF * dt
                    n += 1
                    modified = True
                    continue
                if i < n - 2:
                    band[i + 1, 3] += dt - dt_ref
                band[i, 3] = dt_ref
            elif dt < dt_ref - hysteresis and n - 1 > least:
                modified = True
                if i < n - 2:
                    dt += band[i + 1, 3]
                    n = _remove(band, n, i + 1, i + 2)
                    band[i, 3] = dt
                    continue
                band[i - 1, 3] += dt
                n = _remove(band, n, i, i + 1)
            i += 1
        if not modified:
            break
    return n


@hidden
def update_ends(band, n, heading, goal_x, goal_y, goal_heading, least):
    """Drop the poses that have been passed, and make the band start at the robot and end at the goal; return the number of poses
    left.
    """
    passed, best = 0, band[0, 0] * band[0, 0] + band[0, 1] * band[0, 1]
    for i in range(1, min(n - least, _PASSED) + 1):
        squared = band[i, 0] * band[i, 0] + band[i, 1] * band[i, 1]
        if squared >= best:
            break
        passed, best = i, squared
    first = np.int64(1)
    n = _remove(band, n, first, first + passed)
    band[0, 0], band[0, 1], band[0, 2] = ZERO, ZERO, heading
    band[n - 1, 0], band[n - 1, 1], band[n - 1, 2], band[n - 1, 3] = goal_x, goal_y, goal_heading, ZERO
    return n


@hidden
def command(band, bounds):
    """Return the twist of the first step, within the limits; the combined forward and sideways speed is at most the forward
    limit.
    """
    b = bounds
    sine, cosine = sincos(band[0, 2])
    dx, dy, dt = band[1, 0] - band[0, 0], band[1, 1] - band[0, 1], band[0, 3]
    turn = wrap(band[1, 2] - band[0, 2]) / dt
    if b.sideways > ZERO:
        ahead, aside = (dx * cosine + dy * sine) / dt, (dy * cosine - dx * sine) / dt
        ahead, aside = min(max(ahead, -b.backward), b.forward), min(max(aside, -b.sideways), b.sideways)
        fast = math.sqrt(ahead * ahead + aside * aside)
        share = b.forward / fast if fast > b.forward else ONE
        return share * ahead, share * aside, min(max(turn, -b.omega), b.omega)
    long = math.sqrt(dx * dx + dy * dy)
    value = math.copysign(long, dx * cosine + dy * sine) / dt
    value = min(max(value, -b.backward), b.forward)
    omega = b.omega
    if b.turning_radius > ZERO:
        omega = min(omega, abs(value) / b.turning_radius)
    return value, ZERO * value, min(max(turn, -omega), omega)
