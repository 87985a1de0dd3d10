"""The contract for behaviours."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agora.core.state import REACTIONS, SOCIAL_STATES, TYPES, Array
from agora.draft.periods import Periods
from agora.engine.conditions import Conditions
from agora.engine.engine import Engine
from agora.interfaces import Behaviour
from agora.testing.crowds import DT, SIZES, crowd
from agora.testing.errors import ContractError
from agora.testing.guard import identical, pure
from agora.testing.scenes import Move
from agora.world.start import Start

_STEPS = 40
_NUMBERS = {"type": len(TYPES), "reaction": len(REACTIONS), "state": len(SOCIAL_STATES)}


def check_behaviour(behaviour: Behaviour, *, tolerance: float = 5e-3, agreement: float = 0.95) -> None:
    """Check a behaviour against the contract of `agora.interfaces`.

    The behaviour's decisions are finite and in range, even with one pedestrian or none. The same episode gives bit-identical
    results regardless of earlier runs, on its own or in a batch, and with more empty slots. The behaviour writes only waypoints,
    preferred speeds, groups, minds and headings, and does not use global random generators. Values in empty slots have no effect;
    finished worlds do not change; shifting or rotating the scene shifts or rotates the waypoints; NaN parameters are rejected.

    Args:
        behaviour: behaviour to check.
        tolerance: tolerance for waypoints, m, and speeds, m/s, in the moved scene.
        agreement: fraction of pedestrians whose results must agree in the moved scene; less than 1 if decisions depend on
            thresholds.

    Raises:
        ContractError: the behaviour breaks a clause.
    """
    check = _Check(behaviour, type(behaviour).__name__)
    check.refuses_nan()
    check.answers()
    check.repeats()
    check.worlds_are_alone()
    check.empty_slots()
    check.done_worlds()
    check.moved(tolerance, agreement)


@dataclass(frozen=True)
class _Check:
    """The clauses of the contract."""

    behaviour: Any
    name: str

    def fail(self, clause: str) -> ContractError:
        """Return the error for a violated clause."""
        return ContractError(f"{self.name}: {clause}")

    def engine(self, starts: Sequence[Start], slots: int = 0, robot: float = 0.4) -> Engine:
        """Return an engine at the start of the episodes, in which the first robot of each world drives in circles."""
        engine = Engine.of(starts, Conditions(Periods(DT, DT, DT, DT), behaviours=(self.behaviour,), ends=0), slots=slots)
        for world, start in enumerate(starts):
            engine.reset(world, start)
        engine.world.commands[..., 0], engine.world.commands[..., 2] = robot, 0.3
        return engine

    def run(self, starts: Sequence[Start], slots: int = 0, steps: int = _STEPS) -> Engine:
        """Return an engine after a number of steps, each of which is checked."""
        engine = self.engine(starts, slots)
        for step in range(steps):
            self.step(engine, f"step {step} of worlds of {[s.crowd_size for s in starts]} pedestrians")
        return engine

    def step(self, engine: Engine, where: str) -> None:
        """Advance by one step, and check the decisions."""
        assert engine.crowd is not None
        think = engine.crowd.behaviours[0].think(engine.world.now)
        people, given = engine.world.pedestrians, engine.world.traits
        kept = {
            "places": (people.x, people.y, people.vx, people.vy, people.active),
            "traits": (given.radius, given.id, given.count),
            "lists": (engine.world.waypoints.list_x, engine.world.waypoints.list_y),
            "robots": (engine.world.robots, engine.world.robot_traits),
            "maps": engine.world.maps,
            "status": engine.world.status,
        }
        with pure(f"{self.name}: {where}", **kept):
            think(0, engine.world.layout.worlds)
        self.in_range(engine, where)
        engine.step()

    def in_range(self, engine: Engine, where: str) -> None:
        """Check that waypoints and speeds are finite, and that minds have valid values."""
        active, minds = engine.world.pedestrians.active, engine.world.minds
        for name, value in {
            "waypoints.x": engine.world.waypoints.x,
            "waypoints.y": engine.world.waypoints.y,
            "speed": engine.world.traits.speed,
        }.items():
            if not np.isfinite(value[active]).all() or (name == "speed" and (value[active] < 0).any()):
                raise self.fail(f"{where}: {name} is {value[active]}")
        for name, most in _NUMBERS.items():
            value = getattr(minds, name)[active]
            if ((value < 0) | (value >= most)).any():
                raise self.fail(f"{where}: minds.{name}: expected 0 to {most - 1}, got {value}")
        for name in ("stress", "energy", "social"):
            value = getattr(minds, name)[active]
            if not ((value >= 0) & (value <= 1)).all():
                raise self.fail(f"{where}: minds.{name}: expected a value in [0, 1], got {value}")
        for w in range(engine.world.layout.worlds):
            known = {-1, *engine.world.traits.id[w, active[w]].tolist()}
            if not set(minds.partner[w, active[w]].tolist()) <= known:
                raise self.fail(f"{where}: minds.partner of world {w} refers to an absent pedestrian")

    def decided(self, engine: Engine, world: int, start: Start) -> tuple[Array, ...]:
        """Return the values that the behaviour sets or changes, for the pedestrians of one world."""
        n, people = start.crowd_size, engine.world.pedestrians
        records = (people, engine.world.traits[:4], engine.world.waypoints, engine.world.minds)
        return tuple(array[world, :n].copy() for record in records for array in record)

    def refuses_nan(self) -> None:
        """Check that NaN parameters are rejected."""
        for field in dataclasses.fields(self.behaviour) if dataclasses.is_dataclass(self.behaviour) else ():
            if type(getattr(self.behaviour, field.name)) is float and field.init:
                try:
                    dataclasses.replace(self.behaviour, **{field.name: math.nan})
                except Exception:  # noqa: BLE001, S112 - any refusal will do
                    continue
                raise self.fail(f"parameter {field.name} accepts NaN; raise ValueError in __post_init__")

    def answers(self) -> None:
        """Check the decisions for crowds of all sizes."""
        for sizes in (SIZES, (0,), (1,)):
            self.run(crowd(sizes, seed=2))

    def repeats(self) -> None:
        """Check that the same episodes give bit-identical results, even in an engine that has been used before."""
        starts = crowd()
        first = self.run(starts)
        again = self.run(starts)
        for world, start in enumerate(starts):
            one = self.decided(first, world, start)
            if not identical(one, self.decided(again, world, start)):
                raise self.fail(f"not deterministic: a second run of world {world} gives different results")
        fresh = self.engine(starts)
        for _ in range(5):
            fresh.step()
        for world, start in enumerate(starts):
            fresh.reset(world, start)
        for step in range(_STEPS):
            self.step(fresh, f"step {step} after a reset")
        for world, start in enumerate(starts):
            if not identical(self.decided(first, world, start), self.decided(fresh, world, start)):
                raise self.fail(f"a reset leaves state from the last episode behind in world {world}")

    def worlds_are_alone(self) -> None:
        """Check that a world gives bit-identical results on its own, in a batch, and with more empty slots."""
        starts = crowd()
        together = self.run(starts)
        wide = self.run(starts, slots=3 * together.world.slots)
        for world, start in enumerate(starts):
            one = self.decided(together, world, start)
            if not identical(one, self.decided(wide, world, start)):
                raise self.fail(f"the number of slots changes the result in world {world}")
            if not identical(one, self.decided(self.run([start], slots=together.world.slots), 0, start)):
                raise self.fail(f"worlds affect each other: world {world} gives different results in the batch and alone")

    def empty_slots(self) -> None:
        """Check that values in an empty slot have no effect."""
        starts = crowd()
        results = []
        for seed in (3, 4):
            engine, rng = self.engine(starts), np.random.default_rng(seed)
            for world, start in enumerate(starts):
                gone = np.arange(1, start.crowd_size - 1, 3)
                engine.world.pedestrians.active[world, gone] = False
                for name in ("x", "y", "vx", "vy", "heading"):
                    getattr(engine.world.pedestrians, name)[world, gone] = rng.uniform(-3.0, 3.0, len(gone))
            for _ in range(_STEPS):
                engine.step()
            results.append(engine)
        for world, start in enumerate(starts):
            active = results[0].world.pedestrians.active[world, : start.crowd_size]
            one, other = (tuple(a[active] for a in self.decided(engine, world, start)) for engine in results)
            if not identical(one, other):
                raise self.fail(f"empty slots change the result in world {world}")

    def done_worlds(self) -> None:
        """Check that a finished world does not change."""
        starts = crowd()
        engine = self.run(starts, steps=5)
        engine.world.status.clock.done[0] = True
        before = self.decided(engine, 0, starts[0])
        for _ in range(9):
            engine.step()
        if not identical(before, self.decided(engine, 0, starts[0])):
            raise self.fail("it makes decisions in a finished world")

    def moved(self, tolerance: float, agreement: float) -> None:
        """Check that moving the scene moves the waypoints with it, and changes nothing else."""
        homes = {seed: self.run(crowd(seed=seed, walls=False)) for seed in (1, 2)}
        for clause, move in {"shifted": Move(-32.0, 16.0), "turned": Move(4.0, -8.0, 0.7)}.items():
            wrong = []
            for seed, here in homes.items():
                there = self.run(crowd(seed=seed, walls=False, move=move))
                active = here.world.pedestrians.active
                goal = np.stack([here.world.waypoints.x, here.world.waypoints.y], -1)[active].astype(float)
                found = np.stack([there.world.waypoints.x, there.world.waypoints.y], -1)[active]
                far = np.hypot(*(found - move.points(goal)).T) > tolerance
                speed = np.abs(here.world.traits.speed - there.world.traits.speed)[active] > tolerance
                other = (here.world.minds.state != there.world.minds.state)[active] | (
                    here.world.minds.partner != there.world.minds.partner
                )[active]
                wrong.append(far | speed | other)
            bad = np.concatenate(wrong)
            if bad.mean() > 1.0 - agreement:
                raise self.fail(f"the scene {clause} as a whole: {int(bad.sum())} of {len(bad)} pedestrians decide differently")
