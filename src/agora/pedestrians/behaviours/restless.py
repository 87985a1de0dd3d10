"""Pedestrians that change their goals at random, as in the environments of the CrowdNav family.

S. Liu et al., "Intention aware robot crowd navigation with attention-based interaction graph", ICRA 2023, and the authors' code:
every 5 s, each pedestrian takes a new goal with probability 1/2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agora.core.jit import bind, lean_kernel
from agora.ranges import Chance, Checked, Period
from agora.seeds import uniform_at

if TYPE_CHECKING:
    from agora.world.start import Start
    from agora.world.world import World

_USE = 977  # index of the random draw, different from those used by pedestrians that follow waypoints at random


@lean_kernel
def _decide(every, chance, pedestrians, traits, waypoints, minds, clock, first, last):
    for w in range(first, last):
        if clock.done[w] or clock.step[w] == 0 or clock.step[w] % every:
            continue
        for i in range(traits.count[w]):
            n = waypoints.count[w, i]
            if n < 2 or not pedestrians.active[w, i] or minds.taken[w, i]:
                continue
            if uniform_at(clock.key[w], traits.id[w, i], clock.step[w], _USE) < chance:
                k = (waypoints.index[w, i] + 1) % n
                waypoints.index[w, i] = k
                waypoints.x[w, i], waypoints.y[w, i] = waypoints.list_x[w, i, k], waypoints.list_y[w, i, k]


@dataclass(frozen=True)
class Restless(Checked):
    """Makes pedestrians abandon their current waypoint at random, and continue to the next one in their list.

    Attributes:
        period: time between two random draws, s; rounded to a whole number of crowd periods.
        chance: probability that a pedestrian changes its waypoint at a draw.
    """

    period: Period = 5.0
    chance: Chance = 0.5

    def attach(self, world: World, every: int, sees: int) -> AttachedRestless:
        """Attach the behaviour to a world."""
        return AttachedRestless(self, world, every)


class AttachedRestless:
    """`Restless` attached to one world; this behaviour is stateless."""

    def __init__(self, restless: Restless, world: World, every: int) -> None:
        self._restless, self._world, self._every = restless, world, every

    def reset(self, world: int, start: Start) -> None:
        """Start an episode in one world."""

    def think(self, generation: int) -> Callable[[int, int], None]:
        """Return the function of (first, last) that makes the decisions for worlds ``first <= w < last``."""
        w = self._world
        people, _ = w.generation(generation)
        every = max(1, round(self._restless.period / (w.dt * self._every))) * self._every
        now = (people, w.traits, w.waypoints, w.minds, w.status.clock)
        return bind(_decide, np.int64(every), self._restless.chance, *now)
