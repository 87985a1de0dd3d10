"""The library's engine as a simulator: one world, exact steps, pedestrians from outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from agora.core import state
from agora.core.recording import Contact
from agora.core.state import Bools, Doubles, Floats, Robots
from agora.engine.recorder import take_events
from agora.engine.records import RUNNING
from agora.episode import Batch, Conditions
from agora.errors import InputError, UnknownNameError
from agora.maps.furniture import Furniture, model_of
from agora.maps.grid import Map
from agora.simulators.base import Ability, Entity, People, Reading, RobotStanding
from agora.tasks.start import PedestrianStarts, RobotStart, Start

if TYPE_CHECKING:
    from agora.robots.model import RobotModel
    from agora.tasks.suite import Stage

_PATIENCE = 1.0  # s for which pedestrians go on with a velocity of which nobody has said anything more; then they stand
_NO_LIMIT = 1e8  # s
_PER_ROBOT = (
    "outcome",
    "end_step",
    "goal_x",
    "goal_y",
    "goal_heading",
    "tolerance",
    "heading_tolerance",
    "goals_left",
    "arrived",
    "clipped",
)


@dataclass
class _Robot:
    """What is known of a robot beside the engine's records."""

    name: str
    start: RobotStart
    contacts: int = 0
    failure: str = ""


def _copy(source: Any, target: Any) -> None:
    """Copy a record into one of the same kind; slots that the source has not stay as they are."""
    for mine, its in zip(source, target, strict=True):
        width = min(mine.shape[-1], its.shape[-1])
        its[..., :width] = mine[..., :width]


def _carry(old: Batch, new: Batch, kept: Sequence[int]) -> None:
    """Take over time, pedestrians, and those robots, by their old numbers, which are the first of the new world."""
    before, after = old.engine, new.engine
    first, then = slice(0, len(kept)), list(kept)
    after.tick = before.tick
    _copy(before.pedestrians, after.pedestrians)
    _copy(before.traits, after.traits)
    for name in ("key", "step", "time_limit"):
        getattr(after.status, name)[0] = getattr(before.status, name)[0]
    for name in _PER_ROBOT:
        getattr(after.status, name)[0, first] = getattr(before.status, name)[0, then]
    for mine, its in zip(before.robots, after.robots, strict=True):
        its[0, first] = mine[0, then]
    depth = min(before.status.queue.shape[2], after.status.queue.shape[2])
    after.status.queue[0, first, :depth] = before.status.queue[0, then, :depth]
    after.status.touching_wall[0, first] = before.status.touching_wall[0, then]
    after.status.touching_robot[0, first, first] = before.status.touching_robot[0][np.ix_(then, then)]
    width = min(before.slots, after.slots)
    after.status.touching_pedestrian[0, first, :width] = before.status.touching_pedestrian[0, then, :width]
    after.commands[0, first], new.goals[0, first] = before.commands[0, then], old.goals[0, then]
    after.status.done[0] = bool(after.status.outcome.size) and bool((after.status.outcome != RUNNING).all())


