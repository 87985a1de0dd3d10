"""A task: an episode while the modes place its robots and its people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from agora.core.state import Bools, Doubles
from agora.draft.people import People, Person
from agora.draft.placement import have_room, place, room_at_border
from agora.draft.surroundings import Surroundings
from agora.errors import PlacementError
from agora.maps.grid import Map
from agora.robots.model import RobotModel
from agora.seeds import Stream
from agora.world.start import GOAL_TOLERANCE, Thing
from agora.world.trajectories import Trajectories


@dataclass
class Task:
    """An episode during its creation: obstacles modes read the robots' places and write the rest.

    Attributes:
        world: surroundings of the episode.
        map: static surroundings, to which an obstacles mode may add.
        radius: radius of the largest robot, m.
        safety: clearance of robots beyond it at random places, m.
        stream: stream of all random draws.
        crowd: sizes and speeds of pedestrians.
        robots: start pose and goals of each robot, once placed.
        pedestrians: simulated pedestrians, once placed.
        replay: recorded pedestrians that appear; ``replay_radius`` is theirs, m.
        phase: (n,) time offset of each, s, empty for none.
        things: furniture put into the map.
        forbidden: polygons (V, 2) in which `place` puts nothing.
        timeout: time limit, s; None if it follows from the robots' paths.
        goal_tolerance: distance at which a goal counts as reached, m.
        speed: largest speed of the fastest robot, m/s.
        control: time between two calls of the planner, s.
        models: models of the robots, one for all or one for each.
        later: functions that are called one after another when robots and obstacles are placed.
        numbers: number of names with each prefix.
        kinds: stream of the pedestrians' types and reactions, so that other shares do not change the places.
    """

    world: Surroundings
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
    _bodies: Doubles = field(default_factory=lambda: np.zeros((0, 3)), init=False, repr=False)

    def __post_init__(self) -> None:
        self.kinds = self.stream.branch("people")

    @property
    def inscribed(self) -> float:
        """Radius of the largest disc that fits the outline of every robot, m."""
        return min((model.inscribed_radius for model in self.models), default=self.radius)

    def check_robot(self, robot: int, start: Doubles, goal: Doubles) -> None:
        """Make sure that the start and the goal of a robot that the scenario names are on the map, with room, and in no obstacle.

        Raises:
            PlacementError: they are not.
        """
        radius = self.models[robot % len(self.models)].radius if self.models else self.radius
        self.check_free("it", start, "robots", robot, "start", margin=room_at_border(radius, float(start[2])))
        self.check_free("it", goal, "robots", robot, "goal", margin=room_at_border(radius))

    def bodies(self) -> Doubles:
        """Discs (N, 3) of the pedestrians so far, m; they are only added to."""
        new = [[*person.position, person.radius] for person in self.pedestrians[len(self._bodies) :]]
        self._bodies = np.vstack([self._bodies, np.reshape(new, (-1, 3))])
        return self._bodies

    def place(self, clearance: float, count: int, **conditions: Any) -> Doubles:
        """Points (count, 2) in free space and in no forbidden zone; ``conditions`` are those of `agora.draft.placement.place`.

        Raises:
            PlacementError: there is no room.
        """
        return place(self.stream, self.map, clearance, count, forbidden=self.forbidden, **conditions)

    def allows(self, points: Doubles, clearance: float) -> Bools:
        """Return which points (N, 2) are on the map, and keep a clearance to its border, its obstacles and forbidden zones."""
        return have_room(self.map, points, clearance, [], self.forbidden)

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

    def check_free(self, who: str, point: Doubles, *keys: str | int, margin: float = 0.0) -> None:
        """Make sure that the place of somebody whom the scenario names at ``keys`` is on the map and in no obstacle.

        Args:
            who: subject of the message.
            point: (2 or more) m.
            keys: keys of the place in the scenario.
            margin: least distance from the border of the map, m.

        Raises:
            PlacementError: it is not.
        """
        self.check_inside(who, point, *keys)
        if (kept := float(self.map.margin(point[:2]))) < margin:
            fault = f"{kept:.3f} m from the border of map {self.map.name!r}, expected {margin:.3f} m"
            raise self._misplaced(who, point, fault, *keys)
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
                raise self._misplaced(who, point, f"overlapping a pedestrian or robot at {self.map.place(other)}", *keys)

    def _misplaced(self, who: str, point: Doubles, fault: str, *keys: str | int) -> PlacementError:
        return PlacementError(f"{self.world.named(*keys)}: {who} is at {self.map.place(point)}, {fault}")
