"""The gap finder of `agora.planners.local.dragon`: it finds gaps in a scan, remembers them, and chooses the gap to drive to.

Positions are relative to the robot, along the map's axes; only the memory is in the map's frame.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.jit import hidden
from agora.core.scalar import HALF, ONE, PI, TWO, TWO_PI, ZERO, sincos
from agora.core.state import Array, Floats

_SAME = np.float32(0.1)  # m: distance within which two gaps are the same
_INHERITS = np.float32(0.14)  # m, Jackal's length / 4: a gap this close to an old one counts as visited if the old one was
_FAVOUR = np.float32(0.8)  # m
_BESIDE = np.float32(0.2)  # m: offset of the goal's two sides; the goal is given sides like a gap
_FAR = np.float32(3e38)
_TINY = np.float32(1e-6)
_SEAM = np.float32(1e-3)  # rad
KNOWN, VISITED = np.int8(1), np.int8(2)
GOAL = np.int64(-1)
"""The place to drive to if it is the goal instead of a gap."""


class Sizes(NamedTuple):
    """The widths and distances for one robot, m, as described in `agora.planners.local.dragon.Dragon`."""

    body: np.float32
    gap: np.float32
    passage: np.float32
    cone: np.float32
    visited: np.float32


class Gaps(NamedTuple):
    """The gaps that one robot remembers, at most K.

    Attributes:
        place: (K, 6) positions of the centre and of the two sides: x, y, x, y, x, y, m.
        state: (K,) 0 for an empty slot, `KNOWN` or `VISITED`.
    """

    place: Floats
    state: Array


class Points(NamedTuple):
    """The valid beams of one scan, counter-clockwise; all arrays are (B,), and the first ``count`` entries are valid.

    Attributes:
        x: x of the beams' end points, m.
        y: y of the beams' end points, m.
        reach: ranges, m.
        angle: increasing angles in the robot's frame, rad.
        solid: whether the beams hit something.
    """

    x: Floats
    y: Floats
    reach: Floats
    angle: Floats
    solid: Array


@hidden
def read_beams(points, scan, angles, mount, farthest, dx, dy, sine, cosine):
    """Write the valid (non-NaN) beams of a scan taken at (dx, dy) with the robot at the given heading; return how many there
    are.

    A scan that covers a full turn starts behind the robot, so that no gap ahead is cut in two.
    """
    beams = scan.size
    span = angles[beams - 1] - angles[0] if beams > 1 else ZERO
    first = np.int64(0)
    if span + span / np.float32(max(beams - 1, 1)) >= TWO_PI - _SEAM:
        lowest = _FAR
        for b in range(beams):
            _, ahead = sincos(angles[b] + mount[2])
            if ahead < lowest:
                first, lowest = b, ahead
    count = np.int64(0)
    for k in range(beams):
        b = first + k
        angle = mount[2] + (angles[b] if b < beams else angles[b - beams] + TWO_PI)
        b = b if b < beams else b - beams
        if not scan[b] >= ZERO:
            continue
        reach = min(scan[b], farthest)
        up, along = sincos(angle)
        x, y = mount[0] + reach * along, mount[1] + reach * up
        points.x[count], points.y[count] = dx + cosine * x - sine * y, dy + sine * x + cosine * y
        points.reach[count], points.angle[count], points.solid[count] = reach, angle, scan[b] < farthest
        count += 1
    return count


@hidden
def find(points, count, least, found):
    """Write the gaps (K, 4) of a scan, each as the positions of its two sides; return their number.

    One side of a gap is a point whose neighbour, in either direction, is at least ``least`` m away from it and farther from the
    robot. The other side is the point nearest to this side within the half turn beyond it, and must also be at least ``least`` m
    away.
    """
    made, wide = np.int64(0), least * least
    for turn in range(2):
        step = np.int64(1 - 2 * turn)
        i = np.int64(0) if turn == 0 else count - 1
        while 0 <= i + step < count:
            x, y, start = points.x[i], points.y[i], points.angle[i]
            _, ahead = sincos(start)
            dx, dy = points.x[i + step] - x, points.y[i + step] - y
            if ahead < ZERO or points.reach[i + step] <= points.reach[i] or dx * dx + dy * dy < wide:
                i += step
                continue
            best, other, j = _FAR, i + step, i + step
            while 0 <= j < count and abs(points.angle[j] - start) <= PI:
                dx, dy = points.x[j] - x, points.y[j] - y
                squared = dx * dx + dy * dy
                if squared < best:
                    best, other = squared, j
                j += step
            if best >= wide and made < found.shape[0]:
                found[made, 0], found[made, 1], found[made, 2], found[made, 3] = x, y, points.x[other], points.y[other]
                made += 1
            i = other
    return made


@hidden
def is_clear(points, count, x, y, keep):
    """Return whether no obstacle is within ``keep`` m of a position."""
    for k in range(count):
        dx, dy = points.x[k] - x, points.y[k] - y
        if points.solid[k] and dx * dx + dy * dy < keep * keep:
            return False
    return True


@hidden
def is_admissible(points, count, ax, ay, bx, by, sizes, scratch):
    """Return whether a robot fits at b, and fits between the obstacles to the left and right of the straight line from a to b.

    No obstacle may be nearer to b than half the body's width. Of the obstacles within a body's width of the line, none on the left
    may be within the passage width of an obstacle on the right.
    """
    dx, dy = bx - ax, by - ay
    squared = dx * dx + dy * dy
    length = max(math.sqrt(squared), _TINY)
    cosine, sine = dx / length, dy / length
    keep, apart = HALF * sizes.body, sizes.passage
    left, right, near = _FAR, _FAR, np.int64(0)
    for k in range(count):
        if not points.solid[k]:
            continue
        ex, ey = points.x[k] - bx, points.y[k] - by
        if ex * ex + ey * ey < keep * keep:
            return False
        px, py = points.x[k] - ax, points.y[k] - ay
        along, aside = px * cosine + py * sine, py * cosine - px * sine
        if along > ZERO and px * px + py * py <= squared and abs(aside) <= sizes.body:
            scratch[near, 0], scratch[near, 1] = along, aside
            near += 1
            left = min(left, aside) if aside >= ZERO else left
            right = min(right, -aside) if aside < ZERO else right
    if left + right > apart:
        return True
    for i in range(near):
        if not ZERO <= scratch[i, 1] <= apart - right:
            continue
        for j in range(near):
            along, aside = scratch[j, 0] - scratch[i, 0], scratch[i, 1] - scratch[j, 1]
            if scratch[j, 1] < ZERO and along * along + aside * aside <= apart * apart:
                return False
    return True


@hidden
def is_line_clear(points, count, x, y, keep):
    """Return whether no obstacle is within ``keep`` m of the straight line from the robot to a position."""
    length = max(math.sqrt(x * x + y * y), _TINY)
    cosine, sine = x / length, y / length
    for k in range(count):
        along, aside = points.x[k] * cosine + points.y[k] * sine, points.y[k] * cosine - points.x[k] * sine
        if points.solid[k] and ZERO < along < length and abs(aside) < keep:
            return False
    return True


@hidden
def remember(gaps, current, points, count, found, made, x, y, sizes):
    """Delete blocked gaps, add new gaps, and mark the gaps that the robot has reached; return the current gap, or `GOAL` if it no
    longer exists or has been reached.

    A gap within 0.1 m of a remembered gap is the same gap; other remembered gaps within half the body's width of a new gap are
    merged into it. If the memory is full, the gap farthest from the robot is deleted.
    """
    keep = HALF * sizes.body
    most = gaps.state.size
    for k in range(most):
        if gaps.state[k] and not is_clear(points, count, gaps.place[k, 0] - x, gaps.place[k, 1] - y, keep):
            gaps.state[k], current = 0, GOAL if current == k else current
    for g in range(made):
        mx, my = HALF * (found[g, 0] + found[g, 2]), HALF * (found[g, 1] + found[g, 3])
        if not is_clear(points, count, mx, my, keep):
            continue
        slot, farthest, again = np.int64(-1), -ONE, False
        for k in range(most):
            px, py = gaps.place[k, 0] - x, gaps.place[k, 1] - y
            dx, dy = px - mx, py - my
            again |= gaps.state[k] != 0 and dx * dx + dy * dy < _SAME * _SAME
            away = px * px + py * py if gaps.state[k] else _FAR
            if away > farthest and k != current:
                slot, farthest = k, away
        if again or slot < 0:
            continue
        state = KNOWN
        for k in range(most):
            dx, dy = gaps.place[k, 0] - x - mx, gaps.place[k, 1] - y - my
            squared = dx * dx + dy * dy
            if gaps.state[k] and squared <= keep * keep:
                state = VISITED if gaps.state[k] == VISITED and squared < _INHERITS * _INHERITS else state
                gaps.state[k], current = 0, slot if current == k else current
        gaps.place[slot, 0], gaps.place[slot, 1], gaps.state[slot] = mx + x, my + y, state
        for side in range(2):
            gaps.place[slot, 2 + 2 * side] = found[g, 2 * side] + x
            gaps.place[slot, 3 + 2 * side] = found[g, 2 * side + 1] + y
    for k in range(most):
        if gaps.state[k]:
            ax, ay = gaps.place[k, 2] - x, gaps.place[k, 3] - y
            dx, dy = gaps.place[k, 4] - x - ax, gaps.place[k, 5] - y - ay
            share = min(max(-(ax * dx + ay * dy) / max(dx * dx + dy * dy, _TINY), ZERO), ONE)
            px, py = ax + share * dx, ay + share * dy
            if px * px + py * py < sizes.visited * sizes.visited:
                gaps.state[k], current = VISITED, GOAL if current == k else current
    return current


@hidden
def _sight(x, y, cosine, sine):
    """Return a number from -2 to 2 that increases with the signed angle from a direction to a position, without trigonometric
    functions.
    """
    ahead, left = x * cosine + y * sine, y * cosine - x * sine
    size = max(math.sqrt(x * x + y * y), _TINY)
    up = left / size
    return up if ahead >= ZERO else (TWO - up if left >= ZERO else -TWO - up)


@hidden
def choose(gaps, current, points, count, x, y, goal_x, goal_y, sizes, scratch, tried):
    """Return the target to drive to, which is the index of a gap or `GOAL`, and whether the target is admissible.

    The goal itself is chosen if it is admissible, otherwise the admissible gap nearest to the goal, where the current gap counts as
    0.8 m nearer. If the straight line to the chosen target is not free, the nearest gap on the way is chosen instead, provided that
    both this gap and the line from it to the target are admissible.
    """
    gx, gy, most = goal_x - x, goal_y - y, gaps.state.size
    best, found = GOAL, is_admissible(points, count, ZERO, ZERO, gx, gy, sizes, scratch)
    for k in range(most):
        tried[k] = gaps.state[k] != KNOWN
    while not found:
        least, best = _FAR, GOAL
        for k in range(most):
            if not tried[k]:
                dx, dy = gaps.place[k, 0] - goal_x, gaps.place[k, 1] - goal_y
                cost = max(math.sqrt(dx * dx + dy * dy) - (_FAVOUR if k == current else ZERO), ZERO)
                if cost < least:
                    least, best = cost, k
        if best == GOAL:
            return GOAL, False
        tried[best] = True
        found = is_admissible(points, count, ZERO, ZERO, gaps.place[best, 0] - x, gaps.place[best, 1] - y, sizes, scratch)
    bx, by = (gx, gy) if best == GOAL else (gaps.place[best, 0] - x, gaps.place[best, 1] - y)
    if is_line_clear(points, count, bx, by, HALF * sizes.body):
        return best, True
    away = bx * bx + by * by
    length = max(math.sqrt(away), _TINY)
    cosine, sine = bx / length, by / length
    if best == GOAL:
        high = _sight(bx - _BESIDE * sine, by + _BESIDE * cosine, cosine, sine)
        low = -high
    else:
        a = _sight(gaps.place[best, 2] - x, gaps.place[best, 3] - y, cosine, sine)
        b = _sight(gaps.place[best, 4] - x, gaps.place[best, 5] - y, cosine, sine)
        low, high = min(a, b), max(a, b)
    nearest, between = away - np.float32(0.01), best
    for k in range(most):
        px, py = gaps.place[k, 0] - x, gaps.place[k, 1] - y
        squared = px * px + py * py
        if gaps.state[k] != KNOWN or k == best or squared >= nearest or px * cosine + py * sine <= ZERO:
            continue
        a = _sight(gaps.place[k, 2] - x, gaps.place[k, 3] - y, cosine, sine)
        b = _sight(gaps.place[k, 4] - x, gaps.place[k, 5] - y, cosine, sine)
        if (
            max(low, min(a, b)) <= min(high, max(a, b))
            and is_admissible(points, count, ZERO, ZERO, px, py, sizes, scratch)
            and is_admissible(points, count, px, py, bx, by, sizes, scratch)
        ):
            nearest, between = squared, k
    return between, True
