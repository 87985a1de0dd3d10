"""Free headings: headings along which a robot does not hit any pedestrian, provided that pedestrians keep their velocities.

Z. Xie, P. Dames, "DRL-VO: Learning to navigate through crowded dynamic scenes using velocity obstacles", IEEE T-RO 2023.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import kernel
from agora.core.scalar import ZERO, F
from agora.core.state import Bools, Floats, freeze

__all__ = ["free_heading"]

_HEADINGS, _ROOM = 60, 0.9  # number of headings to test; radius of the disc around a pedestrian, m
_ALL = np.linspace(-np.pi, np.pi, _HEADINGS, endpoint=False).astype(np.float32)
_DIRECTIONS = np.stack([np.cos(_ALL), np.sin(_ALL)], 1).astype(np.float32)
_REACH = F(_ROOM)
_HALF_TURN, _TURN = F(np.pi), F(2.0 * np.pi)


def free_heading(
    place: Floats, velocity: Floats, present: Bools, speed: Floats, goal: Floats, *, seen: float = 8.0, none: float = math.pi
) -> Floats:
    """Return the free heading (N,) that is closest to the goal's bearing, in radians, in the robot's frame.

    A heading is blocked if the relative velocity points into the disc with a radius of 0.9 m around a pedestrian. All headings are
    blocked if the robot is inside such a disc. There are three differences from the published code: this function tests evenly
    spaced headings, the published code 60 random headings; this function wraps angles; and pedestrians within 0.9 m block all
    headings, whereas the published code ignores them.

    Args:
        place: (N, P, 2) positions of pedestrians in the robot's frame, m.
        velocity: (N, P, 2) ground velocities of pedestrians in the robot's frame, m/s.
        present: (N, P) whether a slot holds a pedestrian.
        speed: (N,) speed of the robot, m/s.
        goal: (N,) bearing of the goal, rad.
        seen: distance beyond which pedestrians are ignored, m.
        none: heading that is returned if all headings are blocked, rad.
    """
    out = np.empty(len(goal), np.float32)
    read = (freeze(np.asarray(one, np.float32)) for one in (place, velocity))
    bearing = freeze(np.asarray(goal, np.float32))
    _free(
        *read,
        freeze(present),
        freeze(np.asarray(speed, np.float32)),
        bearing,
        F(seen),
        F(none),
        freeze(_DIRECTIONS),
        out,
        0,
        len(out),
    )
    return out


@kernel
def _free(place, velocity, present, speed, goal, seen, none, directions, out, first, last):
    """Write the free headings of rows ``first <= n < last``."""
    count = len(directions)
    for n in range(first, last):
        best, nearest = none, _TURN
        for k in range(count):
            heading = -_HALF_TURN + F(k) * _TURN / F(count)
            off = abs((heading - goal[n] + _HALF_TURN) % _TURN - _HALF_TURN)
            if off >= nearest:
                continue
            free = True
            for i in range(place.shape[1]):
                px, py = place[n, i, 0], place[n, i, 1]
                away2 = px * px + py * py
                if not present[n, i] or away2 >= seen * seen:
                    continue
                ux = speed[n] * directions[k, 0] - velocity[n, i, 0]
                uy = speed[n] * directions[k, 1] - velocity[n, i, 1]
                across = ux * py - uy * px
                into = ux * px + uy * py > ZERO and across * across < _REACH * _REACH * (ux * ux + uy * uy)
                if away2 <= _REACH * _REACH or into:
                    free = False
                    break
            if free:
                best, nearest = heading, off
        out[n] = best
