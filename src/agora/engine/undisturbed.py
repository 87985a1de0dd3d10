"""The same episodes without robots: where everybody would have walked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from agora.core.state import Doubles
from agora.engine.engine import Engine

if TYPE_CHECKING:
    from agora.engine.conditions import Conditions
    from agora.world.start import Start

__all__ = ["undisturbed"]


def undisturbed(
    starts: Sequence[Start], conditions: Conditions, samples: Sequence[int], *, threads: int = 1, slots: int = 0
) -> list[Doubles]:
    """Return where the pedestrians of each start are at control rate in a world without robots: (T, P, 2), m.

    All else is as with robots: who is there, where everybody wants to go, and every random stream. A pedestrian whom no robot has
    influenced, not even through others, is at the same place to the bit.

    Args:
        starts: the episodes.
        conditions: what they have in common.
        samples: T of each of them, at least 1: the first at time 0, and one after each control period.
        threads: that share the worlds. slots: pedestrian slots a world; the least where 0.
    """
    empty = [replace(start, robots=()) for start in starts]
    engine = Engine.of(empty, conditions, threads=threads, slots=slots)
    world, every = engine.world, conditions.periods.steps("control")
    found = [np.zeros((count, start.crowd_size, 2)) for count, start in zip(samples, starts, strict=True)]
    try:
        for w, start in enumerate(empty):
            engine.reset(w, start)
        for k in range(max(samples)):
            people = world.pedestrians
            for w in range(len(starts)):
                if k < samples[w]:
                    found[w][k, :, 0] = people.x[w, : found[w].shape[1]]
                    found[w][k, :, 1] = people.y[w, : found[w].shape[1]]
                else:
                    world.status.clock.done[w] = True
            for _ in range(every):
                engine.step()
    finally:
        engine.close()
    return found
