"""The crowd, which moves the pedestrians using behaviours, routes and crowd models, in substeps if a model needs them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from agora.core import state
from agora.core.jit import bind
from agora.core.state import LEAVE
from agora.draft.steps import Steps
from agora.engine.arrivals_and_departures import enter_and_leave
from agora.engine.arrived import stop_arrived
from agora.engine.behaviour_access import BehaviourAccess
from agora.engine.collision_parts import IGNORES_ROBOTS, MINDS
from agora.engine.collision_resolution import keep_apart
from agora.engine.gait import Ahead, Gait, Turning, walk
from agora.engine.making_way import make_way
from agora.engine.occupied_waypoints import pass_occupied
from agora.engine.pedestrian_kernels import (
    LARGEST,
    advance_pedestrians,
    choose_velocities,
    find_unwalkable,
    reset_wishes,
    take_forces,
)
from agora.engine.progress import Progress
from agora.engine.published_collision_resolution import keep_apart_as_published
from agora.engine.routes import Routing
from agora.engine.scene import CrowdReader
from agora.engine.sidestep import step_aside
from agora.engine.unsteady import Deviations, Process, waver
from agora.errors import InputError
from agora.interfaces import CompiledCrowdModel, CrowdDeclaration, CrowdRecord
from agora.pedestrians.shared.neighbours import SEES_PEDESTRIANS, SEES_ROBOTS
from agora.world.records import Fed, fed
from agora.world.threads import Work

if TYPE_CHECKING:
    from agora.core.state import Ints, Pedestrians
    from agora.draft.sidestep import Sidestep
    from agora.draft.stage import Minding
    from agora.draft.unsteady import Unsteady
    from agora.interfaces import AnyCrowdModel, Behaviour
    from agora.world.start import PedestrianStarts, Start
    from agora.world.world import World

Part = Work | CrowdReader
"""One part of a step: a kernel, or a user-written model, which processes all worlds at once."""

_ROUNDING = 1e-6


class EngineCrowd:
    """The behaviours, routes and crowd models of a world's pedestrians, and the order in which they run within a step.

    Every model computes outputs for all pedestrians, so that all pedestrians are neighbours of each other; the computing time is
    the sum over all models. Each pedestrian then uses the output of its own model, capped by that model's ``max_speed_factor``.

    A model with a ``max_step`` shorter than the crowd period is called in every physics step, in equal substeps no longer than
    ``max_step``; after each substep all pedestrians move and waypoints are updated. During these substeps, robots stay at their
    poses of generation t, and the outputs of models without a ``max_step`` stay constant. Replayed pedestrians follow their
    recording at every substep. Contact detection uses only the end of the last substep: with or without substeps, it sweeps bodies
    along the straight line between the generations.

    Args:
        world: world whose pedestrians the crowd moves.
        models: crowd models, user-written or built-in; a start assigns pedestrians to models by index. Without a model, pedestrians
            do not move.
        behaviours: behaviours that set goals and speeds before the models are called, in the order in which they run.
        every: number of physics steps per crowd period.
        sees_pedestrians: whether simulated pedestrians react to each other.
        sees_robots: whether simulated pedestrians react to robots.
        is_fed: whether external forces may act on simulated pedestrians.
        routes: starts of all episodes that a world may run, if pedestrians walk around walls (`agora.engine.routes`); None if they
            walk straight to their waypoints.
        drawn: whether ``routes`` contains only some of these episodes, as examples.
        careful: whether pedestrians avoid stepping into walls, and into robots and pedestrians that they see.
        yields: whether pedestrians walk in steps and yield to people ahead (`agora.engine.gait`,
            `agora.engine.collision_resolution`); if not, the older `agora.engine.published_collision_resolution` is used.
        sidestep: how recorded pedestrians step aside for robots (`agora.engine.sidestep`); None if they do not.
        minding: when the pedestrians of each model react to robots (`agora.draft.stage.Share`); early by default.
        unsteady: fluctuations in people's speed and direction (`agora.engine.unsteady`); None if there are none.
        steps: turning limits for people who walk in steps (`agora.engine.gait`).

    Attributes:
        every: number of physics steps per crowd period.
        behaviours: the attached behaviours.
        routing: routes of the pedestrians; None if they walk straight.
        fed: external forces on pedestrians; None unless ``is_fed``.
        number: (W, P) index of the model that moves each pedestrian.
        substeps: number of substeps per physics step.
        goals: waypoints, as crowd models read them; with routes, the current waypoint is the next point on the pedestrian's path.

    Raises:
        InputError: an object is not a crowd model, or a ``max_step`` is not a valid time.
    """

    def __init__(
        self,
        world: World,
        models: Sequence[AnyCrowdModel] = (),
        behaviours: Sequence[Behaviour] = (),
        *,
        every: int = 1,
        sees_pedestrians: bool = True,
        sees_robots: bool = True,
        is_fed: bool = False,
        routes: Sequence[Start] | None = None,
        drawn: bool = False,
        careful: bool = False,
        yields: bool = True,
        sidestep: Sidestep | None = None,
        minding: Sequence[Minding] = (),
        unsteady: Unsteady | None = None,
        steps: Steps | None = None,
    ) -> None:
        for model in models:
            _check(model)
        self._models, self._world, self.every = tuple(models), world, every
        self._sees = sees_pedestrians, sees_robots
        self._bits = np.int64(SEES_PEDESTRIANS * sees_pedestrians + SEES_ROBOTS * sees_robots)
        self._minding = minding or ("early",) * len(models)
        worlds, slots = world.layout.worlds, world.slots
        self.number: Ints = np.zeros((worlds, slots), np.int32)
        longest = [model.declares.max_step for model in models]
        self._stiff = [step < (1.0 - _ROUNDING) * world.dt * every for step in longest]
        self.substeps = max((math.ceil(world.dt / step - _ROUNDING) for step in longest), default=1) or 1
        self._answers = np.zeros((max(len(models), 1), 2, worlds, slots), np.float32)
        self.fed: Fed | None = fed(worlds, slots) if is_fed else None
        self._forced: Ints = np.zeros((worlds, slots), np.int32) if self.fed is None else self.fed.how
        self._restless, self._kept_off = np.zeros((2, worlds, slots), np.float32)
        self._careful, self._yields = careful and bool(models), yields
        self._visits = np.zeros(worlds, np.bool_)
        self._turning = Turning.of(steps or Steps())
        self._gait = Gait(*np.zeros((7, worlds, slots), np.float32))
        self._nowhere = Ahead(*np.zeros((5, worlds, slots), np.float32))
        self._sidestep = sidestep if sees_robots else None
        heedless = [IGNORES_ROBOTS * (when == "never") for when in self._minding]
        whom = [MINDS.index(model.declares.last_step) for model in models]
        self._minds = np.array([a + b for a, b in zip(whom, heedless, strict=False)] or [0], np.int32)
        self._whom: Ints = self._minds[self.number]
        self._chosen = np.zeros((2, worlds, slots), np.float32)
        between = [state.pedestrians(worlds, slots)] if self.substeps > 1 else []
        self._generations = [world.generation(0)[0], world.generation(1)[0], *between]
        self.routing = None if routes is None else Routing(world, routes, every, drawn, self._careful and yields)
        self._progress = Progress.of_nobody(worlds, slots) if self.routing is None else self.routing.progress
        self._waiting = np.zeros(worlds, np.int32) if self.routing is None else self.routing.backs.waiting
        self.behaviours = [BehaviourAccess(behaviour, world, every, int(self._bits)) for behaviour in behaviours]
        self._unsteady, shape = unsteady, (worlds, slots)
        self._off = Deviations(np.zeros(shape, np.bool_), *np.zeros((2, *shape), np.float32))
        wanted = world.waypoints if self.routing is None else self.routing.goals
        self.goals = wanted if unsteady is None else wanted._replace(x=np.zeros(shape, np.float32), y=np.zeros(shape, np.float32))
        self._wanted = wanted

    @property
    def _ahead(self) -> Ahead:
        """Return the points that people are walking to, and the directions in which their paths continue from there; without
        routes, the points are the people's goals.
        """
        if self.routing is None:
            return self._nowhere
        routes = self.routing.routes
        return Ahead(routes.x, routes.y, routes.beyond_x, routes.beyond_y, self._progress.aware)

    def reset(self, world: int, start: Start) -> None:
        """Start an episode in one world, whose records already hold the initial state.

        Raises:
            InputError: a pedestrian is assigned to a model that does not exist.
        """
        for field in (self._restless, self._kept_off, *self._gait, *(self.fed or ())):
            field[world] = 0
        heading = self._world.pedestrians.heading[world]
        self._gait.facing_x[world], self._gait.facing_y[world] = np.cos(heading), np.sin(heading)
        self._assign(world, start.pedestrians)
        self._visits[world] = bool((start.pedestrians.mode == LEAVE).any() or (start.pedestrians.enters > 0).any())
        for behaviour in self.behaviours:
            behaviour.reset(world, start)
        if self.routing is not None:
            self.routing.reset(world, start)
        self._off.known[world] = False
        self.goals.x[world], self.goals.y[world] = self._wanted.x[world], self._wanted.y[world]

    def think(self, now: int) -> list[Part]:
        """Return the kernels that set waypoints and speeds once per crowd period, based on generation ``now``."""
        w = self._world
        parts: list[Part] = [behaviour.think(now) for behaviour in self.behaviours]
        rounds = self._careful and self._yields
        if parts or self._unsteady is not None or (self.routing is not None and rounds):
            parts.insert(0, bind(reset_wishes, w.traits, w.waypoints, w.minds, w.status.clock))
        if self.routing is not None and rounds:
            places = (w.maps, w.generation(now)[0], w.traits, w.waypoints, w.minds, w.status.clock)
            parts.append(self.routing.standing_back(now, int(self._bits)))
            parts.append(bind(make_way, self._bits, *places, self._progress, self.routing.backs.asks))
        if self.routing is not None:
            parts.append(self.routing.part(now, int(self._bits)))
        if self._unsteady is not None:
            how, period = self._unsteady, w.dt * self.every
            processes = Process.of(how.pace, how.pace_time, period), Process.of(how.direction, how.direction_time, period)
            people = w.generation(now)[0], w.traits, w.minds, self._wanted, w.replay, w.status.clock
            parts.append(bind(waver, *processes, *people, self._off, self.goals.x, self.goals.y))
        return parts

    def _assign(self, world: int, crowd: PedestrianStarts) -> None:
        """Assign the pedestrians of a world to the models."""
        self.number[world] = 0
        wrong = np.flatnonzero((crowd.model < 0) | (crowd.model >= max(len(self._models), 1)))
        if wrong.size:
            number, count = crowd.model[wrong[0]], len(self._models)
            raise InputError(
                f"pedestrian {crowd.id[wrong[0]]} has crowd model number {number}, but the {count} crowd models are numbered from 0"
            )
        self.number[world, : len(crowd.id)] = crowd.model
        self._whom[world] = self._minds[self.number[world]]

    def compute(self, now: int) -> list[Part]:
        """Return the calls to the models that run once per crowd period and read generation ``now``."""
        return list(self._calls(now, now, stiff=False))

    def move(self, now: int) -> list[Part]:
        """Return the work items that advance pedestrians from generation ``now`` (0 or 1) to the next generation, which is written
        to the other state buffer; substeps use a third buffer.
        """
        parts: list[Part] = []
        after, here = 1 - now, now
        for substep in range(1, self.substeps + 1):
            there = 2 if (self.substeps - substep) % 2 else after
            parts += self._calls(here, now, stiff=True)
            parts += self._advance(here, there, now, substep)
            here = there
        return parts

    def _calls(self, people: int, robots: int, *, stiff: bool) -> Iterator[Part]:
        """Return the calls to the models that need substeps (``stiff``), or to all other models."""
        world, (sees_pedestrians, sees_robots) = self._world, self._sees
        period = world.dt / self.substeps if stiff else world.dt * self.every
        for model, out, is_stiff, minding in zip(self._models, self._answers, self._stiff, self._minding, strict=False):
            early = minding == "early"
            if is_stiff != stiff:
                continue
            if not isinstance(model, CompiledCrowdModel):
                seen = self._generations[people], world.generation(robots)[1], self.goals, sees_pedestrians, sees_robots and early
                yield CrowdReader(model, world, *seen, float(np.float32(period)), out)
                continue
            crowd = CrowdRecord(
                np.float32(period),
                self._bits if early else self._bits & ~np.int64(SEES_ROBOTS),
                self._generations[people],
                world.traits,
                self.goals,
                world.generation(robots)[1],
                world.robot_traits,
                world.maps,
            )
            yield bind(model.kernel(), model.parameters(), crowd, *out)

    def _advance(self, here: int, there: int, robots: int, substep: int) -> Iterator[Part]:
        """Return the kernels that move all pedestrians from one generation to another, based on the models' output."""
        world, models = self._world, self._models
        step = np.float32(world.dt), np.int64(substep), np.int64(self.substeps)
        people = self._generations[here]
        accelerations = np.array([model.declares.output == "acceleration" for model in models] or [True])
        factors = np.array([model.declares.max_speed_factor for model in models] or [1.0], np.float32)
        chosen = self.number, people, world.traits, self._answers, *self._chosen
        yield bind(choose_velocities, *step, accelerations, factors, *chosen)
        if models:
            yield self._make_check(people)
        if self.fed:
            yield bind(take_forces, step[0], step[2], factors, self.number, people, world.traits, self.fed, *self._chosen)
        if self._careful:
            minded = (
                self._bits,
                self._whom,
                people,
                world.traits,
                self.goals,
                world.replay,
                world.generation(robots)[1],
            )
            others = (*minded, world.robot_traits, world.maps, world.status.clock)
            if self._yields:
                gait = (world.status.clock, self._forced, self._ahead, self._gait)
                yield bind(walk, step[0], step[2], self._turning, *minded, *gait, *self._chosen)
                yield bind(keep_apart, step[0], step[2], *others, self._gait, *self._chosen)
            else:
                yield bind(keep_apart_as_published, step[0], step[2], *others, *self._chosen)
        about = (self._bits, people, world.traits, world.waypoints, world.replay)
        machines = (world.generation(robots)[1], world.robot_traits)
        yield bind(
            stop_arrived, step[0], step[2], *about, *machines, world.status.clock, self._forced, self._restless, *self._chosen
        )
        records = (people, self._generations[there], world.traits, world.waypoints, world.replay, world.status.clock)
        yield bind(advance_pedestrians, *step, *records, *self._chosen)
        if self._sidestep is not None:
            own = self._sidestep
            how = np.array([own.horizon, own.margin, own.speed, own.back, own.most, own.share], np.float32)
            seen = (world.replay, world.generation(robots)[1], world.robot_traits, world.maps, world.status.clock)
            yield bind(step_aside, step[0], step[2], *how, people, self._generations[there], world.traits, *seen)
        if self._careful and substep == self.substeps:
            after = self._generations[there]
            places = (world.maps, after, world.traits, world.waypoints, *machines, world.status.clock, self._kept_off)
            yield bind(pass_occupied, step[0], step[1], self._bits, *places, self._progress)
        if substep == self.substeps:
            now, after = world.generation(robots)[0], self._generations[there]
            visitors = (now, after, world.traits, world.waypoints, *machines, world.status.clock, self._kept_off)
            yield bind(enter_and_leave, step[0], self._visits, *visitors, self._progress, self._waiting)

    def _make_check(self, people: Pedestrians) -> Work:
        """Return a function that raises `InputError` if an output of a crowd model is non-finite or exceeds `LARGEST`."""
        find = bind(find_unwalkable, people, self.number, self._answers)

        def check(first: int, last: int) -> None:
            found = find(first, last)
            if found >= 0:
                w, i = divmod(found, self._world.slots)
                k, identity = self.number[w, i], self._world.traits.id[w, i]
                name, answer = type(self._models[k]).__name__, self._answers[k, :, w, i]
                if not np.isfinite(answer).all():
                    raise InputError(f"crowd model {name} returned values that are not finite, for pedestrian {identity}")
                unit = "m/s2" if self._models[k].declares.output == "acceleration" else "m/s"
                given = f"({answer[0]:.3g}, {answer[1]:.3g}) {unit}"
                raise InputError(
                    f"crowd model {name} returned {given} for pedestrian {identity}; expected at most {LARGEST:g} {unit}"
                )

        return check


def _check(model: object) -> None:
    """Raise `InputError` if an object is not a crowd model."""
    name = type(model).__name__
    if not (hasattr(model, "kernel") or callable(getattr(model, "compute", None))):
        raise InputError(f"{name} is not a crowd model: expected a method compute(scene) that returns accelerations or velocities")
    try:
        declares = getattr(model, "declares", None)
    except InputError as error:
        raise InputError(f"crowd model {name}: {error}") from error
    if not isinstance(declares, CrowdDeclaration):
        raise InputError(f"crowd model {name}: expected declares to be a CrowdDeclaration, such as CrowdDeclaration('velocity')")
