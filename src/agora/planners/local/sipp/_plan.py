"""The plan for one robot among predicted people: the cells, the times at which the cells are safe, the search, and the resulting
velocity.

The lattice is centred on the robot, which is in the middle cell. Its rows run along the axis nearest to the direction of the path's
target point, so that a scene rotated by quarter turns gives the same plan.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.jit import hidden, kernel, lean_inlined
from agora.core.path import point_ahead
from agora.core.recording import Reason
from agora.core.scalar import HALF, ONE, ZERO
from agora.core.state import Array, Bools, Floats
from agora.costmap.inflation import LETHAL, NO_INFORMATION
from agora.planners.local.sipp._search import INTERVALS, STEPS, intervals, path_lengths, search_earliest
from agora.planners.steering import CORNER

_LETHAL, _UNKNOWN = np.uint8(LETHAL), np.uint8(NO_INFORMATION)
_FAR, _BIT = np.float32(3e38), np.uint64(1)
_NO_PATH, _BLOCKED, _WAITING = np.int8(Reason.NO_PATH), np.int8(Reason.BLOCKED), np.int8(Reason.WAITING)
_ESCAPING, _NONE = np.int8(Reason.ESCAPING), np.int8(Reason.NONE)
_STILL = np.float32(0.05)
_TRIES = 4


class Scratch(NamedTuple):
    """Working memory for one robot, with a lattice of C cells."""

    blocked: Bools
    unsafe: Array
    togo: Floats
    counts: Array
    bounds: Array
    arrival: Floats
    parent: Array
    done: Bools
    heap: Array
    way: Floats


def scratch(columns: int) -> Scratch:
    """Return working memory for a lattice with ``columns`` cells per side."""
    cells = columns * columns
    return Scratch(
        np.empty(cells, np.bool_),
        np.empty(cells, np.uint64),
        np.empty(cells, np.float32),
        np.empty(cells, np.int64),
        np.empty((cells, INTERVALS, 2), np.int64),
        np.empty(cells * INTERVALS, np.float32),
        np.empty(cells * INTERVALS, np.int64),
        np.empty(cells * INTERVALS, np.bool_),
        np.empty(cells * INTERVALS, np.int64),
        np.empty((cells, 3), np.float32),
    )


@hidden
def _walls(cost, left, bottom, resolution, ahead, aside, radius, padding, columns, cell, blocked):
    """Mark the cells where a disc touches a lethal or unknown cell of a window, whose corner is at (left, bottom) relative to the
    robot.

    The lattice's rows run along (ahead, aside).

    If the robot is closer to a wall than the padding, the padding is reduced; if the robot touches a wall, cells closer to the wall
    are not free.
    """
    half = columns // 2
    rows, wide = cost.shape
    nearest = _FAR
    for i in range(rows):
        for j in range(wide):
            if cost[i, j] == _LETHAL:
                dx, dy = left + (np.float32(j) + HALF) * resolution, bottom + (np.float32(i) + HALF) * resolution
                nearest = min(nearest, dx * dx + dy * dy)
    reach = min(radius + padding + CORNER * HALF * resolution, max(math.sqrt(nearest), radius))
    for row in range(columns):
        for column in range(columns):
            u, v = np.float32(column - half) * cell, np.float32(row - half) * cell
            x, y = ahead * u - aside * v, aside * u + ahead * v
            i, j = np.int64(np.floor((y - bottom) / resolution)), np.int64(np.floor((x - left) / resolution))
            edge = row == 0 or column == 0 or row == columns - 1 or column == columns - 1
            beyond = rows > 0 and (i < 0 or j < 0 or i >= rows or j >= wide or cost[i, j] == _UNKNOWN)
            blocked[row * columns + column] = edge or beyond
    inverse = ONE / cell
    for i in range(rows):
        for j in range(wide):
            if cost[i, j] != _LETHAL:
                continue
            dx, dy = left + (np.float32(j) + HALF) * resolution, bottom + (np.float32(i) + HALF) * resolution
            u, v = ahead * dx + aside * dy, ahead * dy - aside * dx
            inner = 0 < i < rows - 1 and 0 < j < wide - 1
            if inner and cost[i - 1, j] == cost[i + 1, j] == cost[i, j - 1] == cost[i, j + 1] == _LETHAL:
                column, row = np.int64(np.floor(u * inverse + HALF)) + half, np.int64(np.floor(v * inverse + HALF)) + half
                if 0 <= row < columns and 0 <= column < columns:
                    blocked[row * columns + column] = True
                continue
            _disc(blocked, True, u, v, min(reach, math.sqrt(u * u + v * v)), columns, cell)
    blocked[half * columns + half] = False


@hidden
def _disc(cells, value, x, y, reach, columns, cell):
    """Set the bits of ``value`` in the cells whose centres are within ``reach`` of (x, y), relative to the robot."""
    half, squared = columns // 2, reach * reach
    inverse = ONE / cell
    bottom, top = np.int64(np.ceil((y - reach) * inverse)), np.int64(np.floor((y + reach) * inverse))
    left, right = np.int64(np.ceil((x - reach) * inverse)), np.int64(np.floor((x + reach) * inverse))
    for i in range(max(bottom, -half), min(top, half) + 1):
        for j in range(max(left, -half), min(right, half) + 1):
            dx, dy = np.float32(j) * cell - x, np.float32(i) * cell - y
            if dx * dx + dy * dy < squared:
                cells[(i + half) * columns + j + half] |= value


@lean_inlined
def _people(p, row, x, y, ahead, aside, radius, about, unsafe):
    """Write masks of the times at which each cell is unsafe because of people."""
    position, radii, present, expected = about
    unsafe[:] = np.uint64(0)
    for q in range(present.shape[1]):
        if not present[row, q]:
            continue
        dx, dy = position[row, q, 0] - x, position[row, q, 1] - y
        keep, away = radius + radii[row, q] + p.margin, math.sqrt(dx * dx + dy * dy)
        for k in range(STEPS):
            if k > 0:
                dx, dy = expected[row, q, k - 1, 0] - x, expected[row, q, k - 1, 1] - y
            reach = min(keep, away + p.regain * np.float32(k) * p.step)
            u, v = ahead * dx + aside * dy, ahead * dy - aside * dx
            _disc(unsafe, _BIT << np.uint64(k), u, v, reach, p.columns, p.cell)


@hidden
def _nearest_free(blocked, togo, reachable, columns, cell, x, y):
    """Return the free cell nearest to (x, y), relative to the robot; if ``reachable`` is true, only cells with a path to the target
    are considered.
    """
    half, best, least = columns // 2, columns // 2 * columns + columns // 2, _FAR
    for i in range(1, columns - 1):
        for j in range(1, columns - 1):
            n = i * columns + j
            if not blocked[n] and (not reachable or togo[n] < _FAR):
                dx, dy = np.float32(j - half) * cell - x, np.float32(i - half) * cell - y
                if dx * dx + dy * dy < least:
                    best, least = n, dx * dx + dy * dy
    return best


@hidden
def _write_way(state, arrival, parent, columns, cell, pace, way):
    """Write the corners (x, y, time) of the path to a state, with two corners for a wait; return the number of corners."""
    half, count = columns // 2, np.int64(0)
    while True:
        n = state // INTERVALS
        way[count, 0], way[count, 1] = np.float32(n % columns - half) * cell, np.float32(n // columns - half) * cell
        way[count, 2] = arrival[state]
        count += 1
        before = parent[state]
        if before == state:
            break
        m = before // INTERVALS
        rows, sides = abs(n // columns - m // columns), abs(n % columns - m % columns)
        leave = arrival[state] - pace * math.sqrt(np.float32(rows + sides))
        if leave > arrival[before] + _STILL * pace:
            way[count, 0], way[count, 1] = np.float32(m % columns - half) * cell, np.float32(m // columns - half) * cell
            way[count, 2] = leave
            count += 1
        state = before
    for k in range(count // 2):
        for axis in range(3):
            way[k, axis], way[count - 1 - k, axis] = way[count - 1 - k, axis], way[k, axis]
    return count


@hidden
def _place(way, count, time):
    """Return the robot's position at a given time, relative to its current position."""
    k = np.int64(1)
    while k < count and way[k, 2] < time:
        k += 1
    if k >= count:
        return way[count - 1, 0], way[count - 1, 1]
    share = (time - way[k - 1, 2]) / max(way[k, 2] - way[k - 1, 2], np.float32(1e-6))
    return way[k - 1, 0] + share * (way[k, 0] - way[k - 1, 0]), way[k - 1, 1] + share * (way[k, 1] - way[k - 1, 1])


