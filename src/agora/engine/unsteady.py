"""Makes people walk unsteadily: their preferred speed and direction fluctuate no faster than those of recorded people.

The deviations of the speed (a fraction) and of the direction (an angle) are Ornstein-Uhlenbeck processes (L. S. Ornstein and G. E.
Uhlenbeck, Phys. Rev. 36, 1930). Recorded people of ETH/UCY with no one within 1.5 m deviate from the mean speed along their path by
12 to 16 % (standard deviation, eth and hotel), and from the direction to the end of their path by 0.14 to 0.17 rad; the deviations
decay within 1 to 4 s. In the other scenes, in which people look at shop windows and wait for each other, the values are 29 to 46 %
and 0.36 to 0.86 rad.

A pedestrian that is walking when the episode begins, or when it enters, starts with the deviation of its initial velocity; a
pedestrian that stands still starts with a random deviation. Members of a walking group share their fluctuations, which would
otherwise tear the group apart. Followers of a leader (`agora.core.state.Minds`, ``led``) do not fluctuate, because their leader
does. The direction of a pedestrian deviates less and less as it approaches the point that it is walking to, so that everyone
arrives.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.jit import lean_inlined, lean_kernel
from agora.core.scalar import ONE, atan2, sincos
from agora.core.state import Bools, Floats
from agora.seeds import uniform_at

_USE = 979  # indices of the random draws: 979 and 980 for a single pedestrian, 981 and 982 for a group
_WIDTH = np.float32(math.sqrt(12.0))  # half-width of the uniform distribution with standard deviation 1
_BEGUN = np.float32(0.01)  # m/s, speed above which a pedestrian counts as walking, however slowly
_FACES = np.float32(0.2)  # m/s, speed above which a velocity defines a direction
_LEAST, _MOST = np.float32(-0.9), np.float32(1.0)  # deviations of the speed
_ASIDE = np.float32(1.2)  # rad, maximum deviation
_NEAR = np.float32(2.0)  # m, to the point to which a pedestrian walks
_TINY = np.float32(1e-12)


class Deviations(NamedTuple):
    """The deviations of the pedestrians of W worlds from their preferred speed and direction.

    Attributes:
        known: (W, P) whether the pedestrian already has deviations.
        pace: (W, P) deviation of the speed, as a fraction of the preferred speed.
        direction: (W, P) deviation of the direction, positive to the left, rad.
    """

    known: Bools
    pace: Floats
    direction: Floats


class Process(NamedTuple):
    """The random process that changes a deviation from one decision to the next.

    Attributes:
        kept: fraction of the deviation that is kept at each decision.
        fresh: standard deviation of the random part that is added at each decision.
        whole: stationary standard deviation of the deviation.
    """

    kept: np.float32
    fresh: np.float32
    whole: np.float32

    @staticmethod
    def of(deviation: float, time: float, period: float) -> Process:
        """Return the process with standard deviation ``deviation`` and correlation time ``time`` (in seconds), sampled every
        ``period`` seconds.
        """
        kept = math.exp(-period / time)
        return Process(*map(np.float32, (kept, deviation * math.sqrt(1.0 - kept * kept), deviation)))


@lean_inlined
def _draw_number(key, traits, clock, w, i, use):
    """Return a random number with mean 0 and standard deviation 1, the same for all members of a walking group."""
    group = traits.group[w, i]
    who, use = (group, use + 2) if group >= 0 else (traits.id[w, i], use)
    return _WIDTH * (np.float32(uniform_at(key, who, clock.step[w], use)) - np.float32(0.5))


@lean_kernel
def waver(pace, direction, people, traits, minds, waypoints, replay, clock, off, goal_x, goal_y, first, last):
    """Change the preferred speeds in worlds ``first <= w < last``, and write the points (W, P) that people steer towards, m.

    Args:
        pace: process of the speed deviations.
        direction: process of the direction deviations.
        waypoints: waypoints that people would walk to without fluctuations.
        off: deviations of the people (`Deviations`), which are written.
    """
    for w in range(first, last):
        if clock.done[w]:
            continue
        key = clock.key[w]
        for i in range(traits.count[w]):
            x, y = people.x[w, i], people.y[w, i]
            dx, dy, speed = waypoints.x[w, i] - x, waypoints.y[w, i] - y, traits.speed[w, i]
            goal_x[w, i], goal_y[w, i] = waypoints.x[w, i], waypoints.y[w, i]
            if not people.active[w, i] or minds.led[w, i] or replay.last[w, i] >= replay.first[w, i]:
                off.known[w, i] = False
                continue
            one, other = _draw_number(key, traits, clock, w, i, _USE), _draw_number(key, traits, clock, w, i, _USE + 1)
            if off.known[w, i]:
                share, angle = pace.kept * off.pace[w, i] + pace.fresh * one, direction.kept * off.direction[w, i]
                angle += direction.fresh * other
            else:
                vx, vy = people.vx[w, i], people.vy[w, i]
                going = math.sqrt(vx * vx + vy * vy + _TINY)
                share = going / max(speed, _TINY) - ONE if going > _BEGUN else pace.whole * one
                angle = atan2(dx * vy - dy * vx, dx * vx + dy * vy) if going > _FACES else direction.whole * other
            share, angle = min(max(share, _LEAST), _MOST), min(max(angle, -_ASIDE), _ASIDE)
            off.known[w, i], off.pace[w, i], off.direction[w, i] = True, share, angle
            traits.speed[w, i] = speed * (ONE + share)
            sine, cosine = sincos(angle * min(math.sqrt(dx * dx + dy * dy) / _NEAR, ONE))
            goal_x[w, i], goal_y[w, i] = x + dx * cosine - dy * sine, y + dy * cosine + dx * sine
