"""Recorded pedestrians that step aside for a robot, and return to their recorded positions.

This is the unaligned collision avoidance of C. Reynolds, "Steering behaviors for autonomous characters", GDC 1999: a pedestrian
that a robot is about to touch predicts where both will be at the closest approach, and moves away from the robot's position there.
The speed is our choice: just fast enough to avoid contact. The recorded motion continues in the meantime; the deviation is a
limited displacement from it. A pedestrian that no robot is about to touch returns exactly to its recorded position.

A rigid body steps aside as a whole, based on the disc that a robot would touch first. The body's other discs are ignored, and the
body continues to turn, so it may touch a robot that is between its discs. Other pedestrians are also ignored, so a pedestrian that
steps aside may come near them. No one steps into a wall.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.field import distance_at
from agora.core.jit import hidden, lean_kernel
from agora.core.scalar import ONE, ZERO
from agora.seeds import uniform_at
from agora.world.replayed import end_of_body

_USE = 978  # index of the random draw, different from those of waypoints and of `Restless`
_NEVER = np.float32(1e30)
_TINY = np.float32(1e-6)


@hidden
def _time_to_touch(dx, dy, wx, wy, reach):
    """Return the time in seconds until a disc at (dx, dy) with velocity (wx, wy) is within ``reach`` metres of the origin; a very
    large value if it never comes that near.
    """
    a, b, c = wx * wx + wy * wy, dx * wx + dy * wy, dx * dx + dy * dy - reach * reach
    if b >= ZERO:
        return _NEVER
    if c <= ZERO:
        return ZERO
    inside = b * b - a * c
    return (-b - math.sqrt(inside)) / a if inside > ZERO else _NEVER


@hidden
def _first_touch(x, y, vx, vy, radius, robots, robot_traits, w, horizon):
    """Return the time until a robot first touches a disc at (x, y), s, and the index of that robot; ``horizon`` and -1 if no robot
    does within the horizon.
    """
    soonest, found = horizon, -1
    for r in range(robots.x.shape[1]):
        if robots.active[w, r]:
            wx, wy = robots.world_vx[w, r] - vx, robots.world_vy[w, r] - vy
            t = _time_to_touch(robots.x[w, r] - x, robots.y[w, r] - y, wx, wy, radius + robot_traits.radius[w, r])
            if t < soonest:
                soonest, found = t, r
    return soonest, found


@hidden
def _evasive_velocity(x, y, vx, vy, radius, robots, robot_traits, w, r, fastest, h):
    """Return the velocity to add to a disc's velocity (vx, vy) so that the disc, which is at (x, y), just misses robot r."""
    dx, dy = robots.x[w, r] - x, robots.y[w, r] - y
    wx, wy = robots.world_vx[w, r] - vx, robots.world_vy[w, r] - vy
    nearest = -(dx * wx + dy * wy) / (wx * wx + wy * wy)
    mx, my = dx + nearest * wx, dy + nearest * wy
    apart = math.sqrt(mx * mx + my * my)
    speed = min((radius + robot_traits.radius[w, r] - apart) / max(nearest, h), fastest)
    if apart < _TINY:  # head-on: step to the right
        closing = math.sqrt(wx * wx + wy * wy)
        return -speed * wy / closing, speed * wx / closing
    return -speed * mx / apart, -speed * my / apart


@hidden
def _threat(people, after, traits, robots, robot_traits, w, i, end, cx, cy, margin, horizon):
    """Return the slot of the disc among ``i <= k < end`` that a robot touches first if (cx, cy) is added to the discs' velocities,
    and the index of that robot; -1 if there is none.
    """
    soonest, who, found = horizon, i, -1
    for k in range(i, end):
        vx, vy, reach = after.vx[w, k] + cx, after.vy[w, k] + cy, traits.radius[w, k] + margin
        t, r = _first_touch(people.x[w, k], people.y[w, k], vx, vy, reach, robots, robot_traits, w, soonest)
        if r >= 0:
            soonest, who, found = t, k, r
    return who, found