@hidden
def _is_safe(blocked, unsafe, columns, cell, step, vx, vy, moving, time):
    """Return whether all cells that a robot occupies until ``time`` are free and safe, if the robot moves at constant velocity for
    the time ``moving`` and then stands still.
    """
    half, inverse = columns // 2, ONE / cell
    for k in range(np.int64(np.ceil(time / step)) + 1):
        t = min(np.float32(k) * step, moving)
        i, j = np.int64(np.floor(vy * t * inverse + HALF)) + half, np.int64(np.floor(vx * t * inverse + HALF)) + half
        if i < 0 or j < 0 or i >= columns or j >= columns or blocked[i * columns + j]:
            return False
        if (unsafe[i * columns + j] >> np.uint64(min(k, STEPS - 1))) & _BIT != np.uint64(0):
            return False
    return True


@hidden
def _velocity(p, s, way, count, speed, dt):
    """Return the constant velocity that follows a path for as long as this is safe, but at most for the lookahead time.

    The robot moves at full speed if it can wait safely afterwards; otherwise its velocity follows the times of the path.
    """
    least = max(dt, p.step)
    time = max(min(p.lookahead, way[count - 1, 2]), least)
    while True:
        x, y = _place(way, count, time)
        far = math.sqrt(x * x + y * y)
        soon = max(far / speed, dt)
        if _is_safe(s.blocked, s.unsafe, p.columns, p.cell, p.step, x / soon, y / soon, soon, time):
            return x / soon, y / soon
        if time <= least or _is_safe(s.blocked, s.unsafe, p.columns, p.cell, p.step, x / time, y / time, time, time):
            return x / time, y / time
        time = max(time * np.float32(0.7), least)


