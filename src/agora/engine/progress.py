"""Measures whether pedestrians who want to keep walking make progress, and how long they have been stuck."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.jit import hidden
from agora.core.scalar import ONE, ZERO
from agora.core.state import Bools, Floats, Ints

STALLED = np.float32(1.5)
"""Time without progress after which a pedestrian searches for a detour, s."""

WAITS = np.float32(1.5)
"""Time without progress after which others make way, s."""

AWARE = np.float32(6.0)
"""Time for which a pedestrian that was stuck or stepped back walks around stationary bodies, s."""

AT_PLACE = np.float32(0.6)
"""Distance to its waypoint within which a pedestrian does not count as blocked, m."""

_GETS_ON = np.float32(0.4)  # m, distance from its last place that counts as progress; less at preferred speeds below 1 m/s
_NEARER = np.float32(0.5)  # m, reduction of the path length that counts as progress
_LATE = np.float32(12.0)  # s, time after which a pedestrian whose path does not become shorter gives up its waypoint
_TINY = np.float32(1e-6)


class Progress(NamedTuple):
    """The progress of the pedestrians of W worlds; all values are 0 for pedestrians that are absent or do not want to keep walking.

    Attributes:
        from_x: (W, P) last place at which the pedestrian made progress, x, m.
        from_y: (W, P) last place at which the pedestrian made progress, y, m.
        stalled: (W, P) time without progress, s.
        aware: (W, P) remaining time for which the pedestrian walks around stationary bodies, s.
        ahead_x: (W, P) direction in which the pedestrian wants to continue, x; recorded while ``aware`` is above 0.
        ahead_y: (W, P) direction in which the pedestrian wants to continue, y; recorded while ``aware`` is above 0.
        left: (W, P) shortest remaining path to the waypoint so far, m.
        late: (W, P) time since the remaining path last became shorter, s.
        hopeless: (W, P) whether the pedestrian gives up its waypoint (`agora.engine.standing_back`,
            `agora.engine.occupied_waypoints`).
        stopped: (W,) number of people who have made no progress for `WAITS`.
    """

    from_x: Floats
    from_y: Floats
    stalled: Floats
    aware: Floats
    ahead_x: Floats
    ahead_y: Floats
    left: Floats
    late: Floats
    hopeless: Bools
    stopped: Ints

    @staticmethod
    def of_nobody(worlds: int, slots: int) -> Progress:
        """Return an empty progress record."""
        real = np.zeros((8, worlds, slots), np.float32)
        return Progress._make([*real, np.zeros((worlds, slots), np.bool_), np.zeros(worlds, np.int32)])


@hidden
def record_progress(h, people, traits, progress, w, i, left):
    """Record the progress of pedestrian i in the last ``h`` seconds.

    Args:
        left: distance from pedestrian i to its waypoint, m.
    """
    x, y = people.x[w, i], people.y[w, i]
    dx, dy = x - progress.from_x[w, i], y - progress.from_y[w, i]
    wants = traits.speed[w, i] > ZERO and left > AT_PLACE and people.active[w, i]
    enough = _GETS_ON * min(traits.speed[w, i], ONE)
    if not wants or dx * dx + dy * dy > enough * enough:
        progress.from_x[w, i], progress.from_y[w, i], progress.stalled[w, i] = x, y, ZERO
    else:
        progress.stalled[w, i] += h
    if not wants:
        progress.aware[w, i] = ZERO
    elif progress.stalled[w, i] > STALLED:
        progress.aware[w, i] = AWARE
        progress.stopped[w] += progress.stalled[w, i] > WAITS
    else:
        progress.aware[w, i] = max(progress.aware[w, i] - h, ZERO)


@hidden
def record_path(h, progress, w, i, left, excused):
    """Record the length of pedestrian i's path to its waypoint, and give up the waypoint if the path has not become shorter for
    `_LATE`.

    Args:
        h: time since the last call, s.
        left: length of the path, m.
        excused: whether to restart the time because the waypoint has changed or the pedestrian is waiting in front of a narrow
            place.
    """
    if excused or progress.stalled[w, i] + progress.aware[w, i] == ZERO or left < progress.left[w, i] - _NEARER:
        progress.left[w, i], progress.late[w, i] = left, ZERO
    else:
        progress.late[w, i] += h
    if progress.late[w, i] > _LATE:
        progress.hopeless[w, i], progress.late[w, i] = True, ZERO


@hidden
def record_direction(progress, w, i, dx, dy):
    """Record that pedestrian i wants to continue in direction (dx, dy)."""
    length = max(math.sqrt(dx * dx + dy * dy), _TINY)
    progress.ahead_x[w, i], progress.ahead_y[w, i] = dx / length, dy / length
