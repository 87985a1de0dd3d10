"""The surroundings of an episode: the map with its people, furniture and zones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from agora.core.state import Doubles
from agora.draft.people import Person
from agora.draft.scenario import Scenario
from agora.maps.furniture import Furniture
from agora.maps.grid import Map
from agora.maps.zones import Zone
from agora.world.trajectories import Trajectories
from agora.yaml_tree import location_of

__all__ = ["Surroundings"]


@dataclass(frozen=True, eq=False)
class Surroundings:
    """The surroundings of one episode.

    Attributes:
        map: static surroundings.
        scenario: robot tasks and pedestrians defined by the world, for the ``scenario`` task modes.
        scenario_file: file of the scenario.
        replay: recorded pedestrians, for the ``replay`` obstacles mode.
        replay_radius: radius of the recorded pedestrians, m.
        timeout: time limit, s, if the world sets one.
        people: pedestrians defined by the world in addition to the scenario's, for the ``scenario`` obstacles mode.
        furniture: pieces of furniture; their cells are already occupied in the map.
        zones: parts of the map by category.
        folder: folder of the world, from which modes read their files; None if the world has no folder.
        reference_path: length of the path that was published with the world, m; the world's score compares robots' paths with it.
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
        """Return the polygons (V, 2) of the zones with one of the categories; "*" selects all zones."""
        wanted = set(categories)
        return [area for zone in self.zones if "*" in wanted or wanted & set(zone.category) for area in zone.polygons]

    def named(self, *keys: str | int) -> str:
        """Return the start of a message about a value in the scenario: file, line and key if the scenario was read from a file."""
        if self.scenario_file is not None:
            return location_of(self.scenario_file, *keys)
        return f"scenario of {self.map.name!r}: " + ".".join(map(str, keys))