@kernel
def plan(p, s, robot, route, about, window, dt, wanted, reasons, first, last):
    """Write the desired velocities of robots, m/s, and the reasons why they stop or leave their path.

    Args:
        p: `agora.planners.local.sipp._planner.Parameters`.
        s: `Scratch`.
        robot: poses (N, 3) and radii (N,).
        route: paths (N, K, 2) and the numbers of their points (N,).
        about: the fields position, radius, present and expected of `agora.planners._expected.Discs`; T is STEPS - 1.
        window: costs, origin and resolution of the local costmap.
        dt: control period, s.
        wanted: (N, 2) desired velocities, m/s, out.
        reasons: (N,) int8 values of `agora.core.recording.Reason`, out.
        first: first row.
        last: one past the last row.
    """
    pose, radius = robot
    path, path_count = route
    cost, origin, resolution = window
    columns, cell = p.columns, p.cell
    start = columns // 2 * columns + columns // 2
    for row in range(first, last):
        if path_count[row] <= 0:
            reasons[row] = _NO_PATH
            continue
        x, y, speed = pose[row, 0], pose[row, 1], p.speed[row]
        left, bottom = origin[row, 0] - x, origin[row, 1] - y
        far, target, ends = np.float32(columns // 2 - 1) * cell, start, False
        _, tx, ty, _ = point_ahead(path[row], path_count[row], x, y, far)
        ahead, aside = tx - x, ty - y
        if abs(ahead) > abs(aside):
            ahead, aside = math.copysign(ONE, ahead), ZERO
        else:
            ahead, aside = ZERO, math.copysign(ONE, aside)
        _walls(cost[row], left, bottom, resolution, ahead, aside, radius[row], p.padding, columns, cell, s.blocked)
        _people(p, row, x, y, ahead, aside, radius[row], about, s.unsafe)
        s.unsafe[start] &= ~_BIT
        for _ in range(_TRIES):
            leads, tx, ty, _ = point_ahead(path[row], path_count[row], x, y, far)
            tx, ty, ends = ahead * (tx - x) + aside * (ty - y), ahead * (ty - y) - aside * (tx - x), not leads
            target = _nearest_free(s.blocked, s.togo, False, columns, cell, tx, ty)
            path_lengths(s.blocked, columns, target, s.togo, s.heap)
            if s.togo[start] < _FAR:
                break
            far *= HALF
        if not s.togo[start] < _FAR:
            path_lengths(s.blocked, columns, start, s.togo, s.heap)
            target = _nearest_free(s.blocked, s.togo, True, columns, cell, tx, ty)
            path_lengths(s.blocked, columns, target, s.togo, s.heap)
            ends = False
        intervals(s.unsafe, s.counts, s.bounds)
        pace = cell / speed
        search = (s.blocked, columns, start, target, s.togo, s.counts, s.bounds)
        found, state = search_earliest(*search, p.step, pace, s.arrival, s.parent, s.done, s.heap)
        count = _write_way(state, s.arrival, s.parent, columns, cell, pace, s.way)
        dx, dy = tx - s.way[count - 1, 0], ty - s.way[count - 1, 1]
        if found and ends and dx * dx + dy * dy < cell * cell:
            s.way[count - 1, 0], s.way[count - 1, 1] = tx, ty
        vx, vy = _velocity(p, s, s.way, count, speed, dt)
        wanted[row, 0], wanted[row, 1] = ahead * vx - aside * vy, aside * vx + ahead * vy
        reasons[row] = _NONE if found else _ESCAPING
        if vx * vx + vy * vy < _STILL * _STILL * speed * speed:
            near = tx * tx + ty * ty < cell * cell and ends
            reasons[row] = _NONE if near else (_WAITING if found and target != start else _BLOCKED)
