"""Progress: whether pedestrians who want to go on get on, and for how long they have not."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.jit import hidden
from agora.core.scalar import ONE, ZERO
from agora.core.state import Floats, Ints

STALLED = np.float32(1.5)
"""s without getting on after which a pedestrian looks for a way round."""

WAITS = np.float32(2.5)
"""s without getting on after which others make way."""

AT_PLACE = np.float32(0.6)
"""m, from its waypoint, at which a pedestrian is not kept from going on."""

_AWARE = np.float32(6.0)  # s for which somebody who did not get on minds bodies that stand
_GETS_ON = np.float32(0.4)  # m, from where it was, at which a pedestrian has got on; less if it prefers less than 1 m/s
_TINY = np.float32(1e-6)


class Progress(NamedTuple):
    """The progress of the pedestrians of W worlds; all of it is 0 for those who are not there or do not want to go on.

    Attributes:
        from_x: (W, P) place off which somebody has to get, x, m.
        from_y: (W, P) place off which somebody has to get, y, m.
        stalled: (W, P) time for which somebody has not got on, s.
        aware: (W, P) time for which somebody still minds bodies that stand, s.
        ahead_x: (W, P) direction in which somebody wants to go on, x; noted while ``aware`` is above 0.
        ahead_y: (W, P) direction in which somebody wants to go on, y; as ``ahead_x``.
        stopped: (W,) number of people who have not got on for `WAITS`.
    """

    from_x: Floats
    from_y: Floats
    stalled: Floats
    aware: Floats
    ahead_x: Floats
    ahead_y: Floats
    stopped: Ints

    @staticmethod
    def of_nobody(worlds: int, slots: int) -> Progress:
        """Return the progress of nobody."""
        return Progress._make([*np.zeros((6, worlds, slots), np.float32), np.zeros(worlds, np.int32)])


@hidden
def note_progress(h, people, traits, progress, w, i, left):
    """Note the progress of pedestrian i in the last ``h`` seconds.

    Args:
        left: distance to its waypoint, m.
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
        progress.aware[w, i] = _AWARE
        progress.stopped[w] += progress.stalled[w, i] > WAITS
    else:
        progress.aware[w, i] = max(progress.aware[w, i] - h, ZERO)


@hidden
def note_direction(progress, w, i, dx, dy):
    """Note that pedestrian i wants to go on along (dx, dy)."""
    length = max(math.sqrt(dx * dx + dy * dy), _TINY)
    progress.ahead_x[w, i], progress.ahead_y[w, i] = dx / length, dy / length
