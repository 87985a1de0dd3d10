"""A world: static surroundings, and what comes with them; and where worlds come from."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from agora.core.state import LOOP, REACTIONS, TYPES, Doubles
from agora.documents import located
from agora.errors import PlacementError, nearest
from agora.maps.furniture import Furniture
from agora.maps.grid import Map
from agora.maps.zones import Zone
from agora.ranges import Distance, PersonRadius, WalkingSpeed
from agora.seeds import Stream
from agora.tasks.budget import measured, time_budget
from agora.tasks.placement import place
from agora.world.start import GOAL_TOLERANCE, Habits, RobotStart, Thing

if TYPE_CHECKING:
    from agora.robots.model import RobotModel
    from agora.tasks.scenario import Scenario
    from agora.world.trajectories import Trajectories


@dataclass(frozen=True, eq=False)
class World:
    """Surroundings of one episode.

    Attributes:
        map: static surroundings.
        scenario: robots' tasks and pedestrians that belong to it, for the modes ``scenario``; scenario_file: where it was read.
        replay: recorded pedestrians, for the obstacles mode ``replay``; replay_radius: their radius, m.
        timeout: s, where the world sets one.
        people: pedestrians that belong to it, beside the scenario's, for the obstacles mode ``scenario``.
        furniture: what stands in the map, whose cells it occupies; zones: parts of the map by category.
        folder: of the world, where it has one; modes read their files there.
        reference_path: length of the path that was published with it and that its score compares with, m.
    """

    map: Map
    scenario: Scenario | None = None
    replay: Trajectories | None = None
    replay_radius: float = 0.3
    timeout: float | None = None
    scenario_file: Path | None = None
    people: tuple[Person, ...] = ()
    furniture: tuple[Furniture, ...] = ()
    zones: tuple[Zone, ...] = ()
    folder: Path | None = None
    reference_path: float | None = None

    def areas(self, categories: Iterable[str]) -> list[Doubles]:
        """The polygons (V, 2) of the zones that have one of the categories; with "*", of all."""
        wanted = set(categories)
        return [area for zone in self.zones if "*" in wanted or wanted & set(zone.category) for area in zone.polygons]

    def named(self, *keys: str | int) -> str:
        """The beginning of a message about a value of the scenario: file, line and key where it was read from a file."""
        if self.scenario_file is not None:
            return located(self.scenario_file, *keys)
        return f"scenario of {self.map.name!r}: " + ".".join(map(str, keys))


class WorldSource(Protocol):
    """Where the worlds of a stage come from; a frozen dataclass whose fields are its parameters."""

    def names(self) -> list[str]:
        """Return the names of its worlds; episode k of a stage uses number k modulo their count."""

    def world(self, name: str, stream: Stream) -> World:
        """Return a world; ``stream`` is for those that are generated."""


class RobotsMode(Protocol):
    """Where robots start and what they are to reach."""

    def place(self, task: Task) -> list[tuple[Doubles, Doubles]]:
        """Return the start pose (3,) and the goals (G, 3) of each robot.

        Goals that obstacles need not make room for are added to ``task.robots`` by a function that is appended to ``task.later``.
        """


class ObstaclesMode(Protocol):
    """Who and what is in the way."""

    def place(self, task: Task) -> None:
        """Put pedestrians, recordings and static obstacles into the task."""


@dataclass
class Task:
    """An episode while it is put together: obstacles modes read the robots' places and write the rest.

    Attributes:
        world: surroundings. map: static surroundings, to which an obstacles mode may add.
        radius: of the largest robot, m. safety: clearance that robots are given beyond it at random places, m.
        stream: for everything random.
        crowd: what pedestrians are like.
        robots: start pose and goals of each robot, once placed.
        pedestrians: simulated ones, once placed.
        replay: recorded ones that appear, replay_radius: theirs, m; phase: (n,) s by which each is ahead, empty for none.
        things: furniture put into the map.
        forbidden: polygons (V, 2) in which `place` puts nothing.
        timeout: s; None where it follows from the robots' ways. goal_tolerance: m. speed: of the fastest robot, m/s. control: s
            between two calls of the planner. models: of the robots, one for all or one for each.
        later: called one after the other when robots and obstacles are placed.
        numbers: how many names there are of each beginning.
        kinds: stream of the pedestrians' types and reactions, so that other shares of them leave the places as they are.
    """

    world: World
    map: Map
    radius: float
    safety: float
    stream: Stream
    crowd: People
    robots: list[tuple[Doubles, Doubles]] = field(default_factory=list)
    pedestrians: list[Person] = field(default_factory=list)
    replay: Trajectories | None = None
    replay_radius: float = 0.3
    phase: Doubles = field(default_factory=lambda: np.zeros(0))
    things: list[Thing] = field(default_factory=list)
    forbidden: tuple[Doubles, ...] = ()
    timeout: float | None = 60.0
    goal_tolerance: float = GOAL_TOLERANCE
    speed: float = 2.0
    control: float = 0.1
    models: tuple[RobotModel, ...] = ()
    later: list[Callable[[], None]] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    kinds: Stream = field(init=False)

    def __post_init__(self) -> None:
        self.kinds = self.stream.branch("people")

    @property
    def inscribed(self) -> float:
        """Radius of the largest disc that fits the outline of every robot, m."""
        return min((model.inscribed_radius for model in self.models), default=self.radius)

    def place(self, clearance: float, count: int, **conditions: Any) -> Doubles:
        """Points (count, 2) in free space and in no forbidden zone; ``conditions`` are those of `agora.tasks.placement.place`.

        Raises:
            PlacementError: there is no room.
        """
        return place(self.stream, self.map, clearance, count, forbidden=self.forbidden, **conditions)

    def name(self, letter: Literal["S", "I", "D"], model: str) -> str:
        """The next name of a thing or pedestrian as Arena forms it: S, I or D (static, interactive, dynamic), model and number."""
        beginning = f"{letter}_{model}"
        self.numbers[beginning] = self.numbers.get(beginning, 0) + 1
        return f"{beginning}_{self.numbers[beginning]}"

    def furnish(self, things: Sequence[Thing]) -> None:
        """Put furniture into the map."""
        if things:
            polygons = tuple(outline for thing in things for outline in thing.furniture.polygons())
            discs = np.vstack([self.map.discs, *(thing.furniture.discs() for thing in things)])
            self.map = replace(self.map, discs=discs, polygons=self.map.polygons + polygons)
            self.things.extend(things)

    def enough_goals(self, spacing: float, routes: Sequence[tuple[Doubles, Doubles]]) -> int:
        """How many goals nobody can use up before the time-out, where each is at least ``spacing`` m from the one before.

        A time-out that is open is from now on what the robots need for their ``routes``, start and goals, once.
        """
        if self.timeout is None:
            models = [self.models[k % len(self.models)] for k in range(len(routes))]
            robots = [RobotStart(model, start, goals) for model, (start, goals) in zip(models, routes, strict=True)]
            self.timeout = time_budget(measured(self.map, robot) for robot in robots)
        calls = math.ceil(self.timeout / self.control) + 2
        ride = spacing - 2 * self.goal_tolerance
        return calls if ride <= 0 else min(calls, math.ceil(1.001 * self.timeout * self.speed / ride) + 2)

    def check_free(self, who: str, point: Doubles, *keys: str | int) -> None:
        """Make sure that the place of somebody whom the scenario names at ``keys`` is on the map and in no obstacle.

        Raises:
            PlacementError: it is not.
        """
        self.check_inside(who, point, *keys)
        if float(self.map.gap(point[None, :2], limit=self.radius)[0]) <= 0.0:
            raise self._misplaced(who, point, f"inside an obstacle of map {self.map.name!r}", *keys)

    def check_inside(self, who: str, point: Doubles, *keys: str | int) -> None:
        """Make sure that a place that the scenario names at ``keys`` is on the map.

        Raises:
            PlacementError: it is not.
        """
        if not bool(self.map.contains(point[:2])):
            raise self._misplaced(who, point, f"outside map {self.map.name!r}", *keys)

    def check_apart(self, who: str, point: Doubles, others: Sequence[Doubles], reach: float, *keys: str | int) -> None:
        """Make sure that a place that the scenario names at ``keys`` is farther than ``reach``, m, from those of others.

        Raises:
            PlacementError: it is not.
        """
        for other in others:
            if float(np.hypot(*(point[:2] - other[:2]))) < reach:
                raise self._misplaced(who, point, f"overlapping somebody at {self.map.place(other)}", *keys)

    def _misplaced(self, who: str, point: Doubles, fault: str, *keys: str | int) -> PlacementError:
        return PlacementError(f"{self.world.named(*keys)}: {who} is at {self.map.place(point)}, {fault}")


@dataclass(frozen=True)
class People:
    """What simulated pedestrians are like.

    Attributes:
        speed: mean preferred speed, m/s (1.34: Weidmann 1993); speed_deviation: of the normal distribution, cut at two deviations.
        radius: m.
        tolerance: distance at which a waypoint counts as reached, m.
        types, reactions: shares of `agora.core.state.TYPES` and ``REACTIONS`` among pedestrians at random places.
    """

    speed: WalkingSpeed = 1.34
    speed_deviation: WalkingSpeed = 0.26
    radius: PersonRadius = 0.3
    tolerance: Distance = 0.5
    types: dict[str, float] = field(default_factory=lambda: {"adult": 1.0})
    reactions: dict[str, float] = field(default_factory=lambda: {"regular": 1.0})

    def __post_init__(self) -> None:
        for name in ("speed", "radius", "tolerance"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be above 0, got {getattr(self, name)}")
        if not 0 <= self.speed_deviation < self.speed / 2:
            raise ValueError(f"speed_deviation must be in [0, speed / 2), got {self.speed_deviation}")
        for name, known in {"types": TYPES, "reactions": REACTIONS}.items():
            shares = getattr(self, name)
            for key, share in shares.items():
                if key not in known:
                    raise ValueError(f"{name} has no {key!r}; {nearest(key, known)}")
                if share < 0:
                    raise ValueError(f"{name}: the share of {key} must be at least 0, got {share}")
            if abs(sum(shares.values()) - 1.0) > 1e-6:
                raise ValueError(f"{name} must have shares that add up to 1, got {sum(shares.values()):g}")

    def draw_kind(self, stream: Stream) -> tuple[str, str]:
        """One type and one reaction, by their shares."""
        return _one_of(self.types, TYPES, stream), _one_of(self.reactions, REACTIONS, stream)

    def draw_speed(self, stream: Stream) -> float:
        """One preferred speed, m/s."""
        while True:
            offset = float(stream.normal())
            if abs(offset) <= 2.0:
                return self.speed + offset * self.speed_deviation


def _one_of(shares: dict[str, float], order: tuple[str, ...], stream: Stream) -> str:
    """A name drawn by its share; the result depends on the shares, not on their order in a file."""
    mark = float(stream.uniform())
    given = [name for name in order if shares.get(name, 0.0) > 0]
    for name in given:
        mark -= shares[name]
        if mark < 0:
            return name
    return given[-1]


@dataclass(frozen=True, eq=False)
class Person:
    """One simulated pedestrian while a task is put together.

    Attributes:
        position: (2,) m. waypoints: (K, 2) m. speed: m/s. radius: m.
        mode: 0 loop, 1 random order, 2 stay at the last. group: -1 for none.
        tolerance: distance at which a waypoint counts as reached, m; the crowd's where None.
        heading: rad; towards the first waypoint where None.
        model: number of the crowd model among the stage's; drawn by their shares where None.
        type, reaction, state: of `agora.core.state.TYPES`, ``REACTIONS`` and ``SOCIAL_STATES``.
        waits: s, how long it stands before it sets out for each waypoint; none where fewer are given. company: distance at which it
            stays with the nearest robot, m, and from when until when, s; 0 for nobody who does. Both need the behaviour ``cues``.
        name: of its own. look: what simulators show it as.
        habits: what a scenario says of its social states.
    """

    position: Doubles
    waypoints: Doubles
    speed: float
    radius: float
    mode: int = LOOP
    group: int = -1
    tolerance: float | None = None
    heading: float | None = None
    model: int | None = None
    type: str = "adult"
    reaction: str = "regular"
    state: str = "walking"
    waits: tuple[float, ...] = ()
    company: tuple[float, float, float] = (0.0, 0.0, 0.0)
    name: str = ""
    look: str = "actor1"
    habits: Habits = field(default_factory=Habits)

    def facing(self) -> float:
        """Heading at the start, rad."""
        if self.heading is not None:
            return self.heading
        ahead = self.waypoints[0] - self.position
        return float(np.arctan2(ahead[1], ahead[0]))
