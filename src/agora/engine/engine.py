"""The native engine: the crowd, the robots' bodies and the rules advance the worlds of a batch, using kernels that run over the
batch.

The order within a step is always the same: doors move; all parts read generation t; the crowd and the robots advance to t + dt;
contacts are detected by sweeping; outcomes are decided; the generations are swapped. Sensors are computed on demand
(`agora.engine.observe`).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, cast

from agora.engine.crowd import EngineCrowd, Part
from agora.engine.rules import Rules
from agora.engine.scene import CrowdReader
from agora.errors import InputError
from agora.interfaces import WholeSimulator
from agora.simulators.native import NativeBodies
from agora.world.records import EVERY_CONTACT
from agora.world.world import World

if TYPE_CHECKING:
    from agora.core.state import Floats
    from agora.engine.conditions import Conditions
    from agora.interfaces import AnySimulator, Bodies
    from agora.world.start import Start
    from agora.world.threads import Work

__all__ = ["Engine"]


class Engine:
    """Advances a world step by step.

    Args:
        world: world to advance.
        crowd: crowd that moves the world's pedestrians; if None, the caller must write `World.next_pedestrians` before every step.
        bodies: bodies of the world's robots (`agora.interfaces.Bodies`); None for the library's own implementation.
        ends: sum of the END bits (`agora.world.records`) of those kinds of contact that end an episode; other contacts are only
            counted.
        remove: whether robots leave the world when their episode has ended.

    Attributes:
        offers: channels that the simulator measures, keyed by channel name.
    """

    def __init__(
        self,
        world: World,
        crowd: EngineCrowd | None = None,
        bodies: Bodies | None = None,
        *,
        ends: int = EVERY_CONTACT,
        remove: bool = False,
    ) -> None:
        self.world, self.crowd = world, crowd
        self._bodies: Bodies = bodies or NativeBodies(world)
        self.offers = self._bodies.sensors()
        self._rules = Rules(world, ends, remove)
        self._calls = [self._calls_from(0), self._calls_from(1)]

    @staticmethod
    def of(
        starts: Sequence[Start],
        conditions: Conditions,
        *,
        worlds: int = 0,
        threads: int = 1,
        slots: int = 0,
        is_fed: bool = False,
        drawn: bool = False,
    ) -> Engine:
        """Return an engine with a crowd, under the conditions of a batch.

        Args:
            starts: every episode that a world may run.
            conditions: conditions shared by all episodes.
            worlds: number of worlds, W; 0 for one per start.
            threads: number of threads among which the worlds are divided.
            slots: pedestrian slots per world; 0 for the minimum.
            is_fed: whether external forces may act on pedestrians.
            drawn: whether the starts are only examples; if so, a world may run any start accepted by `holds`.

        Raises:
            InputError: the simulator cannot run single steps, or has its own engine (`agora.engine.backends`).
        """
        simulator = steps_of(conditions.simulator)
        if isinstance(simulator, WholeSimulator):
            raise InputError(f"simulator {type(simulator).__name__} has its own engine, but the library's engine is needed")
        world = World.of(starts, dt=conditions.periods.physics, worlds=worlds, slots=slots, threads=threads, drawn=drawn)
        crowd = EngineCrowd(
            world,
            conditions.models,
            conditions.behaviours,
            every=conditions.periods.steps("crowd"),
            sees_pedestrians=conditions.sees_pedestrians,
            sees_robots=conditions.sees_robots,
            is_fed=is_fed,
            routes=starts if conditions.routes else None,
            drawn=drawn,
            careful=conditions.careful,
            yields=conditions.yields,
            sidestep=conditions.sidestep,
            minding=conditions.minding,
            unsteady=conditions.unsteady,
            steps=conditions.steps,
        )
        return Engine(world, crowd, simulator.bodies(world), ends=conditions.ends, remove=conditions.remove)

    def _calls_from(self, now: int) -> tuple[list[Callable[[], None]], list[Callable[[], None]]]:
        """Return two lists of the calls that make up a step from generation ``now``: without crowd models, for steps between crowd
        periods, and with crowd models.
        """
        crowd, robots = self.crowd, [self._bodies.move(now), self._rules.judge(now, self._bodies.walls)]
        if crowd is None:
            calls = self._plan(robots)
            return calls, calls
        move = crowd.move(now)
        return self._plan([*move, *robots]), self._plan([*crowd.think(now), *crowd.compute(now), *move, *robots])

    def _plan(self, parts: Sequence[Part]) -> list[Callable[[], None]]:
        """Return the parts of a step as a list of calls; consecutive kernels are merged into one call, which runs them world by
        world.
        """
        calls: list[Callable[[], None]] = []
        for is_reader, some in itertools.groupby(parts, lambda part: isinstance(part, CrowdReader)):
            if is_reader:
                calls += [cast(CrowdReader, reader).compute for reader in some]
            else:
                calls.append(functools.partial(self.world.threads.everywhere, *cast("Iterator[Work]", some)))
        return calls

    def holds(self, start: Start) -> bool:
        """Return whether a world has room for an episode that was not among the engine's starts."""
        routing = None if self.crowd is None else self.crowd.routing
        return self.world.holds(start) and (routing is None or routing.holds(start))

    def reset(self, world: int, start: Start) -> None:
        """Start an episode in one world; the other worlds continue."""
        self.world.reset(world, start)
        self._bodies.reset(world, start)
        if self.crowd is not None:
            self.crowd.reset(world, start)

    def adopt(self, world: int) -> None:
        """Continue one world from its current records; the engine keeps no other state."""

    def advance(self, steps: int, after_step: Callable[[], None]) -> None:
        """Advance by ``steps`` physics steps; ``after_step`` is called after each of them."""
        for _ in range(steps):
            self.step()
            after_step()

    def step(self, commands: Floats | None = None) -> None:
        """Advance every world that is not done by one physics step.

        Args:
            commands: (W, R, 3) commanded twists in the robots' frames, m/s and rad/s; by default the previous commands.
        """
        world = self.world
        if commands is not None:
            world.commands[...] = commands
        if world.doors is not None:
            world.doors.step()
        for call in self._calls[world.now][self.crowd is not None and world.tick % self.crowd.every == 0]:
            call()
        world.turn()

    def close(self) -> None:
        """Stop the threads, and close the bodies."""
        self._bodies.close()
        self.world.close()


def steps_of(simulator: AnySimulator) -> AnySimulator:
    """Return the simulator if it can run single steps.

    Raises:
        InputError: the simulator cannot run single steps.
    """
    if "step" not in simulator.can:
        raise InputError(f"simulator {type(simulator).__name__} cannot take single steps, which episodes need")
    return simulator
