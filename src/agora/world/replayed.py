"""Places recorded pedestrians at their positions at a given time, and finds the slots that form a rigid body."""

from __future__ import annotations

import numpy as np

from agora.core.jit import hidden, lean_kernel
from agora.core.scalar import ZERO, atan2


@hidden
def _replay_slot(replay, after, w, i, time, since):
    """Move a pedestrian to its position on the recorded trajectory. The pedestrian is absent before the first and after the last
    knot.

    The pedestrian is also absent if its trajectory restarted within the last ``since`` seconds, i.e. since the previous generation.
    """
    first, last, period = replay.first[w, i], replay.last[w, i], replay.period[w, i]
    t = time + replay.phase[w, i]
    if period > 0.0:
        rounds = np.floor(t / period)
        jumped = rounds > np.floor((t - since) / period) and time > 0.0
        t -= rounds * period
        t += replay.time[first]
        if jumped:
            after.active[w, i] = False
            return
    if t < replay.time[first] or t >= replay.time[last]:
        after.active[w, i] = False
        return
    k = replay.cursor[w, i]
    if k < first or k >= last or replay.time[k] > t:
        k = first
    while replay.time[k + 1] <= t:
        k += 1
    replay.cursor[w, i] = k
    span = replay.time[k + 1] - replay.time[k]
    share = np.float32((t - replay.time[k]) / span)
    inverse = np.float32(1.0 / span)
    ex, ey = replay.x[k + 1] - replay.x[k], replay.y[k + 1] - replay.y[k]
    after.x[w, i] = replay.x[k] + share * ex
    after.y[w, i] = replay.y[k] + share * ey
    after.vx[w, i] = ex * inverse
    after.vy[w, i] = ey * inverse
    after.active[w, i] = True


@hidden
def place_replayed(replay, after, traits, w, time, since):
    """Move every replayed slot of world w to its recorded position."""
    for i in range(traits.count[w]):
        if replay.last[w, i] >= replay.first[w, i]:
            _replay_slot(replay, after, w, i, time, since)


@hidden
def end_of_body(traits, w, i):
    """Return the slot after the last disc of the body whose first disc is in slot i."""
    end = i + 1
    while traits.body[w, i] >= 0 and end < traits.count[w] and traits.body[w, end] == traits.body[w, i]:
        end += 1
    return end


@lean_kernel
def start_replayed(dt, now, traits, replay, w):
    """Write generation 0 of the replayed pedestrians in world w at the start of an episode."""
    place_replayed(replay, now, traits, w, 0.0, dt)
    for i in range(traits.count[w]):
        if now.active[w, i] and now.vx[w, i] * now.vx[w, i] + now.vy[w, i] * now.vy[w, i] > ZERO:
            now.heading[w, i] = atan2(now.vy[w, i], now.vx[w, i])
