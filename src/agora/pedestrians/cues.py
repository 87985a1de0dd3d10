"""Pedestrians that wait for their moment, or stay with a robot: what scripted situations ask for."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agora.core.jit import bind, lean_kernel
from agora.core.scalar import ZERO
from agora.core.state import Bools, Floats, Ints
from agora.ranges import Duration

if TYPE_CHECKING:
    from agora.world.start import Start
    from agora.world.world import World

_FAR = np.float32(3e38)
_TINY = np.float32(1e-6)


class _Cues(NamedTuple):
    """What was asked of pedestrians, and how far they are: arrays (W, P), waits (W, P, K) in s."""

    cued: Bools
    waits: Floats
    distance: Floats
    begins: Floats
    ends: Floats
    heading_for: Ints
    since: Floats


@lean_kernel
def _decide(dt, pause, cues, pedestrians, traits, waypoints, robots, clock, first, last):
    for w in range(first, last):
        if clock.done[w]:
            continue
        time = np.float32(clock.step[w]) * dt
        for i in range(traits.count[w]):
            if not cues.cued[w, i] or not pedestrians.active[w, i]:
                continue
            k = waypoints.index[w, i]
            x, y = pedestrians.x[w, i], pedestrians.y[w, i]
            if cues.distance[w, i] > ZERO and cues.begins[w, i] <= time < cues.ends[w, i]:
                nearest, bx, by = _FAR, x, y
                for r in range(robots.x.shape[1]):
                    dx, dy = robots.x[w, r] - x, robots.y[w, r] - y
                    d2 = dx * dx + dy * dy
                    if robots.active[w, r] and d2 < nearest:
                        nearest, bx, by = d2, dx, dy
                if nearest < _FAR:
                    d = math.sqrt(nearest) + _TINY
                    gap = max(d - cues.distance[w, i], ZERO)
                    waypoints.x[w, i], waypoints.y[w, i] = x + bx, y + by
                    traits.speed[w, i] = min(traits.speed[w, i], gap / pause)
                    continue
            if k != cues.heading_for[w, i]:
                cues.heading_for[w, i], cues.since[w, i] = k, time
            if time - cues.since[w, i] < cues.waits[w, i, k]:
                traits.speed[w, i] = ZERO


@dataclass(frozen=True)
class Cues:
    """Pedestrians stand before they set out for a waypoint, or walk up to the nearest robot, stop at a distance and go with it.

    Who does which, when and how near are data of the pedestrians (`agora.draft.people.Person`: ``waits``, ``company``); everybody
    else is left alone. While one waits the preferred speed is 0, so no model moves it. One in company walks straight towards the
    robot, with a speed of at most what is left of the way over ``pause``; when the company ends, it goes on to its waypoint.

    Attributes:
        pause: s in which one in company covers what is left of the way.
    """

    pause: Duration = 0.5

    def __post_init__(self) -> None:
        if not self.pause > 0:
            raise ValueError(f"pause must be above 0, got {self.pause}")

    def attach(self, world: World, every: int, sees: int) -> AttachedCues:
        """Return the behaviour at work on a world."""
        return AttachedCues(self, world)


class AttachedCues:
    """Cues at work on one world."""

    def __init__(self, cues: Cues, world: World) -> None:
        shape = world.traits.speed.shape
        self._pause, self._world = np.float32(cues.pause), world
        cued = np.zeros(shape, np.bool_)
        distance, begins, ends, since = (np.zeros(shape, np.float32) for _ in range(4))
        waits, heading_for = np.zeros(world.waypoints.list_x.shape, np.float32), np.zeros(shape, np.int32)
        self.cues = _Cues(cued, waits, distance, begins, ends, heading_for, since)

    def reset(self, world: int, start: Start) -> None:
        """Begin an episode in one world."""
        for field in self.cues:
            field[world] = 0
        people, cues, w = start.pedestrians, self.cues, world
        n = len(people.id)
        cues.waits[w, :n, : people.waits.shape[1]] = people.waits
        cues.distance[w, :n], cues.begins[w, :n], cues.ends[w, :n] = people.company.T
        cues.cued[w, :n] = people.waits.any(axis=1) | (people.company[:, 0] > 0)

    def think(self, generation: int) -> Callable[[int, int], None]:
        """Return the function of (first, last) that decides for worlds ``first <= w < last``."""
        w = self._world
        people, robots = w.generation(generation)
        now = (people, w.traits, w.waypoints, robots, w.status.clock)
        return bind(_decide, np.float32(w.dt), self._pause, self.cues, *now)
