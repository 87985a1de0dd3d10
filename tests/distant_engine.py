"""The library's engine with its state elsewhere, as in a GPU or another process: it knows what it is told, and shows copies."""

from __future__ import annotations

from dataclasses import dataclass

from agora.core.state import Array
from agora.engine.crowd import EngineCrowd
from agora.engine.engine import Engine
from agora.simulators.native import NativeBodies
from agora.world.world import World


@dataclass(frozen=True)
class Distant:
    """The library's engine without routes and doors, far away.

    Attributes:
        each: shows every step; else the last one of a call.
    """

    each: bool = True

    can = frozenset({"step"})

    def backend(self, world, terms, led):
        return DistantEngine(world, terms, led, self.each)


class DistantEngine:
    """W worlds elsewhere."""

    def __init__(self, world, terms, led, each):
        self.world, self.offers, self._led, self._each = world, {}, led, each
        self._inner = World(world.layout, dt=world.dt, slots=world.slots)
        crowd = None
        if not led:
            every, sees = (
                terms.periods.steps("crowd"),
                {"sees_pedestrians": terms.sees_pedestrians, "sees_robots": terms.sees_robots},
            )
            careful = {"careful": terms.careful, "yields": terms.yields}
            crowd = EngineCrowd(self._inner, terms.models, terms.behaviours, every=every, **sees, **careful)
        self._engine = Engine(self._inner, crowd, NativeBodies(self._inner), ends=terms.ends, remove=terms.remove)

    def holds(self, start):
        return self.world.holds(start)

    def reset(self, number, start):
        self._engine.reset(number, start)
        self.world.reset(number, start)
        self._show()

    def adopt(self, number):
        for mine, shown in zip(records(self._inner), records(self.world), strict=True):
            mine[number] = shown[number]

    def advance(self, steps, after_step):
        self._inner.commands[...] = self.world.commands
        self._inner.status.events.count[...] = self.world.status.events.count
        for step in range(steps):
            if self._led:
                copy(self._inner.next_pedestrians, self.world.next_pedestrians)
            self._engine.step()
            if self._each or step == steps - 1:
                self.world.turn(1 if self._each else steps)
                self._show()
                after_step()
                self._inner.status.events.count[...] = self.world.status.events.count

    def close(self):
        self._engine.close()

    def _show(self):
        """Write the present moment into the records of the world."""
        for mine, shown in zip(records(self._inner), records(self.world), strict=True):
            shown[...] = mine


def records(world: World) -> list[Array]:
    """All arrays of a world's present moment, the world axis first."""
    parts = (world.pedestrians, world.robots, world.traits, world.minds, world.waypoints, world.robot_traits, *world.status)
    return [array for part in parts for array in part]


def copy(target, source) -> None:
    for mine, its in zip(target, source, strict=True):
        mine[...] = its
