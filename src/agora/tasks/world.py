"""A world: static surroundings, and what comes with them; and where worlds come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from agora.core.state import REACTIONS, TYPES, Doubles
from agora.documents import located
from agora.errors import PlacementError, nearest
from agora.maps.furniture import Furniture
from agora.maps.grid import Map
from agora.maps.zones import Zone
from agora.seeds import Stream
from agora.tasks.start import Habits

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
        furniture: what stands in the map, whose cells it occupies; zones: parts of the map by category.
    """

    map: Map
    scenario: Scenario | None = None
    replay: Trajectories | None = None
    replay_radius: float = 0.3
    timeout: float | None = None
    scenario_file: Path | None = None
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
        furniture: what obstacles modes have added, for pedestrians who use it.
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
    furniture: list[Furniture] = field(default_factory=list)

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
        types, reactions: shares of `agora.core.state.TYPES` and ``REACTIONS`` among pedestrians at random places.
    """

    speed: float = 1.34
    speed_deviation: float = 0.26
    radius: float = 0.3
    tolerance: float = 0.5
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
        model: number of the crowd model among the stage's.
        type, reaction, state: of `agora.core.state.TYPES`, ``REACTIONS`` and ``SOCIAL_STATES``.
        habits: what a scenario says of its social states.
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
    habits: Habits = field(default_factory=Habits)

    def facing(self) -> float:
        """Heading at the start, rad."""
        if self.heading is not None:
            return self.heading
        ahead = self.waypoints[0] - self.position
        return float(np.arctan2(ahead[1], ahead[0]))
