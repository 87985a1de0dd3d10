"""Roll-outs of commands, computed in float32: each command is held briefly; then the robot follows its path, continues, or brakes.

The commands of a robot are rolled out together, one per lane, in the robot's frame. Walls are points from the scan and, in
directions that the lidar does not cover, from the map. People and other robots are discs that move at constant velocity.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.jit import lean_inlined, lean_kernel
from agora.core.kinematics import clamp
from agora.core.scalar import HALF, ONE, TWO, ZERO, F, sincos
from agora.core.state import Bools, Floats
from agora.policies.command_scene import HIDDEN, POINTS, SECTORS, SPACING, Near, find_hidden, find_others, find_path, find_walls

STEP = F(0.2)
"""Time between the poses of a roll-out, s."""
HELD, ENDS = 4, 15
"""Number of poses for which a command is held, and number of poses in the whole roll-out."""
FEATURES = 33
"""Number of values per command."""
NEAREST = 6
"""Number of nearest people whose states the observation contains."""
ROBOT = 10
"""Number of values for the robot itself and for the lengths of its path."""
CONTEXT = ROBOT + 8 + 6 * NEAREST + SECTORS
"""Number of values that all commands share."""
SIDED = (6, 7, *range(ROBOT + 1, ROBOT + 8, 2), *(ROBOT + 8 + 6 * j + k for j in range(NEAREST) for k in (1, 3)))
SIDED_FEATURES = (2, 3, 5, 29)
"""Indices of the shared values, and of a command's values, that change sign when left and right are swapped."""

_FAR, _TINY, _FIFTH = F(1e9), F(1e-6), F(0.2)
_BRAKES, _BRAKING = 9, F(0.1)  # number of poses while braking, and time between two poses, s
_WIDE, _ROOM = F(1.5), F(0.3)  # clearance to people that maps to 1, and the maximum overlap, m
_LESS = F(0.01)  # m
_HOLD, _FOLLOW, _GO_ON, _STOP = 0, 1, 2, 3
_AHEAD = (2, 4, 8, 15)  # indices of the path points that the observation contains


class Choices(NamedTuple):
    """Twists (N, K, 3) of K commands, and whether the robot can drive each command (N, K)."""

    twist: Floats
    possible: Bools


class Lanes(NamedTuple):
    """The state of K roll-outs; each field has the shape (K,)."""

    x: Floats
    y: Floats
    heading: Floats
    vx: Floats
    vy: Floats
    omega: Floats


class Scratch(NamedTuple):
    """Working memory of one thread.

    Attributes:
        now: current state of the roll-outs.
        held: state of the roll-outs at the end of the held phase.
        wall: (K,) minimum squared distance to walls, m2.
        gap: (K,) minimum clearance to people and other robots, m.
        between: (K,) minimum clearance to the lines between members of groups, m.
        least: (K,) minimum squared distance to the path, m2.
        at: (K,) index of the nearest point on the path.
        turn: (K,) turning rates for following the path, rad/s.
        near: the nearest people and other robots.
        walls: (2, S + HIDDEN) points on walls, m.
        nearest: (3, HIDDEN) working memory for points on walls from the map.
        path: (2, POINTS) points on the path, m.
    """

    now: Lanes
    held: Lanes
    wall: Floats
    gap: Floats
    between: Floats
    least: Floats
    at: Floats
    turn: Floats
    near: Near
    walls: Floats
    nearest: Floats
    path: Floats


def scratch_of(commands: int, people: int, sectors: int) -> Scratch:
    """Return working memory for K commands, M people and other robots, and S sectors."""

    def some(length: int) -> Floats:
        return np.zeros(length, np.float32)

    now, held = (Lanes(*(some(commands) for _ in Lanes._fields)) for _ in range(2))
    wall, gap, between, least, at, turn = (some(commands) for _ in range(6))
    near = Near(*(some(people) for _ in Near._fields))
    walls, nearest, path = (np.zeros(shape, np.float32) for shape in ((2, sectors + HIDDEN), (3, HIDDEN), (2, POINTS)))
    return Scratch(now, held, wall, gap, between, least, at, turn, near, walls, nearest, path)


