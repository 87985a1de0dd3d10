"""Pedestrians that wait at a waypoint or accompany a robot, for scripted situations."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agora.core.jit import bind, hidden, lean_kernel
from agora.core.scalar import ZERO, wrap
from agora.core.state import LOOP, SOCIAL_STATES, Bools, Floats, Ints
from agora.ranges import Checked, Period

if TYPE_CHECKING:
    from agora.world.start import Start
    from agora.world.world import World

_FAR = np.float32(3e38)
_TINY = np.float32(1e-6)
_TURN = np.float32(2.0)  # rad/s, turning rate of a waiting pedestrian
_SLOWING = np.float32(1.4)  # 1/s, speed per metre of remaining distance before a stop
_LEAST = np.float32(0.3)  # m/s, minimum speed before a stop
_WALKING = SOCIAL_STATES.index("walking")


class _Cues(NamedTuple):
    """The cues of pedestrians and the progress of the cues, as arrays (W, P). ``waits`` (in seconds), ``doing`` and ``facing`` (in
    radians) have one entry per waypoint, (W, P, K).
    """

    cued: Bools
    waits: Floats
    doing: Ints
    facing: Floats
    distance: Floats
    begins: Floats
    ends: Floats
    heading_for: Ints
    since: Floats


@hidden
def _stops_at(cues, waypoints, w, i, k):
    """Return whether pedestrian i stops at its waypoint k."""
    n = waypoints.count[w, i]
    after = (k + 1) % n if waypoints.mode[w, i] == LOOP else min(k + 1, n - 1)
    return after != k and cues.doing[w, i, after] >= 0 and cues.waits[w, i, after] > ZERO


@lean_kernel
def _decide(dt, period, pause, cues, pedestrians, traits, waypoints, minds, robots, clock, first, last):
    for w in range(first, last):
        if clock.done[w]:
            continue
        time = np.float32(clock.step[w]) * dt
        for i in range(traits.count[w]):
            if not cues.cued[w, i] or not pedestrians.active[w, i]:
                continue
            k = waypoints.index[w, i]
            # The groups behaviour replaces the waypoint list of a member; cues index the original list.
            if k >= waypoints.count[w, i]:
                continue
            # Company takes precedence over waiting: the pedestrian follows the nearest active robot.
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
                # A new waypoint restarts the wait.
                cues.heading_for[w, i], cues.since[w, i] = k, time
            waits = time - cues.since[w, i] < cues.waits[w, i, k]
            if waits:
                traits.speed[w, i] = ZERO
            if not waits and _stops_at(cues, waypoints, w, i, k):
                # Slow down before a stop, because the crowd model only sees the preferred speed.
                dx, dy = waypoints.list_x[w, i, k] - x, waypoints.list_y[w, i, k] - y
                left = math.sqrt(dx * dx + dy * dy) - waypoints.tolerance[w, i]
                traits.speed[w, i] = min(traits.speed[w, i], max(_SLOWING * left, _LEAST))
            # Turn at a limited rate; a state that another behaviour has set (`minds.taken`) is left alone.
            if cues.doing[w, i, k] >= 0 and not minds.taken[w, i]:
                minds.state[w, i] = cues.doing[w, i, k] if waits else _WALKING
                if waits:
                    turn = wrap(cues.facing[w, i, k] - pedestrians.heading[w, i])
                    most = _TURN * period
                    pedestrians.heading[w, i] = wrap(pedestrians.heading[w, i] + min(max(turn, -most), most))


@dataclass(frozen=True)
class Cues(Checked):
    """Makes pedestrians wait before they set out for a waypoint, or approach the nearest robot and accompany it at a given
    distance.

    The data of each pedestrian (`agora.draft.people.Person`: ``waits``, ``company``) specify the times and distances. Pedestrians
    without such data, and members led by the ``groups`` behaviour, are unaffected. While a pedestrian waits, its preferred speed is
    0, so crowd models do not move it. If the pedestrian's data specify an activity (``doing``, ``faces``), the pedestrian turns to
    the given direction, and the activity becomes its social state. A pedestrian that accompanies a robot walks straight towards it,
    at most as fast as the remaining distance divided by ``pause``. When the time for accompanying the robot is over, the pedestrian
    continues to its waypoint.

    Attributes:
        pause: time in which a pedestrian that accompanies a robot would cover the remaining distance to it, s.
    """

    pause: Period = 0.5

    def attach(self, world: World, every: int, sees: int) -> AttachedCues:
        """Attach the behaviour to a world."""
        return AttachedCues(self, world, every)


class AttachedCues:
    """Cues attached to one world."""

    def __init__(self, cues: Cues, world: World, every: int) -> None:
        shape = world.traits.speed.shape
        self._pause, self._world, self._period = np.float32(cues.pause), world, np.float32(world.dt * every)
        cued = np.zeros(shape, np.bool_)
        distance, begins, ends, since = (np.zeros(shape, np.float32) for _ in range(4))
        waits, facing = (np.zeros(world.waypoints.list_x.shape, np.float32) for _ in range(2))
        doing, heading_for = np.zeros(waits.shape, np.int32), np.zeros(shape, np.int32)
        self.cues = _Cues(cued, waits, doing, facing, distance, begins, ends, heading_for, since)

    def reset(self, world: int, start: Start) -> None:
        """Start an episode in one world."""
        for field in self.cues:
            field[world] = 0
        people, cues, w = start.pedestrians, self.cues, world
        n = len(people.id)
        listed = people.waits.shape[1]
        cues.waits[w, :n, :listed], cues.doing[w, :n, :listed], cues.facing[w, :n, :listed] = (
            people.waits,
            people.doing,
            people.facing,
        )
        cues.distance[w, :n], cues.begins[w, :n], cues.ends[w, :n] = people.company.T
        cues.cued[w, :n] = people.waits.any(axis=1) | (people.company[:, 0] > 0)

    def think(self, generation: int) -> Callable[[int, int], None]:
        """Return the function of (first, last) that makes the decisions for worlds ``first <= w < last``."""
        w = self._world
        people, robots = w.generation(generation)
        now = (people, w.traits, w.waypoints, w.minds, robots, w.status.clock)
        return bind(_decide, np.float32(w.dt), self._period, self._pause, self.cues, *now)
