"""The consequences of commands: each is held for a moment, and then the robot goes along its path, goes on, or brakes; float32.

The commands of a robot are rolled out side by side, one a lane, in the robot's frame. Walls are points of the scan; people and
other robots are discs that go on as they do.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.jit import hidden, lean_inlined, lean_kernel
from agora.core.scalar import HALF, ONE, TWO, ZERO, F, sincos
from agora.core.state import Bools, Floats, Ints

STEP = F(0.2)
"""Time between the poses of a roll-out, s."""
HELD, ENDS = 4, 15
"""Poses for which a command is held, and of the whole."""
POINTS, SPACING = 26, F(0.3)
"""Points of the path that are looked at, and the way from one to the next, m."""
FEATURES = 33
"""Values of a command."""
SECTORS, NEAREST = 32, 6
"""Sectors of the scan, and nearest people, that are shown as they are."""
ROBOT = 10
"""Values of the robot itself and of the lengths of its way."""
CONTEXT = ROBOT + 8 + 6 * NEAREST + SECTORS
"""Values that are not of one command."""

_FAR, _TINY, _FIFTH = F(1e9), F(1e-6), F(0.2)
_BRAKES, _BRAKING = 9, F(0.1)  # poses in which a robot brakes, s apart
_SEEN = F(6.0)  # m
_OWN = F(0.15)  # m beyond a person's radius within which a beam has met the person
_WIDE, _ROOM = F(1.5), F(0.3)  # clearances to people that read 1 and the least one, m
_LESS = F(0.01)  # m
_HOLD, _FOLLOW, _GO_ON, _STOP = 0, 1, 2, 3
_AHEAD = (2, 4, 8, 15)  # points of the path that are shown


class Body(NamedTuple):
    """N robots: poses (N, 3), twists (N, 3), radii (N,), and the largest changes of speeds, m/s2 and rad/s2, turns and curves."""

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


class Choices(NamedTuple):
    """Twists (N, K, 3) of commands, and which of them a robot can drive at all, (N, K)."""

    twist: Floats
    possible: Bools


class Sight(NamedTuple):
    """The scan (N, B), the angles of its beams (B,), the pose of the sensor (3,); the path (N, L, 2) and its points in use (N,)."""

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


class Lanes(NamedTuple):
    """The state of K roll-outs, each (K,)."""

    x: Floats
    y: Floats
    heading: Floats
    vx: Floats
    vy: Floats
    omega: Floats


class Near(NamedTuple):
    """The M nearest others, nearest first, in the robot's frame: places, velocities, radii, squared distances, groups."""

    x: Floats
    y: Floats
    vx: Floats
    vy: Floats
    radius: Floats
    distance2: Floats
    group: Floats


