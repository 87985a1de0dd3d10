"""The crowd in an episode whose robots are moved externally."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from agora.core.state import Array, Bools, Doubles, Floats, Minds, Pedestrians, Robots, Traits, Waypoints, carry
from agora.engine.conditions import Conditions
from agora.engine.crowd import EngineCrowd
from agora.engine.engine import Engine
from agora.engine.pedestrian_kernels import LARGEST
from agora.errors import InputError
from agora.maps.grid import Map
from agora.simulators.native import Native
from agora.world.records import ADDED, IN_PLACE
from agora.world.start import Habits, PedestrianStarts, RobotStart, Start, Thing

if TYPE_CHECKING:
    from agora.draft.stage import Stage
    from agora.interfaces import AnyCrowdModel
    from agora.world.world import World

__all__ = ["Crowd", "open_start"]

_LONGEST = 2**31 - 1
_HOW = {"added": ADDED, "in_place": IN_PLACE}


class Crowd:
    """The engine of one world, built from a start and its stage, which receives the robots' states from outside before each step.

    Given the robots' states in an episode, the crowd reproduces the pedestrians of `agora.episode.Episodes` bit for bit at every
    step. Contacts, goals and time limits do not end the episode.

    A change during the episode changes the start, and the engine is rebuilt from its current state. Pedestrians keep their minds,
    but behaviours lose other memory, such as the remaining time of a conversation.

    Args:
        start: start of the episode.
        stage: conditions of the episode.
        is_fed: whether external forces may be applied (`feed`).

    Attributes:
        start: start of the episode with all changes so far.
        stage: conditions of the episode.
    """

    def __init__(self, start: Start, stage: Stage, *, is_fed: bool = False) -> None:
        self.stage, self._is_fed = stage, is_fed
        self._conditions = Conditions.of(stage)
        self._original, self._map = start, start.map
        self._walls: Doubles = np.zeros((0, 4))
        self._things: tuple[Thing, ...] = ()
        self.start, self._engine = start, self._build(start)
        self._absent: Bools = np.zeros(start.crowd_size, np.bool_)
        self._returning: dict[int, tuple[Doubles, bool]] = {}
        self._remember()

    @property
    def world(self) -> World:
        """The state of the world; it is replaced by a new object when pedestrians or walls change."""
        return self._engine.world

    @property
    def every(self) -> int:
        """Number of physics steps between calls of the crowd models."""
        return self._crowd.every

    @property
    def goals(self) -> Waypoints:
        """The waypoints of the pedestrians, (1, P), including their current destinations."""
        return self._crowd.goals

    @property
    def _crowd(self) -> EngineCrowd:
        crowd = self._engine.crowd
        assert crowd is not None
        return crowd

    @property
    def step_number(self) -> int:
        """Number of physics steps since the start."""
        return int(self.world.status.clock.step[0])

    @property
    def time(self) -> float:
        """Time since the start, s."""
        return self.step_number * self.world.dt

    @property
    def pedestrians(self) -> Pedestrians:
        """States of the pedestrians at the current step, (1, P)."""
        return self.world.pedestrians

    @property
    def robots(self) -> Robots:
        """States of the robots at the current step, (1, R), which may be changed."""
        return self.world.robots

    @property
    def traits(self) -> Traits:
        """The traits of the pedestrians, (1, P)."""
        return self.world.traits

    @property
    def minds(self) -> Minds:
        """The minds of the pedestrians, (1, P)."""
        return self.world.minds

    @property
    def models(self) -> tuple[AnyCrowdModel, ...]:
        """The crowd models."""
        return self._conditions.models

    @property
    def slots(self) -> Array:
        """The slots of the pedestrians that are present."""
        return np.flatnonzero(self.pedestrians.active[0])

    @property
    def acceleration(self) -> Floats:
        """(P, 2) last acceleration that the crowd model alone computed for each pedestrian, m/s2; 0 for new pedestrians."""
        world, fed = self.world, self._crowd.fed
        if fed is not None:
            return np.stack([fed.own_x[0], fed.own_y[0]], -1)
        now, before = world.pedestrians, world.generation(1 - world.now)[0]
        change = np.stack([now.vx - before.vx, now.vy - before.vy], -1)[0] / np.float32(world.dt)
        both = (now.active & before.active)[0] & (self.step_number > 0)
        return np.where(both[:, None], change, np.float32(0.0))

    def step(self, robots: Robots | None = None) -> Pedestrians:
        """Advance all pedestrians by one physics step, and return their new states.

        Args:
            robots: states of the robots at the current step, (1, R); if None, the current values of `robots`.

        Raises:
            InputError: the number of robots is wrong, or a pose is non-finite.
        """
        mine = self.robots
        if robots is not None:
            if robots.x.shape != mine.x.shape:
                raise InputError(f"expected {mine.x.shape[1]} robots, got {robots.x.shape[1]}")
            for own, given in zip(mine, robots, strict=True):
                own[...] = given
        if not all(np.isfinite(field).all() for field in mine):
            raise InputError(f"the robot states of step {self.step_number} contain a non-finite value")
        self._put_back()
        self._engine.step()
        self._remember()
        return self.pedestrians

    def feed(self, slots: Array, forces: Floats, how: Literal["added", "in_place"] = "in_place") -> None:
        """Apply external forces to the given pedestrians until the next call; no force acts on any other pedestrian.

        Args:
            slots: (K,) slots of the pedestrians.
            forces: (K, 2) forces per unit mass, m/s2.
            how: whether the forces are added to the crowd model's acceleration or replace it.

        Raises:
            InputError: a force is non-finite, or is above `agora.engine.pedestrian_kernels.LARGEST`.
        """
        if self._crowd.fed is None:
            self._is_fed = True
            self._rebuild(self.start)
        fed = self._crowd.fed
        assert fed is not None
        if not np.isfinite(forces).all():
            raise InputError("a force contains a non-finite value")
        if (np.abs(forces) > LARGEST).any():
            raise InputError(f"a force of {np.abs(forces).max():.3g} m/s2 acts on a pedestrian; expected at most {LARGEST:g} m/s2")
        fed.how[0] = 0
        fed.how[0, slots] = _HOW[how]
        fed.x[0, slots], fed.y[0, slots] = np.asarray(forces, np.float32).reshape(-1, 2).T

    def spawn(self, people: PedestrianStarts, names: Sequence[str] = ()) -> Array:
        """Add pedestrians to the world; they appear in the next generation.

        Args:
            people: the pedestrians, with new ids.
            names: names of the pedestrians, for display.

        Returns:
            The slots of the new pedestrians. A slot is reused only after a generation in which it is empty has been returned.

        Raises:
            InputError: an id is taken, a position is outside the map, or the episode has recorded pedestrians.
        """
        if self.start.replay is not None:
            raise InputError("this episode has recorded pedestrians, so pedestrians cannot be added")
        present = set(self.traits.id[0, self.slots].tolist())
        wrong = [number for number in people.id.tolist() if number in present]
        if wrong or len(set(people.id.tolist())) < len(people.id):
            raise InputError(f"pedestrian {(wrong or people.id.tolist())[0]}: the id is already in use")
        if not np.isfinite(people.position).all() or not self.start.map.contains(people.position).all():
            raise InputError("a pedestrian would be outside the map")
        count, size = len(people.id), len(self._absent)
        free = [int(k) for k in np.flatnonzero(self._absent & ~self._shown[:size]) if int(k) not in self._returning]
        slots = np.array([*free, *range(size, size + count)][:count], np.int64)
        grown = _with(self.start.pedestrians, people, slots)
        total = len(grown.id)
        self._absent = np.append(self._absent, np.zeros(total - size, np.bool_))
        self._absent[slots] = False
        given = [*names, *(f"pedestrian_{number}" for number in people.id[len(names) :])]
        self._rebuild(dataclasses.replace(self.start, pedestrians=grown, **self._called(slots, given, total)), new=slots)
        return slots

    def _called(self, slots: Array, given: Sequence[str], total: int) -> dict[str, Any]:
        """Return the names and appearances of all pedestrians, including new ones."""
        names, looks = (list(kept) + [""] * (total - len(kept)) for kept in (self.start.names, self.start.looks))
        for slot, name in zip(slots.tolist(), given, strict=True):
            names[slot], looks[slot] = name, ""
        return {"names": tuple(names), "looks": tuple(looks)}

    def remove(self, slots: Iterable[int]) -> None:
        """Remove pedestrians from the world; they are absent from the next generation."""
        for slot in slots:
            self._returning.pop(int(slot), None)
            self._absent[slot] = True
            self.pedestrians.active[0, slot] = False
            self.world.replay.last[0, slot] = self.world.replay.first[0, slot] - 1

    def move(self, slots: Sequence[int], poses: Array) -> None:
        """Move pedestrians to new poses, at which they are at rest. They are absent for one generation, so that the jump does not
        cause contacts.

        Args:
            slots: slots of simulated pedestrians.
            poses: (K, 3) x, y, heading, m and rad.

        Raises:
            InputError: a pose is outside the map or non-finite.
        """
        poses = np.asarray(poses, np.float64).reshape(-1, 3)
        if not np.isfinite(poses).all() or not self.start.map.contains(poses[:, :2]).all():
            raise InputError("a pedestrian would be outside the map")
        self._lift({int(slot): (pose, False) for slot, pose in zip(slots, poses, strict=True)})

    def restart(self) -> None:
        """Move all simulated pedestrians back to their starts, as `move` does, with their first waypoint as destination."""
        people = self.start.pedestrians
        poses = np.concatenate([people.position, people.heading[:, None]], -1)
        self._lift({int(k): (poses[k], True) for k in range(len(people.id)) if not self._absent[k]})

    def _lift(self, poses: dict[int, tuple[Doubles, bool]]) -> None:
        for slot in poses:
            self.pedestrians.active[0, slot] = False
        self._returning |= poses

    def _put_back(self) -> None:
        """Put moved pedestrians back into the world once a generation without them has been returned."""
        now, goals = self.pedestrians, self.world.waypoints
        for slot in [slot for slot in self._returning if not self._shown[slot]]:
            pose, anew = self._returning.pop(slot)
            now.x[0, slot], now.y[0, slot], now.heading[0, slot] = pose
            now.vx[0, slot], now.vy[0, slot] = 0.0, 0.0
            now.active[0, slot] = True
            if anew:
                goals.index[0, slot] = 0
                goals.x[0, slot], goals.y[0, slot] = goals.list_x[0, slot, 0], goals.list_y[0, slot, 0]

    def _remember(self) -> None:
        self._shown: Bools = self.pedestrians.active[0].copy()

    def set_map(self, place: Map) -> None:
        """Replace the map of the pedestrians' world; added walls and furniture stay."""
        self._map = place
        self._surround()

    def add_walls(self, segments: Array) -> None:
        """Add walls (K, 4) x0, y0, x1, y1, m."""
        self._walls = np.concatenate([self._walls, np.asarray(segments, float).reshape(-1, 4)])
        self._surround()

    def clear_walls(self) -> None:
        """Remove the added walls."""
        self._walls = self._walls[:0]
        self._surround()

    def add_things(self, things: Sequence[Thing]) -> None:
        """Add pieces of furniture; pedestrians can use interactive pieces."""
        self._things += tuple(things)
        self._surround()

    def clear_things(self) -> None:
        """Remove the added furniture."""
        self._things = ()
        self._surround()

    def add_robot(self, robot: RobotStart) -> None:
        """Add a robot that is moved externally."""
        self._rebuild(dataclasses.replace(self.start, robots=(*self.start.robots, robot)))

    def set_models(self, models: Sequence[AnyCrowdModel]) -> None:
        """Replace the crowd models with the same number of other models."""
        self._conditions = dataclasses.replace(self._conditions, crowd=tuple(models))
        self._rebuild(self.start)

    def _surround(self) -> None:
        pieces = [thing.furniture for thing in self._things]
        polygons = (*self._map.polygons, *(corners for piece in pieces for corners in piece.polygons()))
        discs = np.concatenate([self._map.discs, *(piece.discs() for piece in pieces)])
        segments = np.concatenate([self._map.segments, self._walls])
        place = dataclasses.replace(self._map, segments=segments, discs=discs, polygons=polygons)
        used = (thing.furniture for thing in self._things if thing.kind == "interactive")
        original = self._original
        self._rebuild(
            dataclasses.replace(
                self.start, map=place, things=(*original.things, *self._things), furniture=(*original.furniture, *used)
            )
        )

    def _build(self, start: Start) -> Engine:
        engine = Engine.of(
            [start], dataclasses.replace(self._conditions, simulator=Native(), ends=0, remove=False), is_fed=self._is_fed
        )
        engine.reset(0, start)
        engine.world.status.goals.tolerance[0], engine.world.status.clock.time_limit[0] = 0.0, _LONGEST
        return engine

    def _rebuild(self, start: Start, new: Array | tuple[()] = ()) -> None:
        """Rebuild the engine for another start, keeping the current state; ``new`` holds the slots of new pedestrians."""
        engine = self._build(start)
        old, world, was, crowd = self.world, engine.world, self._crowd, engine.crowd
        assert crowd is not None
        stay = np.setdiff1d(np.arange(int(old.traits.count[0])), np.asarray(new, np.int64)).tolist()
        world.take_over(old, range(old.layout.robots), stay)
        crowd.number[0, stay] = was.number[0, stay]
        if was.fed is not None and crowd.fed is not None:
            carry(was.fed, crowd.fed, pedestrians=stay)
        for part in ("last", "cursor", "aside_x", "aside_y"):
            getattr(world.replay, part)[0, stay] = getattr(old.replay, part)[0, stay]
        shown = np.zeros(world.slots, np.bool_)
        shown[: min(world.slots, len(self._shown))] = self._shown[: world.slots]
        self.start, self._engine, self._shown = start, engine, shown


