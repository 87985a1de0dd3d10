"""Checks for walls, and for clearance when backing up, for `agora.planners.local.brne`."""

from __future__ import annotations

import numpy as np

from agora.core.jit import hidden
from agora.core.scalar import HALF, ONE, ZERO, sincos
from agora.planners._rollouts.grids import footprint_cost

_PACE, _NEAR, _CRAWL = np.float32(0.1), np.float32(0.5), np.float32(0.2)


@hidden
def is_free(cost, corners, x, y, resolution, heading, speed, turn, reach):
    """Return whether a robot at (x, y) in a window stays clear of walls if it drives at a constant twist for the time ``reach``, s.

    The outline is tested at poses about 0.1 m apart, starting with the current pose.
    """
    if cost.shape[0] == 0:
        return True
    wide = max(abs(corners[0, 0]), abs(corners[0, 1]))
    count = np.int64(np.ceil(reach * (abs(speed) + wide * abs(turn)) / _PACE))
    inverse, step, angle = ONE / resolution, reach / np.float32(max(count, 1)), heading
    for k in range(count + 1):
        sine, cosine = sincos(angle)
        if footprint_cost(cost, corners[:, 0], corners[:, 1], ONE, x, y, sine, cosine, inverse) < 0:
            return False
        if k < count:
            sine, cosine = sincos(angle + HALF * step * turn)
            x, y, angle = x + step * speed * cosine, y + step * speed * sine, angle + step * turn
    return True


@hidden
def touches(around, radius, place, body, count):
    """Return whether the robot touches one of the nearest agents, or a wall."""
    for a in range(count):
        keep = radius + body[a]
        if place[a, 0] * place[a, 0] + place[a, 1] * place[a, 1] <= keep * keep:
            return True
    return not is_free(*around, ZERO, ZERO, ZERO)


@hidden
def backing_speed(around, top, lowest, horizon, radius, place, body, count):
    """Return the negative speed at which the robot can back up in a straight line; 0 if the space behind the robot is not free or
    if an agent is near.
    """
    for a in range(count):
        keep = radius + body[a] + _NEAR
        if place[a, 0] * place[a, 0] + place[a, 1] * place[a, 1] <= keep * keep:
            return ZERO
    speed = max(lowest, -_CRAWL * top)
    return speed if speed < ZERO and is_free(*around, speed, ZERO, horizon) else ZERO


@hidden
def is_in_corridor(x, y, s, offset, side_x, side_y, wide):
    """Return whether a sample of the robot stays within a corridor; ``offset`` is the robot's current lateral offset from the
    centre line, m.
    """
    farthest = ZERO
    for t in range(x.shape[0]):
        farthest = max(farthest, abs(offset + x[t, s] * side_x + y[t, s] * side_y))
    return farthest <= wide
