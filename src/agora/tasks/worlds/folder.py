"""Worlds that are folders, as Arena 3.0 lays them out.

``map/map.yaml`` (map_server) or ``map/shapes.yaml``, and ``scenarios/*.json``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from agora.errors import InputError, UnknownNameError, nearest
from agora.maps.grid import Map
from agora.maps.io import read_map, read_shapes
from agora.maps.zones import Zone, read_zones
from agora.seeds import Stream
from agora.share import folder
from agora.tasks.scenario import read_scenario
from agora.tasks.world import World


def world_names() -> list[str]:
    """Names of the worlds that come with Agora."""
    return sorted(p.name for p in (folder("scenarios") / "worlds").iterdir() if (p / "map").is_dir())


def world_folder(name: str) -> Path:
    """The folder of a world: of a path, which has a slash, or of one that comes with Agora.

    Raises:
        InputError: no such world.
    """
    if "/" in name:
        if not Path(name).is_dir():
            raise InputError(f"there is no folder {name}")
        return Path(name)
    if name not in world_names():
        raise UnknownNameError("world", name, world_names())
    return folder("scenarios") / "worlds" / name


@lru_cache(maxsize=64)
def _read(place: Path) -> Map:
    for file, read in (("map.yaml", read_map), ("shapes.yaml", read_shapes)):
        if (place / "map" / file).is_file():
            return read(place / "map" / file)
    raise InputError(f"{place}: a world has map/map.yaml or map/shapes.yaml; neither is there")


@lru_cache(maxsize=64)
def _zones(place: Path) -> tuple[Zone, ...]:
    file = place / "map" / "zones.yaml"
    return read_zones(file) if file.is_file() else ()


@dataclass(frozen=True)
class Folder:
    """A world folder, and its scenarios where the stage names some.

    Attributes:
        path: a name of a world that comes with Agora, or a folder, with a slash: "./mine".
        scenarios: names of files in ``scenarios/`` without ``.json``; one after the other, a scenario an episode.
    """

    path: str
    scenarios: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        try:
            place = world_folder(self.path)
        except InputError as error:
            raise ValueError(f"path: {error}") from error
        there = {file.stem for file in (place / "scenarios").glob("*.json")}
        for name in self.scenarios:
            if name not in there:
                raise ValueError(f"scenarios: no scenario of {place.name} called {name!r}; {nearest(name, there)}")

    def names(self) -> list[str]:
        """The scenarios, or the world alone."""
        return list(self.scenarios) or [Path(self.path).name]

    def world(self, name: str, stream: Stream) -> World:
        """Read the world, with the scenario ``name``.

        Raises:
            InputError: a file is missing or wrong.
        """
        place = world_folder(self.path)
        if name not in self.scenarios:
            return World(_read(place), zones=_zones(place), folder=place)
        file = place / "scenarios" / f"{name}.json"
        return World(_read(place), read_scenario(file), scenario_file=file, zones=_zones(place), folder=place)