@lean_inlined
def _advance(dt, changes, wanted, turn, along, stops, now):
    """Advance all roll-outs by ``dt`` seconds towards the desired twists (K, 3); with ``along``, the turning rates are taken from
    ``turn``.
    """
    ax, ay, alpha = changes[0] * dt, changes[1] * dt, changes[2] * dt
    go = ZERO if stops else ONE
    for k in range(len(now.x)):
        omega = turn[k] if along else wanted[k, 2]
        now.vx[k] += clamp(go * wanted[k, 0] - now.vx[k], -ax, ax)
        now.vy[k] += clamp(go * wanted[k, 1] - now.vy[k], -ay, ay)
        now.omega[k] += clamp(go * omega - now.omega[k], -alpha, alpha)
        sine, cosine = sincos(now.heading[k] + HALF * dt * now.omega[k])
        now.x[k] += dt * (cosine * now.vx[k] - sine * now.vy[k])
        now.y[k] += dt * (sine * now.vx[k] + cosine * now.vy[k])
        now.heading[k] += dt * now.omega[k]


@lean_inlined
def _meet_walls(count, walls, now, wall):
    for m in range(count):
        x, y = walls[0, m], walls[1, m]
        for k in range(len(wall)):
            dx, dy = now.x[k] - x, now.y[k] - y
            wall[k] = min(wall[k], dx * dx + dy * dy)


@lean_inlined
def _meet_others(time, people, radius, near, now, gap):
    for j in range(people):
        x, y, both = near.x[j] + time * near.vx[j], near.y[j] + time * near.vy[j], radius + near.radius[j]
        for k in range(len(gap)):
            dx, dy = now.x[k] - x, now.y[k] - y
            gap[k] = min(gap[k], math.sqrt(dx * dx + dy * dy) - both)


@lean_inlined
def _meet_groups(time, people, radius, near, now, between):
    """Update each roll-out's minimum clearance to the lines between members of the same group."""
    for i in range(people):
        for j in range(i):
            if near.group[i] < ZERO or near.group[i] != near.group[j]:
                continue
            x, y = near.x[i] + time * near.vx[i], near.y[i] + time * near.vy[i]
            lx, ly = near.x[j] + time * near.vx[j] - x, near.y[j] + time * near.vy[j] - y
            inverse = ONE / max(lx * lx + ly * ly, _TINY)
            for k in range(len(between)):
                dx, dy = now.x[k] - x, now.y[k] - y
                t = clamp((dx * lx + dy * ly) * inverse, ZERO, ONE)
                ox, oy = dx - t * lx, dy - t * ly
                between[k] = min(between[k], math.sqrt(ox * ox + oy * oy) - radius)


@lean_inlined
def _find_nearest(points, filled, now, least, at):
    """For each roll-out, write the index of the nearest path point."""
    least[:] = _FAR * _FAR
    for j in range(filled):
        number, x, y = F(j), points[0, j], points[1, j]
        for k in range(len(at)):
            dx, dy = now.x[k] - x, now.y[k] - y
            away = dx * dx + dy * dy
            nearer = away < least[k]
            least[k] = away if nearer else least[k]
            at[k] = number if nearer else at[k]


@lean_inlined
def _steer(top, tightest, points, filled, wanted, now, at, turn):
    """Write the pure-pursuit turning rates; the look-ahead distance grows with the roll-out's speed."""
    for k in range(len(turn)):
        speed = wanted[k, 0]
        ahead = clamp(HALF + HALF * abs(speed), F(0.6), F(1.5))
        j = min(np.int64(at[k]) + np.int64(ahead / SPACING + HALF), filled - 1)
        dx, dy = points[0, j] - now.x[k], points[1, j] - now.y[k]
        sine, cosine = sincos(now.heading[k])
        forward, aside = cosine * dx + sine * dy, cosine * dy - sine * dx
        omega = TWO * speed * aside / max(dx * dx + dy * dy, F(0.04))
        if forward < ZERO and speed > ZERO:
            omega = top if aside > ZERO else -top
        most = min(top, tightest * abs(speed)) if tightest > ZERO else top
        turn[k] = clamp(omega, -most, most) if speed != ZERO else ZERO


@lean_inlined
def _begin(place, now):
    for k in range(len(now.x)):
        now.x[k], now.y[k], now.heading[k] = place.x[k], place.y[k], place.heading[k]
        now.vx[k], now.vy[k], now.omega[k] = place.vx[k], place.vy[k], place.omega[k]


@lean_inlined
def _begin_here(twist, now):
    for k in range(len(now.x)):
        now.x[k], now.y[k], now.heading[k], now.vx[k], now.vy[k], now.omega[k] = ZERO, ZERO, ZERO, twist[0], twist[1], twist[2]