@hidden
def _displacement_velocity(people, after, traits, robots, robot_traits, w, i, end, sx, sy, margin, horizon, fastest, back, h):
    """Return the velocity (2,) at which the displacement (sx, sy) of discs ``i <= k < end`` changes."""
    k, r = _threat(people, after, traits, robots, robot_traits, w, i, end, ZERO, ZERO, margin, horizon)
    if r >= 0:
        reach = traits.radius[w, k] + margin
        x, y, vx, vy = people.x[w, k], people.y[w, k], after.vx[w, k], after.vy[w, k]
        return _evasive_velocity(x, y, vx, vy, reach, robots, robot_traits, w, r, fastest, h)
    far = math.sqrt(sx * sx + sy * sy)
    if far == ZERO:
        return ZERO, ZERO
    share = -min(back / far, ONE / h)
    _, r = _threat(people, after, traits, robots, robot_traits, w, i, end, share * sx, share * sy, margin, horizon)
    if r >= 0:
        return ZERO, ZERO
    return share * sx, share * sy


@hidden
def _shorten(sx, sy, most, less):
    """Return the displacement (sx, sy), shortened by ``less`` metres and limited to ``most`` metres."""
    far = math.sqrt(sx * sx + sy * sy)
    k = (min(far, most) - less) / far if far > max(less, _TINY) else ZERO
    return k * sx, k * sy


@hidden
def _next_displacement(after, traits, maps, w, i, end, sx, sy, cx, cy, h, back, most):
    """Return the displacement (2,) after (sx, sy) at the end of the substep, reduced if it would lead into a wall."""
    nx, ny = _shorten(sx + cx * h, sy + cy * h, most, ZERO)
    m = maps.index[w]
    for k in range(i, end):
        x, y = after.x[w, k], after.y[w, k]
        if distance_at(maps, m, x + nx, y + ny) < min(distance_at(maps, m, x, y), traits.radius[w, k]):
            return _shorten(sx, sy, most, back * h)
    return nx, ny


@hidden
def _displace(after, w, i, end, x, y, vx, vy):
    """Move discs ``i <= k < end`` by (x, y), and add (vx, vy) to their recorded velocity."""
    for k in range(i, end):
        after.x[w, k] += x
        after.y[w, k] += y
        after.vx[w, k] += vx
        after.vy[w, k] += vy


@lean_kernel
def step_aside(
    dt, parts, horizon, margin, fastest, back, most, share, people, after, traits, replay, robots, robot_traits, maps, clock,
    first, last
):  # fmt: skip
    """Displace recorded pedestrians from their recorded positions at the end of a substep.

    Args:
        dt: physics step, s.
        parts: number of substeps per step.
        horizon: as in `agora.draft.sidestep.Sidestep`, s.
        margin: as in `agora.draft.sidestep.Sidestep`, m.
        fastest: as in `agora.draft.sidestep.Sidestep`, m/s.
        back: as in `agora.draft.sidestep.Sidestep`, m/s.
        most: as in `agora.draft.sidestep.Sidestep`, m.
        share: as in `agora.draft.sidestep.Sidestep`.
        people: pedestrians at the beginning of the substep.
        after: pedestrians at the end of the substep.
        robots: robots at the beginning of the step.
    """
    h = dt / np.float32(parts)
    for w in range(first, last):
        if clock.done[w]:
            continue
        end = 0
        while end < traits.count[w]:
            i = end
            end = end_of_body(traits, w, i)
            sx, sy = replay.aside_x[w, i], replay.aside_y[w, i]
            if replay.last[w, i] < replay.first[w, i]:
                continue
            if share < ONE and uniform_at(clock.key[w], traits.id[w, i], 0, _USE) >= share:
                continue
            nx, ny = ZERO, ZERO
            if people.active[w, i] and after.active[w, i]:
                cx, cy = _displacement_velocity(
                    people, after, traits, robots, robot_traits, w, i, end, sx, sy, margin, horizon, fastest, back, h
                )
                if sx == ZERO and sy == ZERO and cx == ZERO and cy == ZERO:
                    continue
                nx, ny = _next_displacement(after, traits, maps, w, i, end, sx, sy, cx, cy, h, back, most)
                _displace(after, w, i, end, nx, ny, (nx - sx) / h, (ny - sy) / h)
            for k in range(i, end):
                replay.aside_x[w, k], replay.aside_y[w, k] = nx, ny
