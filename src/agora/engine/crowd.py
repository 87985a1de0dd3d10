"""What moves the pedestrians of an engine: its crowd models side by side, in substeps where one of them needs them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.core import state
from agora.core.jit import bind
from agora.engine.careful import MINDS, hold_back
from agora.engine.pedestrian_kernels import advance_pedestrians, choose_velocities, take_forces
from agora.engine.records import fed
from agora.engine.scene import CrowdReader
from agora.engine.taken import pass_taken
from agora.errors import InputError
from agora.interfaces import AnyCrowdModel, CompiledCrowdModel
from agora.pedestrians.neighbours import SEES_PEDESTRIANS, SEES_ROBOTS

if TYPE_CHECKING:
    from agora.core.state import Ints
    from agora.engine.world import Engine
    from agora.tasks.start import PedestrianStarts

Work = Callable[[int, int], None]
"""A kernel that is bound: it is called with a range of worlds."""

Part = Work | CrowdReader
"""One piece of a step: a kernel, or a user-written model, which takes all worlds at once."""

_NO_CAP = np.float32(1e30)
_ROUNDING = 1e-6


class EngineCrowd:
    """The crowd models of an engine, and how they share a step.

    Every model computes every pedestrian, so that all are neighbours of all and the cost is the sum of the models'; then each
    pedestrian takes the answer of its own model, capped by that model's ``max_speed_factor``.

    A model with a ``max_step`` shorter than the crowd period is called in every physics step, in equal substeps no longer than it,
    between which everybody is moved and the next waypoints are set. Meanwhile the robots stand where they are in generation t, and
    a model without a ``max_step`` keeps its answer. Replayed pedestrians are where their recording says at every substep. Contacts
    know of substeps only their end: they are swept along the straight line between the generations, as without.

    Args:
        models: of the crowd, of either form.
        engine: whose pedestrians they move; its arrays exist.
        every: physics steps of the crowd period.
        sees_pedestrians, sees_robots: whom simulated pedestrians react to.
        is_fed: forces from outside may act on them.
        careful: nobody steps into a wall, a robot or a pedestrian whom they see (`agora.engine.careful`).

    Attributes:
        fed: forces from outside, None where there cannot be any.
        number: (W, P) which of the models moves a pedestrian.
        substeps: of a physics step.

    Raises:
        InputError: something that is no crowd model, or a ``max_step`` that is no time.
    """

    def __init__(
        self,
        models: Sequence[AnyCrowdModel],
        engine: Engine,
        every: int,
        sees_pedestrians: bool,
        sees_robots: bool,
        is_fed: bool = False,
        careful: bool = False,
    ) -> None:
        for model in models:
            _check(model)
        self._models, self._engine, self._every = tuple(models), engine, every
        self._sees = sees_pedestrians, sees_robots
        self._bits = np.int64(SEES_PEDESTRIANS * sees_pedestrians + SEES_ROBOTS * sees_robots)
        worlds, slots = engine.layout.worlds, engine.slots
        self.number: Ints = np.zeros((worlds, slots), np.int32)
        longest = [_longest(model) for model in models]
        self._stiff = [step < (1.0 - _ROUNDING) * engine.dt * every for step in longest]
        self.substeps = max((math.ceil(engine.dt / step - _ROUNDING) for step in longest), default=1) or 1
        self._answers = np.zeros((max(len(models), 1), 2, worlds, slots), np.float32)
        self.fed = fed(worlds, slots) if is_fed else None
        self._careful = careful and bool(models)
        self._minds = np.array([MINDS.index(getattr(model, "last_step", "all")) for model in models] or [0], np.int32)
        chooses = len(models) > 1 or is_fed or self._careful
        self._chosen = np.zeros((2, worlds, slots), np.float32) if chooses else self._answers[0]
        if self.substeps > 1:
            engine._generations.append(state.pedestrians(worlds, slots))

    def assign(self, world: int, crowd: PedestrianStarts) -> None:
        """Begin an episode in one world: who is moved by which model.

        Raises:
            InputError: a pedestrian has the number of a model that there is not.
        """
        self.number[world] = 0
        wrong = np.flatnonzero((crowd.model < 0) | (crowd.model >= max(len(self._models), 1)))
        if wrong.size:
            number, count = crowd.model[wrong[0]], len(self._models)
            raise InputError(f"pedestrian {crowd.id[wrong[0]]} has crowd model number {number}, of {count}; the first is 0")
        self.number[world, : len(crowd.id)] = crowd.model

    def compute(self, now: int) -> list[Part]:
        """The models that are called once in a crowd period, reading generation ``now``."""
        return list(self._calls(now, now, stiff=False))

    def move(self, now: int) -> list[Part]:
        """What takes the pedestrians from generation ``now`` to the other one; in a chain over a third where there are substeps."""
        parts: list[Part] = []
        after, here = 1 - now, now
        for substep in range(1, self.substeps + 1):
            there = 2 if (self.substeps - substep) % 2 else after
            parts += self._calls(here, now, stiff=True)
            parts += self._advance(here, there, now, substep)
            here = there
        return parts

    def _calls(self, people: int, robots: int, *, stiff: bool) -> Iterator[Part]:
        """The calls of those models that need substeps, or of the others."""
        engine, (sees_pedestrians, sees_robots) = self._engine, self._sees
        period = engine.dt / self.substeps if stiff else engine.dt * self._every
        for model, out, is_stiff in zip(self._models, self._answers, self._stiff, strict=False):
            if is_stiff != stiff:
                continue
            if not isinstance(model, CompiledCrowdModel):
                yield CrowdReader(model, engine, people, robots, sees_pedestrians, sees_robots, float(np.float32(period)), out)
                continue
            crowd = (engine._generations[people], engine.traits, engine.goals)
            others = (engine._robots[robots], engine.robot_traits, engine.maps)
            yield bind(model.kernel(), model.parameters(), np.float32(period), self._bits, *crowd, *others, *out)

    def _advance(self, here: int, there: int, robots: int, substep: int) -> Iterator[Part]:
        """The kernels that move everybody from one generation to another as their models say."""
        engine, models = self._engine, self._models
        step = np.float32(engine.dt), np.int64(substep), np.int64(self.substeps)
        people = engine._generations[here]
        accelerations = np.array([model.output == "acceleration" for model in models] or [True])
        factors = np.array([getattr(model, "max_speed_factor", 1.0) for model in models] or [1.0], np.float32)
        acceleration, factor = bool(accelerations[0]), factors[0]
        if len(models) > 1 or self.fed or self._careful:
            chosen = self.number, people, engine.traits, self._answers, *self._chosen
            yield bind(choose_velocities, *step, accelerations, factors, *chosen)
            acceleration, factor = False, _NO_CAP
        if self.fed:
            yield bind(take_forces, step[0], step[2], factors, self.number, people, engine.traits, self.fed, *self._chosen)
        if self._careful:
            others = (engine.replay, engine._robots[robots], engine.robot_traits, engine.maps, engine.status)
            minded = (self._bits, self._minds, self.number, people, engine.traits, engine.goals)
            yield bind(hold_back, step[0], step[2], *minded, *others, *self._chosen)
        records = (people, engine._generations[there], engine.traits, engine.waypoints, engine.replay, engine.status)
        yield bind(advance_pedestrians, *step, acceleration, factor, *records, *self._chosen)
        if self._careful and substep == self.substeps:
            after, machines = engine._generations[there], (engine._robots[robots], engine.robot_traits)
            yield bind(pass_taken, step[1], self._bits, after, engine.traits, engine.waypoints, *machines, engine.status)


def _check(model: object) -> None:
    """Raise `InputError` unless something looks like a crowd model."""
    name = type(model).__name__
    if not (hasattr(model, "kernel") or callable(getattr(model, "compute", None))):
        raise InputError(f"{name} is no crowd model: expected a method compute(scene) that returns accelerations or velocities")
    if getattr(model, "output", None) not in ("acceleration", "velocity"):
        raise InputError(f"crowd model {name}: output is {getattr(model, 'output', None)!r}; expected 'acceleration' or 'velocity'")
    if (minds := getattr(model, "last_step", MINDS[0])) not in MINDS:
        raise InputError(f"crowd model {name}: last_step is {minds!r}; expected one of {', '.join(map(repr, MINDS))}")


def _longest(model: Any) -> float:
    """The longest step that a model may be called with, s."""
    longest = getattr(model, "max_step", math.inf)
    if not (isinstance(longest, int | float) and longest > 0):
        raise InputError(f"crowd model {type(model).__name__}: max_step is {longest!r}; expected a number of seconds above 0")
    return float(longest)