def _with(old: PedestrianStarts, new: PedestrianStarts, slots: Array) -> PedestrianStarts:
    """Return the pedestrians after replacing those in some slots; the result may have more slots."""
    total = max(len(old.id), int(slots.max(initial=-1)) + 1)
    fields: dict[str, Any] = {}
    for field in dataclasses.fields(PedestrianStarts):
        before, after = getattr(old, field.name), getattr(new, field.name)
        if field.name == "habits":
            habits = [*before, *[Habits()] * (total - len(before))]
            for slot, habit in zip(slots.tolist(), after or [Habits()] * len(slots), strict=True):
                habits[slot] = habit
            fields["habits"] = tuple(habits) if before or after else ()
            continue
        if before.ndim > 1 and field.name != "company":
            width = max(before.shape[1], after.shape[1])
            before, after = (_wider(array, width) if array.ndim > 1 else array for array in (before, after))
        grown = np.zeros((total, *after.shape[1:]), after.dtype)
        grown[: len(before)] = before
        grown[slots] = after
        fields[field.name] = grown
    return PedestrianStarts(**fields)


def _wider(array: Array, width: int) -> Array:
    """Return an array (P, K, ...) padded with zeros to a K of at least ``width``."""
    more = np.zeros((array.shape[0], max(0, width - array.shape[1]), *array.shape[2:]), array.dtype)
    return np.concatenate([array, more], 1)


def open_start(place: Map, entry: str = "crowd/open/0", seed: int = 0) -> Start:
    """Return the start of an episode on a map without robots or pedestrians, for a crowd node that starts before it receives an
    episode.
    """
    return Start(entry, seed, place, (), PedestrianStarts.none(), timeout=60.0)
