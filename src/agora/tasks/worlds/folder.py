"""Worlds that are folders, as Arena 3.0 lays them out.

``map/map.yaml`` (map_server) or ``map/shapes.yaml``, and ``scenarios/*.json``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from agora.errors import InputError, UnknownNameError
from agora.maps.grid import Map
from agora.maps.io import read_map, read_shapes
from agora.seeds import Stream
from agora.share import folder
from agora.tasks.scenario import read_scenario
from agora.tasks.world import World


def world_names() -> list[str]:
    """Names of the worlds that come with Agora."""
    return sorted(p.name for p in (folder("scenarios") / "worlds").iterdir() if (p / "map").is_dir())


def world_folder(name: str) -> Path:
    """The folder of a world: of a path, or of one that comes with Agora.

    Raises:
        UnknownNameError: no such world.
    """
    if "/" in name or Path(name).is_dir():
        return Path(name)
    place = folder("scenarios") / "worlds" / name
    if not place.is_dir():
        raise UnknownNameError("world", name, world_names())
    return place


@lru_cache(maxsize=64)
def _read(place: Path) -> Map:
    for file, read in (("map.yaml", read_map), ("shapes.yaml", read_shapes)):
        if (place / "map" / file).is_file():
            return read(place / "map" / file)
    raise InputError(f"{place}: a world has map/map.yaml or map/shapes.yaml; neither is there")


@dataclass(frozen=True)
class Folder:
    """A world folder, and its scenarios where the stage names some.

    Attributes:
        path: a name of a world that comes with Agora, or a folder.
        scenarios: names of files in ``scenarios/`` without ``.json``; one after the other, a scenario an episode.
    """

    path: str
    scenarios: tuple[str, ...] = ()

    def names(self) -> list[str]:
        """The scenarios, or the world alone."""
        return list(self.scenarios) or [Path(self.path).name]

    def world(self, name: str, stream: Stream) -> World:
        """Read the world, with the scenario ``name``.

        Raises:
            InputError: a file is missing or wrong; the message names the nearest scenario.
        """
        place = world_folder(self.path)
        scenario = None
        if name in self.scenarios:
            files = {p.stem: p for p in (place / "scenarios").glob("*.json")}
            if name not in files:
                raise UnknownNameError(f"scenario of {place}", name, files)
            scenario = read_scenario(files[name])
        return World(_read(place), scenario)