@lean_inlined
def _put(values, low, high, row, feature):
    for k in range(len(values)):
        row[CONTEXT + k * FEATURES + feature] = clamp(values[k], low, high) / high


@lean_inlined
def _put_walls(radius, wall, row, feature):
    """Write the minimum clearances to walls, and reset the minima."""
    for k in range(len(wall)):
        row[CONTEXT + k * FEATURES + feature] = clamp(math.sqrt(wall[k]) - radius, -_FIFTH, ONE)
        wall[k] = _FAR


@lean_inlined
def _admit(changes, count, margin, radius, wanted, s, possible, row):
    """Write, for each command, whether it leaves enough space to brake before every wall after being held for a tenth of a second.

    If no command leaves enough space, the commands with the largest clearance while braking are allowed. The dynamic window
    approach uses the same condition (D. Fox, W. Burgard, S. Thrun 1997).
    """
    now = s.now
    s.wall[:] = _FAR
    for step in range(_BRAKES):
        _advance(_BRAKING, changes, wanted, s.turn, False, step > 0, now)
        _meet_walls(count, s.walls, now, s.wall)
    widest = -_FAR
    for k in range(len(s.wall)):
        s.wall[k] = math.sqrt(s.wall[k]) - radius
        widest = max(widest, s.wall[k] if possible[k] else -_FAR)
    least = min(margin, widest - _LESS)
    for k in range(len(s.wall)):
        row[CONTEXT + k * FEATURES] = ONE if possible[k] and s.wall[k] >= least else ZERO


@lean_inlined
def _put_ways(points, filled, kind, s, row):
    """Write each roll-out's progress along the path, its distance from the path, and the direction of the path ahead."""
    now, last = s.now, filled - 1
    _find_nearest(points, filled, now, s.least, s.at)
    scale = F(1.6) if kind == _HOLD else F(6.0)
    for k in range(len(s.at)):
        first, j = CONTEXT + k * FEATURES, np.int64(s.at[k])
        a, b = (j, j + 1) if j < last else (max(j - 1, 0), j)
        dx, dy = points[0, b] - points[0, a], points[1, b] - points[1, a]
        along = ((now.x[k] - points[0, a]) * dx + (now.y[k] - points[1, a]) * dy) / max(math.sqrt(dx * dx + dy * dy), F(1e-3))
        row[first + 23 + kind] = clamp(F(a) * SPACING + along, -scale, scale) / scale
        if kind == _HOLD:
            row[first + 26] = min(math.sqrt(s.least[k]), ONE)
            aim = min(j + 3, last)
            dx, dy = points[0, aim] - now.x[k], points[1, aim] - now.y[k]
            sine, cosine = sincos(now.heading[k])
            length = max(math.sqrt(dx * dx + dy * dy), F(0.05))
            row[first + 28], row[first + 29] = (cosine * dx + sine * dy) / length, (cosine * dy - sine * dx) / length
            dx, dy = points[0, last] - now.x[k], points[1, last] - now.y[k]
            row[first + 30] = min(math.sqrt(dx * dx + dy * dy), TWO) * HALF
        elif kind == _GO_ON:
            row[first + 27] = min(math.sqrt(s.least[k]), TWO) * HALF


