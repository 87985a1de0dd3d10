"""The contract for simulators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from agora.core.state import Array, Floats
from agora.draft.periods import Periods
from agora.engine.conditions import Conditions
from agora.engine.engine import Engine
from agora.interfaces import Simulator
from agora.testing.crowds import DT, crowd
from agora.testing.errors import ContractError
from agora.testing.guard import identical, pure
from agora.world.start import Start

_STEPS = 30
_REST = 60  # steps after which a robot commanded to stop must be at rest
_SLACK = 1e-3  # m/s and rad/s, allowed excess over a limit
_INTO = 0.05  # m, allowed overlap of a robot and a wall


def check_simulator(simulator: Simulator) -> None:
    """Check a simulator against the contract of `agora.interfaces.Bodies`.

    The robots' poses are finite, and their speeds are within limits. Robots stop when commanded to stop, and make progress when
    commanded to drive. Walls stop robots, and these contacts are reported. Pedestrians, maps and commands do not change. The same
    commands give bit-identical results, including after a reset and whatever the other worlds do. Finished worlds do not change,
    and worlds without robots are handled.

    Args:
        simulator: simulator with the ability ``step``.

    Raises:
        ContractError: the simulator breaks a clause.
    """
    check = _Check(simulator, type(simulator).__name__)
    check.drives()
    check.comes_to_rest()
    check.stops_at_walls()
    check.repeats()
    check.worlds_are_alone()
    check.done_worlds()
    check.nobody()


@dataclass(frozen=True)
class _Check:
    """The clauses of the contract."""

    simulator: Simulator
    name: str

    def fail(self, clause: str) -> ContractError:
        """Return the error for a violated clause."""
        return ContractError(f"{self.name}: {clause}")

    def engine(self, starts: Sequence[Start]) -> Engine:
        """Return an engine at the start of the episodes, in which contacts do not end episodes."""
        engine = Engine.of(starts, Conditions(Periods(DT, DT, DT, DT), ends=0, simulator=self.simulator))
        for world, start in enumerate(starts):
            engine.reset(world, start)
        return engine

    def commands(self, engine: Engine, steps: int) -> Floats:
        """Return twists (T, W, R, 3), different for each world."""
        worlds, robots = engine.world.layout.worlds, engine.world.layout.robots
        drawn = [np.random.default_rng([5, w]).uniform(-0.6, 1.2, (steps, robots, 3)) for w in range(worlds)]
        return np.stack(drawn, 1).astype(np.float32)

    def run(self, engine: Engine, steps: int = _STEPS) -> Engine:
        """Return the engine after a number of steps, checking each step."""
        world, limits = engine.world, engine.world.robot_traits
        for step, twists in enumerate(self.commands(engine, steps)):
            now = world.pedestrians
            with pure(f"{self.name}: step {step}", traits=world.traits, minds=world.minds, maps=world.maps, people=now):
                engine.step(twists)
            robots = world.robots
            for field, value in zip(robots._fields, robots, strict=True):
                if not np.isfinite(value).all():
                    raise self.fail(f"step {step}: {field} is {value}")
            if not np.array_equal(world.commands, twists):
                raise self.fail(f"step {step}: the commands have changed")
            over = (robots.vx > limits.max_vx + _SLACK) | (robots.vx < limits.min_vx - _SLACK)
            over |= (np.abs(robots.vy) > limits.max_vy + _SLACK) | (np.abs(robots.omega) > limits.max_omega + _SLACK)
            if over.any():
                raise self.fail(f"step {step}: robot {tuple(np.argwhere(over)[0])} exceeds its top speed")
        return engine

    def states(self, engine: Engine, world: int) -> tuple[Array, ...]:
        """Return the complete state of one world's robots."""
        return tuple(field[world].copy() for field in engine.world.robots)

    def drives(self) -> None:
        """Check that robots commanded to drive make progress."""
        self.run(self.engine(crowd(walls=False)))
        engine = self.engine(crowd(walls=False))
        before = np.stack(engine.world.robots[:2])
        for _ in range(_STEPS):
            engine.step(np.full(engine.world.commands.shape, (0.5, 0.0, 0.0), np.float32))
        way = np.hypot(*(np.stack(engine.world.robots[:2]) - before))
        if (half := float(np.median(way))) < 0.1 * 0.5 * DT * _STEPS:  # some robots are at the edge of the map
            raise self.fail(
                f"commanded to drive at 0.5 m/s, half of the robots moved no more than {half:.3f} m in {DT * _STEPS:g} s"
            )

    def comes_to_rest(self) -> None:
        """Check that robots commanded to stop come to rest."""
        engine = self.run(self.engine(crowd(walls=False)))
        for _ in range(_REST):
            engine.step(np.zeros_like(engine.world.commands))
        before = np.stack(engine.world.robots[:3])
        engine.step()
        if (moved := np.abs(np.stack(engine.world.robots[:3]) - before).max()) > _SLACK * DT:
            raise self.fail(f"commanded to stand still for {_REST * DT:g} s, a robot still moves by {moved:.5f} per step")

    def stops_at_walls(self) -> None:
        """Check that walls stop robots and that the contacts are reported."""
        starts = crowd()
        engine, reported = self.engine(starts), False
        for step in range(4 * _STEPS):
            engine.step(np.full(engine.world.commands.shape, (1.0, 0.0, 0.0), np.float32))
            status, robots = engine.world.status, engine.world.robots
            reported |= bool(status.touching.wall.any())
            for world, start in enumerate(starts):
                place = np.stack([robots.x[world], robots.y[world]], -1).astype(float)
                inside = engine.world.robot_traits.radius[world] - start.map.clearance_at(place)
                if (deepest := float(inside.max())) > _INTO:
                    raise self.fail(f"step {step}: a robot is {deepest:.2f} m in a wall")
        if not reported:
            raise self.fail("robots drove into walls until they stopped, but `walls` was never set")

    def repeats(self) -> None:
        """Check that the same commands give bit-identical results, even after another episode."""
        starts = crowd()
        first, again, used = self.run(self.engine(starts)), self.run(self.engine(starts)), self.run(self.engine(starts), 7)
        for world, start in enumerate(starts):
            used.reset(world, start)
        self.run(used)
        for world in range(len(starts)):
            if not identical(self.states(first, world), self.states(again, world)):
                raise self.fail(f"not deterministic: a second run of world {world} gives different results")
            if not identical(self.states(first, world), self.states(used, world)):
                raise self.fail(f"a reset leaves state from the last episode behind in world {world}")

    def worlds_are_alone(self) -> None:
        """Check that a world gives bit-identical results on its own and in a batch."""
        starts = crowd()
        together = self.engine(starts)
        twists = self.commands(together, _STEPS)
        alone = [self.engine([start]) for start in starts]
        for at_once in twists:
            together.step(at_once)
            for world, one in enumerate(alone):
                one.step(at_once[world : world + 1])
        for world, one in enumerate(alone):
            if not identical(self.states(together, world), self.states(one, 0)):
                raise self.fail(f"worlds affect each other: world {world} gives different results in the batch and alone")

    def done_worlds(self) -> None:
        """Check that a finished world does not change."""
        engine = self.run(self.engine(crowd()), 5)
        engine.world.status.clock.done[1] = True
        before = self.states(engine, 1)
        self.run(engine, 6)
        if not identical(before, self.states(engine, 1)):
            raise self.fail("it moves robots in a finished world")

    def nobody(self) -> None:
        """Check that worlds without robots are handled."""
        engine = self.engine([replace(start, robots=()) for start in crowd()])
        engine.step()
        engine.close()