class Native:
    """One world of the library's engine.

    Composed with a crowd and a navigation that take robots and pedestrians from it, step by step, it gives the trajectory of
    `agora.episode.Episodes` bit by bit. Before the first `begin` it is an empty plane without robots.
    """

    name: ClassVar[str] = "native"
    can: ClassVar[frozenset[Ability]] = frozenset({"step", "pause", "delete", "exact_contacts"})

    def __init__(self) -> None:
        plane = Map.open((-10.0, -10.0), (10.0, 10.0))
        start = Start("native/plane/0", 0, plane, (), PedestrianStarts.none(), timeout=_NO_LIMIT, goal_tolerance=0.3)
        self._adopt(start, Conditions(outside=True), (), 0.0)

    @property
    def dt(self) -> float:
        """Physics step, s."""
        return self._batch.engine.dt

    @property
    def step(self) -> int:
        """Physics steps since the episode began."""
        return int(self._batch.engine.status.step[0])

    @property
    def began(self) -> float:
        """Stamp of the moment at which the episode began, s."""
        return self._began

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the robots."""
        return tuple(robot.name for robot in self._fleet)

    @property
    def models(self) -> tuple[RobotModel, ...]:
        """What the robots are."""
        return tuple(robot.start.model for robot in self._fleet)

    @property
    def robots(self) -> Robots:
        """Where the robots are, one world (1, R)."""
        return self._batch.engine.robots

    @property
    def done(self) -> bool:
        """Whether every robot has ended."""
        return bool(self._batch.engine.status.done[0])

    def begin(self, start: Start, stage: Stage, names: Sequence[str], since: float) -> None:
        """Adopt an episode."""
        self._adopt(start, replace(Conditions.of(stage), outside=True), names, since)

    def _adopt(self, start: Start, conditions: Conditions, names: Sequence[str], since: float) -> None:
        self._fleet = [_Robot(name, robot) for name, robot in zip(names, start.robots, strict=True)]
        self._start, self._place, self._began = start, start.map, since
        self._conditions, self._obstacles = conditions, dict[str, Furniture]()
        self._contacts: list[tuple[int, Contact]] = []
        self._batch = self._make(start.crowd_size)
        engine = self._batch.engine
        self._keep(People(0, engine.pedestrians, engine.traits, engine.minds))
        self._see()

    def _make(self, pedestrians: int) -> Batch:
        """A world at the beginning of the episode, with the robots and the furniture of now."""
        pieces = self._obstacles.values()
        polygons = tuple(outline for piece in pieces for outline in piece.polygons())
        discs = np.vstack([self._place.discs, *(piece.discs() for piece in pieces)])
        place = replace(self._place, discs=discs, polygons=self._place.polygons + polygons) if pieces else self._place
        start = replace(self._start, map=place, robots=tuple(robot.start for robot in self._fleet))
        batch = Batch([start], self._conditions, ("scan",), 1, slots=state.padded(pedestrians))
        batch.begin(0, 0)
        return batch

    def _remake(self, kept: Sequence[int], pedestrians: int = 0) -> None:
        """Make the world again with the robots and the furniture of now; ``kept`` are the old numbers of robots that were there."""
        before, self._batch = self._batch, self._make(max(pedestrians, self._batch.engine.slots))
        _carry(before, self._batch, list(kept))
        before.engine.close()
        self._see()

    def set_map(self, place: Map) -> None:
        """Change the static surroundings."""
        self._place = place
        self._remake(range(len(self._fleet)))

    def spawn(self, entity: Entity) -> None:
        """Put a robot, which has no goal, or an obstacle into the world."""
        if entity.name in self.names or entity.name in self._obstacles:
            raise InputError(f"there is something called {entity.name!r} already; delete it first or take another name")
        old = range(len(self._fleet))
        if entity.kind == "obstacle":
            model_of(entity.furniture)
            self._obstacles[entity.name] = Furniture(entity.furniture, *(float(v) for v in entity.pose))
            self._remake(old)
            return
        if entity.model is None:
            raise InputError(f"robot {entity.name!r} has no model")
        self._fleet.append(_Robot(entity.name, RobotStart(entity.model, entity.pose, entity.pose[None])))
        self._remake(old)
        self._batch.engine.status.tolerance[0, -1] = 0.0  # within which no goal is ever reached

    def move(self, name: str, pose: Doubles) -> None:
        """Put a robot or an obstacle somewhere else, at rest."""
        if name in self._obstacles:
            self._obstacles[name] = Furniture(self._obstacles[name].model, *(float(v) for v in pose))
            self._remake(range(len(self._fleet)))
            return
        r, engine = self._number(name), self._batch.engine
        for field in engine.robots[:-1]:
            field[0, r] = 0.0
        engine.robots.x[0, r], engine.robots.y[0, r], engine.robots.heading[0, r] = pose
        engine.status.queue[0, r], engine.commands[0, r] = 0.0, 0.0
        engine.status.touching_pedestrian[0, r], engine.status.touching_wall[0, r] = False, False
        engine.status.touching_robot[0, r], engine.status.touching_robot[0, :, r] = False, False
        self._see()

    def delete(self, name: str) -> None:
        """Take a robot or an obstacle away."""
        kept = list(range(len(self._fleet)))
        if name in self._obstacles:
            del self._obstacles[name]
        else:
            del self._fleet[kept.pop(self._number(name))]
        self._remake(kept)

    def _number(self, name: str) -> int:
        if name not in self.names:
            raise UnknownNameError("robot or obstacle", name, [*self.names, *self._obstacles])
        return self.names.index(name)

    def set_goal(self, name: str, goal: Doubles) -> None:
        """Give a robot another goal, the last one of its episode; one that has ended is under way again, for a whole time limit."""
        r, engine = self._number(name), self._batch.engine
        status = engine.status
        engine.set_goal(0, r, np.asarray(goal, np.float32))
        status.goals_left[0, r], status.tolerance[0, r] = 0, self._start.goal_tolerance
        self._batch.goals[0, r] += 1
        if status.outcome[0, r] != RUNNING:
            status.outcome[0, r], status.done[0], engine.robots.active[0, r] = RUNNING, False, True
            status.time_limit[0] = status.step[0] + round(self._start.timeout / engine.dt)
            self._fleet[r].failure = ""

    def set_pedestrians(self, people: People) -> None:
        """Take pedestrians from outside."""
        count = int(people.traits.count[0])
        if count > self._batch.engine.slots:
            self._remake(range(len(self._fleet)), count)
        self._keep(people)
        engine = self._batch.engine
        _copy(self._people.traits, engine.traits)
        if people.step == self.step:
            _copy(self._people.now, engine.pedestrians)

    def _keep(self, people: People) -> None:
        self._people = People.room(self._batch.engine.slots, people.step)
        _copy(people.now, self._people.now)
        _copy(people.traits, self._people.traits)

    def command(self, twists: Floats, failures: Mapping[int, str]) -> None:
        """Set the twists (R, 3) that count until the next call."""
        for r, reason in failures.items():
            self._fleet[r].failure = reason
        self._batch.command(twists, self._batch.active, list(failures))

    def advance(self) -> None:
        """Take a physics step; nothing changes once all is done."""
        if self.done:
            return
        self._move_pedestrians()
        self._batch.engine.step()
        for _, r, contact in take_events(self._batch.engine):
            self._fleet[r].contacts += 1
            self._contacts.append((r, contact))
        if self.step % self._conditions.periods.steps("control") == 0:
            self._batch.next_goals()
        self._see()

    def _move_pedestrians(self) -> None:
        """Write their next generation: what came from outside, gone on with its velocity where that is of an earlier moment."""
        engine, now = self._batch.engine, self._people.now
        after = engine.next_pedestrians
        _copy(now, after)
        if late := self.step + 1 - self._people.step:
            since = np.float32(min(late * engine.dt, _PATIENCE))
            after.x[...] += after.vx * since
            after.y[...] += after.vy * since
            if late * engine.dt > _PATIENCE:
                after.vx[...], after.vy[...] = 0.0, 0.0

    def _see(self) -> None:
        """Take the scans of now, where they are due."""
        batch, self._readings = self._batch, list[Reading]()
        if batch.lidar is None or self.step % self._conditions.periods.steps("sensor"):
            return
        batch.observer.scan()
        time, present = self.step * self.dt, np.flatnonzero(batch.engine.robots.active[0])
        self._readings = [Reading(int(r), time, batch.observer.ranges[r].copy(), batch.lidar) for r in present]

    def wait(self, seconds: float) -> bool:
        """Time does not pass by itself."""
        return False

    def pause(self) -> None:
        """Time stands between two steps anyway."""

    def resume(self) -> None:
        """Time passes by `advance` alone."""

    def readings(self) -> Sequence[Reading]:
        """The scans since the last call."""
        taken, self._readings = self._readings, []
        return taken

    def standing(self) -> Sequence[RobotStanding]:
        """How every robot's episode stands."""
        status = self._batch.engine.status
        return [
            RobotStanding(
                ended=bool(status.outcome[0, r] != RUNNING),
                goal=int(self._batch.goals[0, r]),
                outcome=int(status.outcome[0, r]),
                end_time=float(status.end_step[0, r]) * self.dt,
                clipped=int(status.clipped[0, r]),
                contacts=robot.contacts,
                failure=robot.failure,
                target=(float(status.goal_x[0, r]), float(status.goal_y[0, r]), float(status.goal_heading[0, r])),
            )
            for r, robot in enumerate(self._fleet)
        ]

    def contacts(self) -> Sequence[tuple[int, Contact]]:
        """Which robots began to touch something since the last call."""
        taken, self._contacts = self._contacts, []
        return taken

    def touching(self) -> Bools:
        """Which robots touch something now (R,)."""
        status = self._batch.engine.status
        touched: Bools = status.touching_pedestrian[0].any(-1) | status.touching_wall[0] | status.touching_robot[0].any(-1)
        return touched

    def close(self) -> None:
        """Stop the engine's threads."""
        self._batch.engine.close()