@lean_inlined
def _roll(kind, n, body, changes, people, count, filled, wanted, s, row):
    """Roll out all commands through one phase (held, follow, continue or stop), and write the results."""
    now, near, radius, top = s.now, s.near, body.radius[n], min(body.max_omega[n], TWO)
    tightest = ONE / body.turning_radius[n] if body.turning_radius[n] > ZERO else ZERO
    s.wall[:] = _FAR
    s.gap[:] = _FAR
    s.between[:] = _FAR
    # The held phase covers the first `HELD` poses; the later phases start from its last pose.
    for step in range(1 if kind == _HOLD else HELD + 1, (HELD if kind == _HOLD else ENDS) + 1):
        if kind == _FOLLOW:
            _find_nearest(s.path, filled, now, s.least, s.at)
            _steer(top, tightest, s.path, filled, wanted, now, s.at, s.turn)
        _advance(STEP, changes, wanted, s.turn, kind == _FOLLOW, kind == _STOP, now)
        if kind != _STOP:  # `_admit` has already checked the braking distances to walls
            _meet_walls(count, s.walls, now, s.wall)
        time = F(step) * STEP
        _meet_others(time, people, radius, near, now, s.gap)
        if kind == _HOLD or (kind == _FOLLOW and step <= 10):
            _meet_groups(time, people, radius, near, now, s.between)
        if kind == _HOLD and step in (2, 4):
            _put(s.gap, -_ROOM, _WIDE, row, 7 + step // 2)
            s.gap[:] = _FAR
            _put_walls(radius, s.wall, row, 5 + step // 2)
        if kind != _HOLD and step in (7, 10, 15):
            # Minimum clearances are written per time span and then reset, so that the network can tell when the robot would
            # come close to a person.
            first = 12 if kind == _FOLLOW else 17 if kind == _GO_ON else 20
            _put(s.gap, -_ROOM, _WIDE, row, first + (0 if step == 7 else 1 if step == 10 else 2))
            s.gap[:] = _FAR
        if kind in (_FOLLOW, _GO_ON) and step in (9, 15):
            _put_walls(radius, s.wall, row, (10 if kind == _FOLLOW else 15) + (step == 15))
        if (kind == _HOLD and step == HELD) or (kind == _FOLLOW and step == 10):
            _put(s.between, -_ROOM, _WIDE, row, 31 + kind)
    if kind != _STOP:
        _put_ways(s.path, filled, kind, s, row)


@lean_kernel
def write(reach, margin, body, choices, sight, others, s, out, first, last):
    """Write the rows ``first <= n < last`` of ``out`` (N, CONTEXT + K FEATURES)."""
    for n in range(first, last):
        row, wanted, twist, radius = out[n], choices.twist[n], body.twist[n], body.radius[n]
        # Values shared by all commands: the scan, the robot's limits and twist, the path, and the nearest people, all scaled.
        row[:] = ZERO
        people = find_others(n, body, others, reach, s.near)
        count = find_walls(n, sight, s.near, people, s.walls, row[CONTEXT - SECTORS : CONTEXT])
        count = find_hidden(n, body, sight, count, s.walls, s.nearest)
        filled, way = find_path(n, body, sight, s.path)
        row[0], row[1] = body.max_vx[n] * HALF, min(body.max_omega[n], TWO) * HALF
        row[2], row[3], row[4] = min(body.max_ax[n], F(5.0)) * _FIFTH, radius, ONE if body.holonomic[n] else ZERO
        row[5], row[6], row[7] = twist[0] * HALF, twist[1] * HALF, clamp(twist[2], F(-3.0), F(3.0)) / F(3.0)
        ex, ey = s.path[0, filled - 1], s.path[1, filled - 1]
        row[8], row[9] = min(way, F(10.0)) / F(10.0), min(math.sqrt(ex * ex + ey * ey), F(10.0)) / F(10.0)
        for a in range(4):
            j = min(_AHEAD[a], filled - 1)
            row[ROBOT + 2 * a] = clamp(s.path[0, j] * _FIFTH, -ONE, ONE)
            row[ROBOT + 2 * a + 1] = clamp(s.path[1, j] * _FIFTH, -ONE, ONE)
        for j in range(min(people, NEAREST)):
            at = ROBOT + 8 + 6 * j
            row[at], row[at + 1] = s.near.x[j] * _FIFTH, s.near.y[j] * _FIFTH
            row[at + 2], row[at + 3] = s.near.vx[j] * HALF, s.near.vy[j] * HALF
            row[at + 4] = min(math.sqrt(s.near.distance2[j]) - s.near.radius[j] - radius, TWO) * HALF
            row[at + 5] = ONE
        # Values for each command: its twist, the change in the twist, and its consequences (from `_admit` and `_roll`).
        for k in range(len(s.wall)):
            at = CONTEXT + k * FEATURES
            row[at + 1], row[at + 2], row[at + 3] = wanted[k, 0] * HALF, wanted[k, 1], wanted[k, 2] * HALF
            row[at + 4], row[at + 5] = (wanted[k, 0] - twist[0]) * HALF, (wanted[k, 2] - twist[2]) * HALF
        changes = (body.max_ax[n], body.max_ay[n], body.max_alpha[n])
        _begin_here(twist, s.now)
        # `_admit` moves the roll-outs, so the start is restored before the held phase; the later phases all start from its end.
        _admit(changes, count, margin, radius, wanted, s, choices.possible[n], row)
        _begin_here(twist, s.now)
        _roll(_HOLD, n, body, changes, people, count, filled, wanted, s, row)
        _begin(s.now, s.held)
        for kind in range(_FOLLOW, _STOP + 1):
            _begin(s.held, s.now)
            _roll(kind, n, body, changes, people, count, filled, wanted, s, row)
