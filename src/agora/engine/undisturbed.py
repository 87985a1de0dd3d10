"""Simulates episodes without their robots, to obtain the paths that pedestrians would have walked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from agora.core.state import Doubles
from agora.engine.backends import backend_of

if TYPE_CHECKING:
    from agora.engine.conditions import Conditions
    from agora.world.start import Start


def walk_undisturbed(
    starts: Sequence[Start],
    conditions: Conditions,
    ends: Sequence[float],
    *,
    threads: int = 1,
    slots: int = 0,
    before: Callable[[], None] = lambda: None,
    after: Callable[[], None] = lambda: None,
) -> list[Doubles]:
    """Return, for each start, the positions (T, P, 2) of the pedestrians in a world without robots, in metres, at the sample times
    of the episode's recording.

    Everything else is as in the episode with robots: the pedestrians, their goals, and all random streams. A pedestrian that no
    robot has influenced, even indirectly, has exactly the same position.

    Args:
        starts: starts of the episodes.
        conditions: conditions shared by all episodes.
        ends: time at which each episode with robots ended, s. Samples are taken at the control rate; the last sample is at the end
            time, which need not be a multiple of the control period.
        threads: number of threads among which the worlds are divided.
        slots: pedestrian slots per world; 0 for the minimum.
        before: function called before each step of the world, such as a watchdog's heartbeat.
        after: function called after each step of the world.
    """
    empty = [replace(start, robots=()) for start in starts]
    engine = backend_of(empty, conditions, threads=threads, slots=slots)
    world, every = engine.world, conditions.periods.steps("control")
    last = [round(end / world.dt) for end in ends]
    found: list[list[Doubles]] = [[] for _ in starts]
    try:
        for w, start in enumerate(empty):
            engine.reset(w, start)
        for step in range(max(last) + 1):
            for w, start in enumerate(starts):
                if step == last[w] or (step < last[w] and step % every == 0):
                    people, slots_of = world.pedestrians, slice(0, start.crowd_size)
                    found[w].append(np.stack([people.x[w, slots_of], people.y[w, slots_of]], 1).astype(np.float64))
                if step == last[w]:
                    world.status.clock.done[w] = True
                    engine.adopt(w)
            before()
            engine.advance(1, after)
    finally:
        engine.close()
    return [np.stack(each) for each in found]