class Scratch(NamedTuple):
    """Working memory of one thread.

    Attributes:
        now: roll-outs under way.
        held: where they were when the command was no longer held.
        wall: (K,) least squared distance to walls, m2.
        gap: (K,) least clearance to others, m.
        between: (K,) least clearance to the lines between members of groups, m.
        least: (K,) least squared distance to the path, m2.
        at: (K,) point of the path that is nearest.
        turn: (K,) turning rates along the path, rad/s.
        near: the nearest others.
        walls: (2, S) points of walls.
        path: (2, POINTS) points of the path.
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
    path: Floats


def scratch_of(commands: int, people: int, sectors: int) -> Scratch:
    """Return working memory for K commands, M others and S sectors."""

    def some(length: int) -> Floats:
        return np.zeros(length, np.float32)

    now, held = (Lanes(*(some(commands) for _ in Lanes._fields)) for _ in range(2))
    wall, gap, between, least, at, turn = (some(commands) for _ in range(6))
    near = Near(*(some(people) for _ in Near._fields))
    walls, path = np.zeros((2, sectors), np.float32), np.zeros((2, POINTS), np.float32)
    return Scratch(now, held, wall, gap, between, least, at, turn, near, walls, path)


@hidden
def _within(value, low, high):
    return min(max(value, low), high)


@lean_inlined
def _find_others(n, body, others, reach, near):
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
def _find_walls(n, sight, near, people, walls, shown):
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
def _find_path(n, body, sight, points):
    """Write the points of the path ahead, the last of which is its end where it ends before.

    Returns:
        How many there are, and the way along the path to its end, m.
    """
    x, y, path, count = body.pose[n, 0], body.pose[n, 1], sight.path[n], sight.path_count[n]
    sine, cosine = sincos(body.pose[n, 2])
    best, leg, start = _FAR * _FAR, 0, ZERO
    for k in range(count - 1):
        dx, dy = path[k + 1, 0] - path[k, 0], path[k + 1, 1] - path[k, 1]
        t = _within(((x - path[k, 0]) * dx + (y - path[k, 1]) * dy) / max(dx * dx + dy * dy, _TINY), ZERO, ONE)
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


@lean_inlined
def _advance(dt, changes, wanted, turn, along, stops, now):
    """Move all roll-outs on by ``dt`` s towards the twists that they want (K, 3); turning rates are ``turn`` where ``along``."""
    ax, ay, alpha = changes[0] * dt, changes[1] * dt, changes[2] * dt
    go = ZERO if stops else ONE
    for k in range(len(now.x)):
        omega = turn[k] if along else wanted[k, 2]
        now.vx[k] += _within(go * wanted[k, 0] - now.vx[k], -ax, ax)
        now.vy[k] += _within(go * wanted[k, 1] - now.vy[k], -ay, ay)
        now.omega[k] += _within(go * omega - now.omega[k], -alpha, alpha)
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
    """Note how near roll-outs come to the lines between members of one group."""
    for i in range(people):
        for j in range(i):
            if near.group[i] < ZERO or near.group[i] != near.group[j]:
                continue
            x, y = near.x[i] + time * near.vx[i], near.y[i] + time * near.vy[i]
            lx, ly = near.x[j] + time * near.vx[j] - x, near.y[j] + time * near.vy[j] - y
            inverse = ONE / max(lx * lx + ly * ly, _TINY)
            for k in range(len(between)):
                dx, dy = now.x[k] - x, now.y[k] - y
                t = _within((dx * lx + dy * ly) * inverse, ZERO, ONE)
                ox, oy = dx - t * lx, dy - t * ly
                between[k] = min(between[k], math.sqrt(ox * ox + oy * oy) - radius)


@lean_inlined
def _find_nearest(points, filled, now, least, at):
    """Write the point of the path that is nearest to each roll-out."""
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
    """Write the turning rates of pure pursuit, to a point of the path that lies as far ahead as the roll-out is fast."""
    for k in range(len(turn)):
        speed = wanted[k, 0]
        ahead = _within(HALF + HALF * abs(speed), F(0.6), F(1.5))
        j = min(np.int64(at[k]) + np.int64(ahead / SPACING + HALF), filled - 1)
        dx, dy = points[0, j] - now.x[k], points[1, j] - now.y[k]
        sine, cosine = sincos(now.heading[k])
        forward, aside = cosine * dx + sine * dy, cosine * dy - sine * dx
        omega = TWO * speed * aside / max(dx * dx + dy * dy, F(0.04))
        if forward < ZERO and speed > ZERO:
            omega = top if aside > ZERO else -top
        most = min(top, tightest * abs(speed)) if tightest > ZERO else top
        turn[k] = _within(omega, -most, most) if speed != ZERO else ZERO


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
        row[CONTEXT + k * FEATURES + feature] = _within(values[k], low, high) / high


@lean_inlined
def _put_walls(radius, wall, row, feature):
    """Write clearances to walls, and forget them."""
    for k in range(len(wall)):
        row[CONTEXT + k * FEATURES + feature] = _within(math.sqrt(wall[k]) - radius, -_FIFTH, ONE)
        wall[k] = _FAR


@lean_inlined
def _admit(changes, count, margin, radius, wanted, s, possible, row):
    """Write which commands leave room to brake before every wall, after a tenth of a second; where none does, the widest.

    So does the dynamic window (D. Fox, W. Burgard, S. Thrun 1997).
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
    """Write how far along the path the roll-outs are and how far beside it, and where it goes from there."""
    now, last = s.now, filled - 1
    _find_nearest(points, filled, now, s.least, s.at)
    scale = F(1.6) if kind == _HOLD else F(6.0)
    for k in range(len(s.at)):
        first, j = CONTEXT + k * FEATURES, np.int64(s.at[k])
        a, b = (j, j + 1) if j < last else (max(j - 1, 0), j)
        dx, dy = points[0, b] - points[0, a], points[1, b] - points[1, a]
        along = ((now.x[k] - points[0, a]) * dx + (now.y[k] - points[1, a]) * dy) / max(math.sqrt(dx * dx + dy * dy), F(1e-3))
        row[first + 23 + kind] = _within(F(a) * SPACING + along, -scale, scale) / scale
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
    """Roll all commands out: held, or what follows; and write what they lead to."""
    now, near, radius, top = s.now, s.near, body.radius[n], min(body.max_omega[n], TWO)
    tightest = ONE / body.turning_radius[n] if body.turning_radius[n] > ZERO else ZERO
    s.wall[:] = _FAR
    s.gap[:] = _FAR
    s.between[:] = _FAR
    for step in range(1 if kind == _HOLD else HELD + 1, (HELD if kind == _HOLD else ENDS) + 1):
        if kind == _FOLLOW:
            _find_nearest(s.path, filled, now, s.least, s.at)
            _steer(top, tightest, s.path, filled, wanted, now, s.at, s.turn)
        _advance(STEP, changes, wanted, s.turn, kind == _FOLLOW, kind == _STOP, now)
        if kind != _STOP:
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
        row[:] = ZERO
        people = _find_others(n, body, others, reach, s.near)
        count = _find_walls(n, sight, s.near, people, s.walls, row[CONTEXT - SECTORS : CONTEXT])
        filled, way = _find_path(n, body, sight, s.path)
        row[0], row[1] = body.max_vx[n] * HALF, min(body.max_omega[n], TWO) * HALF
        row[2], row[3], row[4] = min(body.max_ax[n], F(5.0)) * _FIFTH, radius, ONE if body.holonomic[n] else ZERO
        row[5], row[6], row[7] = twist[0] * HALF, twist[1] * HALF, _within(twist[2], F(-3.0), F(3.0)) / F(3.0)
        ex, ey = s.path[0, filled - 1], s.path[1, filled - 1]
        row[8], row[9] = min(way, F(10.0)) / F(10.0), min(math.sqrt(ex * ex + ey * ey), F(10.0)) / F(10.0)
        for a in range(4):
            j = min(_AHEAD[a], filled - 1)
            row[ROBOT + 2 * a] = _within(s.path[0, j] * _FIFTH, -ONE, ONE)
            row[ROBOT + 2 * a + 1] = _within(s.path[1, j] * _FIFTH, -ONE, ONE)
        for j in range(min(people, NEAREST)):
            at = ROBOT + 8 + 6 * j
            row[at], row[at + 1] = s.near.x[j] * _FIFTH, s.near.y[j] * _FIFTH
            row[at + 2], row[at + 3] = s.near.vx[j] * HALF, s.near.vy[j] * HALF
            row[at + 4] = min(math.sqrt(s.near.distance2[j]) - s.near.radius[j] - radius, TWO) * HALF
            row[at + 5] = ONE
        for k in range(len(s.wall)):
            at = CONTEXT + k * FEATURES
            row[at + 1], row[at + 2], row[at + 3] = wanted[k, 0] * HALF, wanted[k, 1], wanted[k, 2] * HALF
            row[at + 4], row[at + 5] = (wanted[k, 0] - twist[0]) * HALF, (wanted[k, 2] - twist[2]) * HALF
        changes = (body.max_ax[n], body.max_ay[n], body.max_alpha[n])
        _begin_here(twist, s.now)
        _admit(changes, count, margin, radius, wanted, s, choices.possible[n], row)
        _begin_here(twist, s.now)
        _roll(_HOLD, n, body, changes, people, count, filled, wanted, s, row)
        _begin(s.now, s.held)
        for kind in range(_FOLLOW, _STOP + 1):
            _begin(s.held, s.now)
            _roll(kind, n, body, changes, people, count, filled, wanted, s, row)
