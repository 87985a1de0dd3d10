"""A task: an episode in which the task modes are still placing the robots and people."""

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
    """An episode while it is being created: obstacles modes read the robots' positions and write the other fields.

    Attributes:
        world: surroundings of the episode.
        map: static surroundings, to which an obstacles mode may add obstacles.
        radius: radius of the largest robot, m.
        safety: extra clearance beyond the radius when robots are placed at random, m.
        stream: stream of all random draws.
        crowd: sizes and speeds of the pedestrians.
        robots: start pose and goals of each robot, once placed.
        pedestrians: simulated pedestrians, once placed.
        replay: recorded pedestrians that appear; ``replay_radius`` is their radius, m.
        phase: (n,) time offset of each recorded pedestrian, s; empty for no offsets.
        things: furniture that was added to the map.
        forbidden: polygons (V, 2) in which `place` does not place anything.
        timeout: time limit, s; None if it follows from the robots' paths.
        goal_tolerance: distance at which a goal counts as reached, m.
        speed: maximum speed of the fastest robot, m/s.
        control: time between two calls of the planner, s.
        models: robot models: one for all robots, or one per robot.
        later: functions that are called in this order once robots and obstacles are placed.
        numbers: how many names have been issued per prefix.
        kinds: stream for the pedestrians' types and reactions; it is separate, so that changing the shares does not change the
            positions.
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
        """Radius of the largest disc that fits inside the outline of every robot, m."""
        return min((model.inscribed_radius for model in self.models), default=self.radius)

    def check_robot(self, robot: int, start: Doubles, goal: Doubles) -> None:
        """Check that the start and goal of a robot in the scenario are on the map, have enough clearance, and are not in an
        obstacle.

        Raises:
            PlacementError: a position is invalid.
        """
        radius = self.models[robot % len(self.models)].radius if self.models else self.radius
        self.check_free("it", start, "robots", robot, "start", margin=room_at_border(radius, float(start[2])))
        self.check_free("it", goal, "robots", robot, "goal", margin=room_at_border(radius))

    def bodies(self) -> Doubles:
        """Discs (N, 3) of the pedestrians placed so far, m; pedestrians are never removed."""
        new = [[*person.position, person.radius] for person in self.pedestrians[len(self._bodies) :]]
        self._bodies = np.vstack([self._bodies, np.reshape(new, (-1, 3))])
        return self._bodies

    def place(self, clearance: float, count: int, **conditions: Any) -> Doubles:
        """Return points (count, 2) in free space outside forbidden zones; ``conditions`` are arguments of
        `agora.draft.placement.place`.

        Raises:
            PlacementError: there is no room.
        """
        return place(self.stream, self.map, clearance, count, forbidden=self.forbidden, **conditions)

    def allows(self, points: Doubles, clearance: float) -> Bools:
        """Return which points (N, 2) are on the map and keep a clearance from its border, its obstacles and forbidden zones."""
        return have_room(self.map, points, clearance, [], self.forbidden)

    def name(self, letter: Literal["S", "I", "D"], model: str) -> str:
        """Return the next name of an obstacle or pedestrian in Arena's form: S, I or D (static, interactive, dynamic), model and
        number.
        """
        beginning = f"{letter}_{model}"
        self.numbers[beginning] = self.numbers.get(beginning, 0) + 1
        return f"{beginning}_{self.numbers[beginning]}"

    def furnish(self, things: Sequence[Thing]) -> None:
        """Add furniture to the map."""
        if things:
            polygons = tuple(outline for thing in things for outline in thing.furniture.polygons())
            discs = np.vstack([self.map.discs, *(thing.furniture.discs() for thing in things)])
            self.map = replace(self.map, discs=discs, polygons=self.map.polygons + polygons)
            self.things.extend(things)

    def check_free(self, who: str, point: Doubles, *keys: str | int, margin: float = 0.0) -> None:
        """Check that a position given in the scenario at ``keys`` is on the map and not in an obstacle.

        Args:
            who: subject of the error message.
            point: the position, m; only the first two values are used.
            keys: keys of the position in the scenario.
            margin: minimum distance from the border of the map, m.

        Raises:
            PlacementError: the check failed.
        """
        self.check_inside(who, point, *keys)
        if (kept := float(self.map.margin(point[:2]))) < margin:
            fault = f"{kept:.3f} m from the border of map {self.map.name!r}, expected {margin:.3f} m"
            raise self._misplaced(who, point, fault, *keys)
        if float(self.map.gap(point[None, :2], limit=self.radius)[0]) <= 0.0:
            raise self._misplaced(who, point, f"inside an obstacle of map {self.map.name!r}", *keys)

    def check_inside(self, who: str, point: Doubles, *keys: str | int) -> None:
        """Check that a position given in the scenario at ``keys`` is on the map.

        Raises:
            PlacementError: the check failed.
        """
        if not bool(self.map.contains(point[:2])):
            raise self._misplaced(who, point, f"outside map {self.map.name!r}", *keys)

    def check_apart(self, who: str, point: Doubles, others: Sequence[Doubles], reach: float, *keys: str | int) -> None:
        """Check that a position, given in the scenario at ``keys``, is at least ``reach`` metres from each of the positions
        ``others``.

        Raises:
            PlacementError: the check failed.
        """
        for other in others:
            if float(np.hypot(*(point[:2] - other[:2]))) < reach:
                raise self._misplaced(who, point, f"overlapping a pedestrian or robot at {self.map.place(other)}", *keys)

    def _misplaced(self, who: str, point: Doubles, fault: str, *keys: str | int) -> PlacementError:
        return PlacementError(f"{self.world.named(*keys)}: {who} is at {self.map.place(point)}, {fault}")
