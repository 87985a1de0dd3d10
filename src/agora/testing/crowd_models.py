"""The contract for crowd models."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from agora.core.jit import bind
from agora.core.state import Floats
from agora.draft.periods import Periods
from agora.engine.conditions import Conditions
from agora.engine.engine import Engine
from agora.engine.scene import CrowdReader
from agora.interfaces import CompiledCrowdModel, CrowdDeclaration, CrowdModel, CrowdRecord, CrowdScene
from agora.testing.crowds import DT, SIZES, arriving, crowd, standing
from agora.testing.errors import ContractError
from agora.testing.guard import pure
from agora.testing.scenes import Move
from agora.world.start import Start
from agora.world.world import World

_SEEN = ((True, True), (True, False), (False, True), (False, False))
_FIELDS = ("x", "y", "vx", "vy", "heading")
_STEPS = 6
_STILL = 0.02  # m/s and rad
_ARRIVAL, _REST = 30.0, 5.0  # s, time to reach a waypoint and stop, and time for which the pedestrian must then stand still


class _Companion:
    """A model whose pedestrians walk straight to their waypoints, in substeps of a third of a step."""

    declares: ClassVar[CrowdDeclaration] = CrowdDeclaration("velocity", max_step=DT / 3)

    def compute(self, scene: CrowdScene) -> Floats:
        """Return velocities (W, P, 2)."""
        return (scene.waypoint - scene.position) / np.float32(5.0)


def check_crowd_model(
    model: CrowdModel | CompiledCrowdModel, *, tolerance: float = 1e-3, agreement: float = 1.0, handed: bool = False
) -> None:
    """Check a crowd model, user-written or built-in, against the contract of `agora.interfaces`.

    Results are finite, even without pedestrians, for a single pedestrian, for two pedestrians at the same position, at the
    waypoint, and at a wall. The same scene gives bit-identical results regardless of earlier calls, on its own or in a batch, and
    with more empty slots. The model does not write to its inputs or use global random generators. Values in empty slots and unseen
    robots have no effect. Rotating or mirroring the scene rotates or mirrors the results, and shifting it does not change them. NaN
    parameters are rejected.

    In an engine, the model moves its pedestrians in the same way whether a world runs on its own or in a batch. If a second model
    moves every other pedestrian, the first model still moves the rest. A model with a ``max_step`` is called in substeps that are
    no longer than this. A pedestrian stops at its only waypoint, and at the last waypoint of a list that is followed once.

    Args:
        model: model to check.
        tolerance: tolerance of results in the moved scene, relative to the maximum result in the scene (at least 1 m/s or m/s2).
        agreement: fraction of pedestrians whose results must agree in the moved scene; less than 1 for models whose results can
            jump.
        handed: True for a model that prefers one side; its results are not compared with those in the mirrored scene.

    Raises:
        ContractError: the model breaks a clause.
    """
    check = _Check(model, type(model).__name__)
    check.declares()
    check.answers()
    check.repeats()
    check.empty_slots()
    check.worlds_are_alone()
    check.unseen_robots()
    check.moved(tolerance, agreement, handed)
    check.in_an_engine()
    check.arrived()


@dataclass(frozen=True)
class _Check:
    """The clauses of the contract."""

    model: Any
    name: str

    def fail(self, clause: str) -> ContractError:
        """Return the error for a violated clause."""
        return ContractError(f"{self.name}: {clause}")

    def ask(self, world: World, where: str, sees: tuple[bool, bool] = (True, True)) -> Floats:
        """Return the result (W, P, 2) for generation t, after all checks that apply to a single call."""
        worlds = world.layout.worlds
        out = np.full((2, worlds, world.slots), np.nan, np.float32)
        records = (world.pedestrians, world.traits, world.waypoints, world.robots, world.robot_traits, world.maps)
        with pure(f"{self.name}: {where}", **{type(record).__name__.lower(): record for record in records}):
            if hasattr(self.model, "kernel"):
                bits = np.int64(sees[0] + 2 * sees[1])
                bind(self.model.kernel(), self.model.parameters(), CrowdRecord(np.float32(DT), bits, *records), *out)(0, worlds)
            else:
                CrowdReader(self.model, world, world.pedestrians, world.robots, world.waypoints, *sees, DT, out).compute()
        answer = np.stack((out[0], out[1]), -1)
        if not np.isfinite(answer).all():
            w, i = (int(v) for v in np.argwhere(~np.isfinite(answer).all(-1))[0])
            kind = "pedestrian" if world.pedestrians.active[w, i] else "empty slot"
            raise self.fail(f"{where}: {kind} {i} of world {w} gets {answer[w, i].tolist()}")
        return answer

    def same(self, one: Floats, other: Floats, clause: str) -> None:
        """Check that two results agree bit for bit."""
        if not np.array_equal(one, other):
            k = np.argwhere((one != other).any(-1))[0]
            raise self.fail(f"{clause}: pedestrian {k[-1]} gets {one[tuple(k)].tolist()} and {other[tuple(k)].tolist()}")

    def declares(self) -> None:
        """Check the declaration, and that NaN parameters are rejected."""
        if not isinstance(getattr(self.model, "declares", None), CrowdDeclaration):
            raise self.fail("declares: expected a CrowdDeclaration")
        for field in dataclasses.fields(self.model) if dataclasses.is_dataclass(self.model) else ():
            if type(getattr(self.model, field.name)) is float and field.init:
                try:
                    dataclasses.replace(self.model, **{field.name: math.nan})
                except Exception:  # noqa: BLE001, S112 - any refusal will do
                    continue
                raise self.fail(f"parameter {field.name} accepts NaN; raise ValueError in __post_init__")

    def answers(self) -> None:
        """Check that results are finite for any combination of pedestrians and robots that are present and visible."""
        for seed in (1, 2):
            world = standing(crowd(seed=seed))
            for sees in _SEEN:
                self.ask(world, f"sees_pedestrians {sees[0]}, sees_robots {sees[1]}", sees)
        self.ask(standing(crowd((0,))), "nobody")
        self.ask(standing(crowd((1,))), "one pedestrian")
        world = standing(crowd())
        people, goals, robots = world.pedestrians, world.waypoints, world.robots
        people.x[:, 3], people.y[:, 3] = people.x[:, 2], people.y[:, 2]
        people.vx[:, 3], people.vy[:, 3] = people.vx[:, 2], people.vy[:, 2]
        goals.x[:, 0], goals.y[:, 0] = people.x[:, 0], people.y[:, 0]
        people.x[:, 5], people.y[:, 5] = 6.3, 4.2
        robots.x[:, 0], robots.y[:, 0] = people.x[:, 0], people.y[:, 0]
        self.ask(world, "two at one place, at the waypoint, in a pillar")

    def repeats(self) -> None:
        """Check that the same scene gives bit-identical results."""
        world = standing(crowd())
        first = self.ask(world, "first call")
        self.ask(standing(crowd((3, 2), seed=7)), "call in between")
        self.same(first, self.ask(world, "repeated call"), "not deterministic: the same scene gives different results")

    def worlds_are_alone(self) -> None:
        """Check that a world gives bit-identical results on its own, in a batch, and with more empty slots."""
        starts = crowd()
        together = self.ask(standing(starts), "batch")
        slots = together.shape[1]
        wide = self.ask(standing(starts, slots=3 * slots), "more empty slots")
        self.same(together, wide[:, :slots], "the number of slots changes the result")
        for w in range(len(SIZES)):
            alone = self.ask(standing(starts[w : w + 1], slots=slots), f"world {w} alone")
            self.same(together[w], alone[0], f"worlds affect each other: world {w} gives different results in the batch and alone")

    def empty_slots(self) -> None:
        """Check that values in an empty slot have no effect."""
        world = standing(crowd())
        before = self.ask(world, "plain")
        people, robots, rng = world.pedestrians, world.robots, np.random.default_rng(3)
        empty = ~people.active
        for name in _FIELDS:
            getattr(people, name)[empty] = rng.uniform(-4.0, 9.0, int(empty.sum()))
        world.traits.group[empty], world.traits.radius[empty] = 0, 0.5
        robots.x[:, 1], robots.y[:, 1] = people.x[:, 0], people.y[:, 0]
        after = self.ask(world, "different values in empty slots")
        self.same(before[people.active], after[people.active], "empty slots change the result")

    def unseen_robots(self) -> None:
        """Check that robots affect the result only if pedestrians see them."""
        world = standing(crowd())
        before = self.ask(world, "robots here", (True, False))
        world.robots.x[:] += 0.7
        self.same(before, self.ask(world, "robots there", (True, False)), "unseen robots change the result")

    def in_an_engine(self) -> None:
        """Check the pedestrians' motion in an engine with only this model, with this model for both halves of a divided crowd, and
        together with a model that uses substeps.
        """
        starts = crowd()
        halves = tuple(replace(s, pedestrians=replace(s.pedestrians, model=s.pedestrians.id % 2)) for s in starts)
        once = self.walk(starts, (self.model,))
        self.same(once, self.walk(halves, (self.model, self.model)), "a crowd walks differently when it is divided into two halves")
        mixed = self.walk(halves, (self.model, _Companion()))
        for w in range(len(SIZES)):
            slots = once.shape[1]
            alone = self.walk(starts[w : w + 1], (self.model,), slots)
            self.same(once[w], alone[0], f"worlds affect each other: world {w} walks differently in the batch and alone")
            alone = self.walk(halves[w : w + 1], (self.model, _Companion()), slots)
            self.same(
                mixed[w], alone[0], f"worlds affect each other: world {w} walks differently in a batch with another model and alone"
            )

    def arrived(self) -> None:
        """Check that pedestrians stop after arriving, in every waypoint mode."""
        here = arriving()
        engine = Engine.of([here], Conditions(Periods(DT, DT, DT, DT), (self.model,), ends=0))
        engine.reset(0, here)
        people, n = [], here.crowd_size
        with pure(f"{self.name}: people who arrive"):
            for _ in range(round((_ARRIVAL + _REST) / DT)):
                engine.step()
                now = engine.world.pedestrians
                people.append(np.stack([now.x[0, :n], now.y[0, :n], np.hypot(now.vx[0, :n], now.vy[0, :n]), now.heading[0, :n]]))
        rest = np.array(people)[round(_ARRIVAL / DT) :]
        way = np.hypot(*(rest[0, :2].T - here.pedestrians.waypoints[np.arange(n), here.pedestrians.waypoint_count - 1]).T)
        there = way <= here.pedestrians.tolerance
        speed, turned = rest[:, 2].max(axis=0), np.abs(np.exp(1j * rest[:, 3]) - np.exp(1j * rest[0, 3])).max(axis=0)
        for i in np.flatnonzero(there & ((speed > _STILL) | (turned > _STILL))):
            mode, waypoints = here.pedestrians.mode[i], here.pedestrians.waypoint_count[i]
            raise self.fail(
                f"a pedestrian that has arrived must stand still: with {waypoints} waypoints in mode {mode}, one moves at up to "
                f"{speed[i]:.2f} m/s and "
                f"turns by up to {turned[i]:.2f} rad at its final waypoint"
            )

    def walk(self, starts: tuple[Start, ...], models: tuple[CrowdModel | CompiledCrowdModel, ...], slots: int = 0) -> Floats:
        """Return the positions (W, P, 2) to which an engine moves the pedestrians."""
        engine = Engine.of(starts, Conditions(Periods(DT, DT, DT, DT), models, ends=0), slots=slots)
        with pure(f"{self.name}: with {len(models)} models in an engine"):
            for world, start in enumerate(starts):
                engine.reset(world, start)
            for _ in range(_STEPS):
                engine.step()
        people = engine.world.pedestrians
        place = np.where(people.active[..., None], np.stack((people.x, people.y), -1), np.float32(0.0))
        if not np.isfinite(place).all():
            raise self.fail(f"after {_STEPS} steps in an engine the position of a pedestrian is not finite")
        return place

    def moved(self, tolerance: float, agreement: float, handed: bool) -> None:
        """Check that the results transform with the scene."""
        moves = {
            "shifted": Move(-32.0, 16.0),
            "turned by 90 degrees": Move(turn=math.pi / 2),
            "mirrored": Move(3.2, -6.4, mirror=True),
            "turned, without walls": Move(4.0, -8.0, 0.7),
        }
        if handed:
            del moves["mirrored"]
        for clause, move in moves.items():
            walls = clause != "turned, without walls"
            errors = []
            for seed in (1, 2, 3):
                world = standing(crowd(seed=seed, walls=walls))
                there = standing(crowd(seed=seed, walls=walls, move=move), move=move)
                active = world.pedestrians.active
                expected = move.vectors(self.ask(world, "here")[active])
                error = np.hypot(*(self.ask(there, clause)[active] - expected).T)
                errors.append(error / max(1.0, np.abs(expected).max()))
            wrong = np.concatenate(errors) > tolerance
            if wrong.mean() > 1.0 - agreement + 1e-9:
                raise self.fail(
                    f"the scene {clause} as a whole: {int(wrong.sum())} of {len(wrong)} pedestrians get a different result"
                )
