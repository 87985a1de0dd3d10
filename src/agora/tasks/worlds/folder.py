"""Worlds stored as folders, with the layout of Arena 3.0.

A folder contains ``map/map.yaml`` (map_server) or ``map/shapes.yaml`` and, optionally, ``map/zones.yaml``, ``map/furniture.json``
and ``scenarios/*.json``.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from agora.draft.scenario import read_scenario, scenario_in
from agora.draft.surroundings import Surroundings
from agora.errors import InputError, UnknownNameError, nearest
from agora.maps.place import Place, changed, read_place
from agora.seeds import Stream
from agora.share import data_home, folder
from agora.tasks.obstacles.scenario import needs_of


def world_names() -> list[str]:
    """Return the names of the worlds that come with Agora."""
    return sorted(p.name for p in (folder("scenarios") / "worlds").iterdir() if (p / "map").is_dir())


def imported_names() -> list[str]:
    """Return the names of the worlds in the data folder, in which `agora.datasets.arena` stores Arena's worlds."""
    worlds = data_home() / "worlds"
    return sorted(p.name for p in worlds.iterdir() if (p / "map").is_dir()) if worlds.is_dir() else []


def world_folder(name: str) -> Path:
    """Return the folder of a world, given as a path (with a slash), or as the name of an imported world or of a world that comes
    with Agora.

    Imported worlds take precedence, so that scenarios and suites that were imported together with a world use that world.

    Raises:
        InputError: there is no such world.
    """
    if "/" in name:
        if not Path(name).is_dir():
            raise InputError(_no_folder(name))
        return Path(name)
    if name in imported_names():
        return data_home() / "worlds" / name
    if name in world_names():
        return folder("scenarios") / "worlds" / name
    if Path(name).exists():
        raise InputError(f"{name}: has no slash, so it is the name of a world; for a path, write ./{name}")
    wrong = str(UnknownNameError("world", name, {*imported_names(), *world_names()}))
    raise InputError(f"{wrong}{'' if wrong.endswith(('.', '?')) else '.'} Import Arena worlds with: agora import arena FOLDER")


def _no_folder(name: str) -> str:
    """Return the reason why a path is not a world folder."""
    path = Path(name)
    expected = "expected the folder of a world, which contains map/map.yaml with its image, or map/shapes.yaml"
    if not path.exists():
        return f"there is no folder {name}"
    if path.suffix.lower() in (".yaml", ".yml"):
        there = f"put it and its image into a folder {path.stem}/map, as map.yaml, and name the folder"
        return f"{name}: is a file, not a folder; {expected}; for a map of map_server, {there}"
    if path.suffix.lower() == ".xml":
        return f"{name}: is a file, not a folder; {expected}; convert a scenario of pedsim_ros with: agora import pedsim"
    return f"{name}: is a file, not a folder; {expected}"


@lru_cache(maxsize=64)
def _read(place: Path, changed: int) -> Place:
    return read_place(place)


@lru_cache(maxsize=64)
def _needs(file: Path, changed: int) -> tuple[str, ...]:
    return needs_of(read_scenario(file))


@dataclass(frozen=True)
class Folder:
    """A world folder, and its scenarios if the stage names some.

    Attributes:
        path: name of a world (`agora map list`), or path of a folder, which must contain a slash: "./mine". Imported worlds take
            precedence over worlds that come with Agora.
        scenarios: names of files in ``scenarios/`` without ``.json``, or paths of files, which must contain a slash. Each episode
            uses the next scenario.
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
            if "/" in name and not Path(name).is_file():
                raise ValueError(f"scenarios: there is no file {name}")
            if "/" not in name and name not in there:
                raise ValueError(f"scenarios: no scenario of {place.name} called {name!r}; {nearest(name, there)}")

    @property
    def needs(self) -> tuple[str, ...]:
        """The behaviours required by the people in the scenarios; errors in a scenario file are reported when the file is run."""
        found: dict[str, None] = {}
        for file in map(self._file, self.scenarios):
            with suppress(InputError):
                found |= dict.fromkeys(_needs(file, file.stat().st_mtime_ns))
        return tuple(found)

    def _file(self, name: str) -> Path:
        """Return the file of a scenario."""
        return Path(name) if "/" in name else world_folder(self.path) / "scenarios" / f"{name}.json"

    def names(self) -> list[str]:
        """Return the names of the scenarios, or the name of the world if there are no scenarios."""
        return list(self.scenarios) or [Path(self.path).name]

    def files(self) -> list[Path]:
        """Return the world's map and zones, the scenarios that are used, and the user's furniture models.

        Other contents of the folder, such as the results of a run, are not included.

        Raises:
            InputError: there is no such world.
        """
        place = world_folder(self.path)
        return [place / "map", place / "zones", *map(self._file, self.scenarios), data_home() / "obstacles"]

    def world(self, name: str, stream: Stream) -> Surroundings:
        """Read the world, with the scenario ``name``.

        Raises:
            InputError: a file is missing or invalid.
        """
        place = world_folder(self.path)
        read = _read(place, changed(place))
        task, file = None, None
        if name in self.scenarios:
            file = self._file(name)
            task = scenario_in(read.map, file)
        return Surroundings(read.map, task, scenario_file=file, furniture=read.furniture, zones=read.zones, folder=place)
