"""A world: static surroundings, and what comes with them; and where worlds come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from agora.core.state import Doubles
from agora.documents import located
from agora.errors import PlacementError
from agora.maps.furniture import Furniture
from agora.maps.grid import Map
from agora.maps.zones import Zone
from agora.seeds import Stream

if TYPE_CHECKING:
    from agora.datasets.trajectories import Trajectories
    from agora.tasks.scenario import Scenario


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
        """Return the start pose (3,) and the goals (G, 3) of each robot."""


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

    def check_free(self, who: str, point: Doubles, *keys: str | int) -> None:
        """Make sure that the place of somebody whom the scenario names at ``keys`` is on the map and in no obstacle.

        Raises:
            PlacementError: it is not.
        """
        inside = bool(self.map.contains(point[:2]))
        if not inside or float(self.map.gap(point[None, :2], limit=self.radius)[0]) <= 0.0:
            fault = "inside an obstacle of" if inside else "outside"
            place = f"({point[0]:.2f}, {point[1]:.2f})"
            raise PlacementError(f"{self.world.named(*keys)}: {who} is at {place}, {fault} map {self.map.name!r}")


@dataclass(frozen=True)
class People:
    """What simulated pedestrians are like.

    Attributes:
        speed: mean preferred speed, m/s (1.34: Weidmann 1993); speed_deviation: of the normal distribution, cut at two deviations.
        radius: m.
        tolerance: distance at which a waypoint counts as reached, m.
    """

    speed: float = 1.34
    speed_deviation: float = 0.26
    radius: float = 0.3
    tolerance: float = 0.5

    def __post_init__(self) -> None:
        for name in ("speed", "radius", "tolerance"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be above 0, got {getattr(self, name)}")
        if not 0 <= self.speed_deviation < self.speed / 2:
            raise ValueError(f"speed_deviation must be in [0, speed / 2), got {self.speed_deviation}")

    def draw_speed(self, stream: Stream) -> float:
        """One preferred speed, m/s."""
        while True:
            offset = float(stream.normal())
            if abs(offset) <= 2.0:
                return self.speed + offset * self.speed_deviation


@dataclass(frozen=True, eq=False)
class Person:
    """One simulated pedestrian while a task is put together.

    Attributes:
        position: (2,) m. waypoints: (K, 2) m. speed: m/s. radius: m.
        mode: 0 loop, 1 random order, 2 stay at the last. group: -1 for none.
        tolerance: distance at which a waypoint counts as reached, m; the crowd's where None.
        heading: rad; towards the first waypoint where None.
        model: number of the crowd model among the stage's.
        type, reaction, state: of `agora.core.state.TYPES`, ``REACTIONS`` and ``SOCIAL_STATES``.
        waits: s, how long it stands before it sets out for each waypoint; none where fewer are given. company: distance at which it
            stays with the nearest robot, m, and from when until when, s; 0 for nobody who does. Both need the behaviour ``cues``.
    """

    position: Doubles
    waypoints: Doubles
    speed: float
    radius: float
    mode: int = 0
    group: int = -1
    tolerance: float | None = None
    heading: float | None = None
    model: int = 0
    type: str = "adult"
    reaction: str = "regular"
    state: str = "walking"
    waits: tuple[float, ...] = ()
    company: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def facing(self) -> float:
        """Heading at the start, rad."""
        if self.heading is not None:
            return self.heading
        ahead = self.waypoints[0] - self.position
        return float(np.arctan2(ahead[1], ahead[0]))
