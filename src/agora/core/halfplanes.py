"""Velocity half-planes, and the velocity inside all of them that is nearest to a preferred velocity: the building blocks of ORCA.

van den Berg, Guy, Lin, Manocha, "Reciprocal n-body collision avoidance", ISRR 2009; the order of operations and the tolerance match
the authors' RVO2 library. A line is a row (x, y, ex, ey) of an (L, 4) array: a point, m/s, and a unit direction; velocities to the
left of the line are allowed.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import part
from agora.core.scalar import HALF, ONE, ZERO

_PARALLEL, _EPSILON = np.float32(1e-5), np.float32(1e-5)
_TINY, _INFINITE = np.float32(1e-20), np.float32(3e38)


@part
def preferred_velocity(dx, dy, speed, settle):
    """Preferred velocity towards a target at (dx, dy): ``speed``, reduced near the target so that arrival takes at least ``settle``
    seconds (1 s in CrowdNav).
    """
    distance = math.sqrt(dx * dx + dy * dy)
    scale = speed / distance if distance > speed * settle else ONE / max(settle, _TINY)
    return dx * scale, dy * scale


@part
def disc_line(lines, k, px, py, ux, uy, vx, vy, reach, inverse_horizon, inverse_dt, share):
    """Write line k: the half-plane that avoids a moving disc (van den Berg et al. 2009, eqs. 3-5).

    Args:
        lines: (L, 4) half-planes.
        k: number of the line to write.
        px: centre of the other disc relative to this disc, x, m.
        py: centre of the other disc relative to this disc, y, m.
        ux: velocity of this disc minus the other disc's velocity, x, m/s.
        uy: velocity of this disc minus the other disc's velocity, y, m/s.
        vx: velocity of this disc, x, m/s.
        vy: velocity of this disc, y, m/s.
        reach: sum of the radii, m.
        inverse_horizon: 1 / time horizon of the avoidance, 1/s.
        inverse_dt: 1 / time in which overlapping discs must separate, 1/s.
        share: fraction of the velocity change that this disc makes: 1/2 if both discs avoid each other, 1 if only this disc does.
    """
    squared, r2 = px * px + py * py, reach * reach
    overlap = squared <= r2
    inverse = inverse_dt if overlap else inverse_horizon
    wx, wy = ux - inverse * px, uy - inverse * py
    w2 = wx * wx + wy * wy
    along = wx * px + wy * py
    if overlap or (along < ZERO and along * along > r2 * w2):
        if w2 < _TINY:
            wx, wy = (ONE, ZERO) if squared < _TINY else (-px, -py)
        scale = ONE / math.sqrt(wx * wx + wy * wy)
        wx, wy = wx * scale, wy * scale
        change = share * (reach * inverse - math.sqrt(w2))
        lines[k, 0], lines[k, 1] = vx + change * wx, vy + change * wy
        lines[k, 2], lines[k, 3] = wy, -wx
    else:
        sign = ONE if px * wy - py * wx > ZERO else -ONE
        scale = sign / squared
        leg, side = math.sqrt(squared - r2), sign * reach
        ex, ey = (px * leg - py * side) * scale, (px * side + py * leg) * scale
        speed = ux * ex + uy * ey
        lines[k, 0], lines[k, 1] = vx + share * (speed * ex - ux), vy + share * (speed * ey - uy)
        lines[k, 2], lines[k, 3] = ex, ey


@part
def violation(lines, i, x, y):
    """Return how far the velocity (x, y) lies beyond line i, on the forbidden side, m/s; negative on the allowed side."""
    return lines[i, 2] * (lines[i, 1] - y) - lines[i, 3] * (lines[i, 0] - x)


@part
def segment_lines(lines, made, ax, ay, bx, by, vx, vy, radius, inverse):
    """Append the half-plane that avoids a straight wall, unless earlier lines cover it; the disc makes the whole velocity change.

    This is equivalent to RVO2 for an obstacle with two vertices, visible from both sides. A wall of length 0 is ignored.

    Args:
        lines: (L, 4) half-planes.
        made: number of lines so far.
        ax: end a of the wall relative to the centre of the disc, x, m.
        ay: end a of the wall relative to the centre of the disc, y, m.
        bx: end b of the wall relative to the centre of the disc, x, m.
        by: end b of the wall relative to the centre of the disc, y, m.
        vx: velocity of the disc, x, m/s.
        vy: velocity of the disc, y, m/s.
        radius: radius of the disc, m.
        inverse: 1 / time horizon of the avoidance, 1/s.

    Returns:
        The new number of lines.
    """
    if ax * (by - ay) - ay * (bx - ax) > ZERO:
        ax, ay, bx, by = bx, by, ax, ay
    dx, dy = bx - ax, by - ay
    length2, r2 = dx * dx + dy * dy, radius * radius
    if length2 == ZERO:
        return made
    covered = radius * inverse - _EPSILON
    for j in range(made):
        if (
            violation(lines, j, inverse * ax, inverse * ay) >= covered
            and violation(lines, j, inverse * bx, inverse * by) >= covered
        ):
            return made
    scale = ONE / math.sqrt(length2)
    ux, uy = dx * scale, dy * scale
    s = -(ax * dx + ay * dy) / length2
    ox, oy = ax + s * dx, ay + s * dy
    if ox * ox + oy * oy > r2:
        return _append_wall(lines, made, ax, ay, bx, by, ux, uy, ONE, -ONE, vx, vy, radius, inverse)
    if ZERO <= s <= ONE:
        lines[made, 0], lines[made, 1], lines[made, 2], lines[made, 3] = ZERO, ZERO, -ux, -uy
        return made + 1
    x, y, side = (ax, ay, ONE) if s < ZERO else (bx, by, -ONE)
    d2 = x * x + y * y
    if d2 <= r2:
        scale = ONE / math.sqrt(d2)
        lines[made, 0], lines[made, 1], lines[made, 2], lines[made, 3] = ZERO, ZERO, -y * scale, x * scale
        return made + 1
    return _append_wall(lines, made, x, y, x, y, ux, uy, side, side, vx, vy, radius, inverse)


@part
def _append_wall(lines, made, ax, ay, bx, by, ux, uy, left_side, right_side, vx, vy, radius, inverse):
    """Append the half-plane of a wall that the disc does not touch, derived from the nearest of these: the front of the wall's
    velocity cone, its rounded ends and its two legs.

    (ux, uy) is the wall's direction from a, its left end; both ends are equal if only one is visible. The rest of the wall lies
    along ``side`` times (ux, uy). A leg that would point into the wall is replaced by the wall and adds no line.
    """
    a2, b2, r2 = ax * ax + ay * ay, bx * bx + by * by, radius * radius
    leg = math.sqrt(a2 - r2)
    lx, ly = (ax * leg - ay * radius) / a2, (ax * radius + ay * leg) / a2
    leg = math.sqrt(b2 - r2)
    rx, ry = (bx * leg + by * radius) / b2, (by * leg - bx * radius) / b2
    left_foreign = (lx * uy - ly * ux) * left_side >= ZERO
    if left_foreign:
        lx, ly = ux * left_side, uy * left_side
    right_foreign = (rx * uy - ry * ux) * right_side <= ZERO
    if right_foreign:
        rx, ry = ux * right_side, uy * right_side
    one_end = left_side == right_side
    ax, ay, bx, by, disc = ax * inverse, ay * inverse, bx * inverse, by * inverse, radius * inverse
    cx, cy = bx - ax, by - ay
    t = HALF if one_end else ((vx - ax) * cx + (vy - ay) * cy) / (cx * cx + cy * cy)
    t_left = (vx - ax) * lx + (vy - ay) * ly
    t_right = (vx - bx) * rx + (vy - by) * ry
    if t_left < ZERO and (t < ZERO or (one_end and t_right < ZERO)):
        return _append_end(lines, made, ax, ay, vx, vy, disc)
    if t > ONE and t_right < ZERO:
        return _append_end(lines, made, bx, by, vx, vy, disc)
    front = (vx - ax - t * cx) ** 2 + (vy - ay - t * cy) ** 2 if ZERO <= t <= ONE and not one_end else _INFINITE
    left = (vx - ax - t_left * lx) ** 2 + (vy - ay - t_left * ly) ** 2 if t_left >= ZERO else _INFINITE
    right = (vx - bx - t_right * rx) ** 2 + (vy - by - t_right * ry) ** 2 if t_right >= ZERO else _INFINITE
    if front <= left and front <= right:
        px, py, ex, ey, foreign = ax, ay, -ux, -uy, False
    elif left <= right:
        px, py, ex, ey, foreign = ax, ay, lx, ly, left_foreign
    else:
        px, py, ex, ey, foreign = bx, by, -rx, -ry, right_foreign
    if foreign:
        return made
    lines[made, 0], lines[made, 1], lines[made, 2], lines[made, 3] = px - disc * ey, py + disc * ex, ex, ey
    return made + 1


@part
def _append_end(lines, made, x, y, vx, vy, disc):
    """Append the half-plane tangent to the disc around (x, y) at the point onto which (vx, vy) projects."""
    wx, wy = vx - x, vy - y
    scale = ONE / math.sqrt(max(wx * wx + wy * wy, _TINY))
    wx, wy = wx * scale, wy * scale
    lines[made, 0], lines[made, 1], lines[made, 2], lines[made, 3] = x + disc * wx, y + disc * wy, wy, -wx
    return made + 1


@part
def _project(lines, count, limit, tx, ty, farthest):
    """Return the index of the line that could not be satisfied, or ``count``, and the velocity (x, y) nearest to (tx, ty), or
    farthest in its direction. The velocity is found by incremental linear programming.

    If line i excludes the best velocity so far, the next best velocity lies on line i: at p + t e, with t bounded by the earlier
    lines.
    """
    x, y = tx, ty
    squared, limit2 = tx * tx + ty * ty, limit * limit
    if farthest:
        x, y = tx * limit, ty * limit
    elif squared > limit2:
        scale = limit / math.sqrt(squared)
        x, y = tx * scale, ty * scale
    for i in range(count):
        if violation(lines, i, x, y) <= ZERO:
            continue
        px, py, ex, ey = lines[i, 0], lines[i, 1], lines[i, 2], lines[i, 3]
        middle = px * ex + py * ey
        root = middle * middle + limit2 - (px * px + py * py)
        half = math.sqrt(max(root, ZERO))
        low, high = -middle - half, half - middle
        empty = root < ZERO
        for j in range(i):
            fx, fy = lines[j, 2], lines[j, 3]
            between = ex * fy - ey * fx
            wrong = fx * (py - lines[j, 1]) - fy * (px - lines[j, 0])
            t = wrong / between
            high = t if (between > _PARALLEL) & (t < high) else high
            low = t if (between < -_PARALLEL) & (t > low) else low
            empty |= (abs(between) <= _PARALLEL) & (wrong < ZERO)
        if empty or low > high:
            return i, x, y
        end = high if tx * ex + ty * ey > ZERO else low
        t = end if farthest else min(max(ex * (tx - px) + ey * (ty - py), low), high)
        x, y = px + t * ex, py + t * ey
    return count, x, y


@part
def nearest_velocity(lines, count, hard, limit, tx, ty, spare):
    """Return the velocity inside all half-planes, with a speed of at most ``limit``, that is nearest to (tx, ty), m/s.

    If no such velocity exists, return the velocity with the smallest maximum violation of lines ``hard..count-1``; the first
    ``hard`` lines are kept.

    Args:
        lines: (L, 4) half-planes, the first ``count`` in use.
        count: number of half-planes.
        hard: number of half-planes that are never violated.
        limit: maximum speed, m/s.
        tx: preferred velocity, x, m/s.
        ty: preferred velocity, y, m/s.
        spare: (L, 4) scratch.

    Returns:
        x and y of the velocity, m/s.
    """
    failed, x, y = _project(lines, count, limit, tx, ty, False)
    worst = ZERO
    for i in range(failed, count):
        if violation(lines, i, x, y) <= worst:
            continue
        px, py, ex, ey = lines[i, 0], lines[i, 1], lines[i, 2], lines[i, 3]
        for j in range(hard):
            for k in range(4):
                spare[j, k] = lines[j, k]
        used = hard
        for j in range(hard, i):
            fx, fy = lines[j, 2], lines[j, 3]
            between = ex * fy - ey * fx
            if abs(between) <= _PARALLEL:
                if ex * fx + ey * fy > ZERO:
                    continue
                spare[used, 0], spare[used, 1] = HALF * (px + lines[j, 0]), HALF * (py + lines[j, 1])
            else:
                t = (fx * (py - lines[j, 1]) - fy * (px - lines[j, 0])) / between
                spare[used, 0], spare[used, 1] = px + t * ex, py + t * ey
            gx, gy = fx - ex, fy - ey
            scale = ONE / math.sqrt(gx * gx + gy * gy)
            spare[used, 2], spare[used, 3] = gx * scale, gy * scale
            used += 1
        stuck, nx, ny = _project(spare, used, limit, -ey, ex, True)
        if stuck == used:
            x, y = nx, ny
        worst = violation(lines, i, x, y)
    squared = x * x + y * y
    if squared > limit * limit:  # due to rounding, for lines that are nearly parallel
        scale = limit / math.sqrt(squared)
        x, y = x * scale, y * scale
    return x, y
