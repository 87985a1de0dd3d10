"""Reads the roles that pedestrians and robots have in zones, from a world's ``zones/<name>.yaml`` files in Arena 3.0's format."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from agora.config import load
from agora.core.state import Doubles
from agora.draft.task import Task
from agora.errors import InputError, nearest, similar
from agora.seeds import Stream
from agora.tasks.population import MOST, pedestrian_type
from agora.yaml_tree import location_of

Number = int | tuple[int, int]
"""A number, or a minimum and a maximum."""


def _check_number(key: str, value: Number, least: int) -> None:
    low, high = (value, value) if isinstance(value, int) else value
    if not least <= low <= high <= MOST:
        raise ValueError(f"{key} must be a number or [min, max], in [{least}, {MOST}], got {value}")


def _check_zones(zones: str | tuple[str, ...]) -> None:
    if (isinstance(zones, str) and zones != "*") or not zones:
        raise ValueError(f"`waypoints in` must be a list of categories, or '*' for all zones, got {zones!r}")


@dataclass(frozen=True)
class PedestrianRole:
    """Pedestrians who have their waypoints in the same zones.

    Attributes:
        name: name of the role.
        zones: categories of zones, or "*" for every zone; the key is "waypoints in".
        waypoints: number of waypoints of each pedestrian, or minimum and maximum; the key is "number of waypoints".
        amount: number of pedestrians, or minimum and maximum.
        type: "adult", "child", "elder" or "wheelchair"; Arena's spelling, such as "human/adult", is also accepted.
        model: looks of the pedestrians.
    """

    name: str
    zones: str | tuple[str, ...] = field(default="*", metadata={"key": "waypoints in"})
    waypoints: Number = field(default=2, metadata={"key": "number of waypoints"})
    amount: Number = 1
    type: str = "adult"
    model: str = "actor1"

    def __post_init__(self) -> None:
        _check_zones(self.zones)
        _check_number("number of waypoints", self.waypoints, 1)
        _check_number("amount", self.amount, 0)
        try:
            pedestrian_type(self.type)
        except InputError as error:
            raise ValueError(str(error)) from error


@dataclass(frozen=True)
class RobotRole:
    """A robot that has its start and its goals in the same zones.

    Attributes:
        name: name of the role.
        zones: categories of zones, or "*" for every zone; the key is "waypoints in".
    """

    name: str
    zones: str | tuple[str, ...] = field(default="*", metadata={"key": "waypoints in"})

    def __post_init__(self) -> None:
        _check_zones(self.zones)


@dataclass(frozen=True)
class Roles:
    """The keys of the file.

    Attributes:
        pedestrians: roles of pedestrians.
        robots: roles of robots.
    """

    pedestrians: tuple[PedestrianRole, ...] = ()
    robots: tuple[RobotRole, ...] = ()


@lru_cache(maxsize=16)
def _read_once(path: Path, changed: int) -> Roles:
    return load(path, Roles)


def roles_of(task: Task, file: str) -> tuple[Roles, Path]:
    """Return the roles in a file, and the file's path. ``file`` is a name in the ``zones`` folder of the task's world, or a path,
    which must contain a slash.

    Raises:
        InputError: there is no such file, or it is invalid.
    """
    if "/" in file:
        path = Path(file)
    elif task.world.folder is None:
        raise InputError(f"mode 'zones': world {task.map.name!r} has no folder and so no zones/{file}.yaml; give a path")
    else:
        path = task.world.folder / "zones" / f"{file.removesuffix('.yaml')}.yaml"
    if not path.is_file():
        known = [other.stem for other in path.parent.glob("*.yaml")] if path.parent.is_dir() else []
        raise InputError(f"mode 'zones': there is no file {path}{similar(path.stem, known)}")
    return _read_once(path, path.stat().st_mtime_ns), path


def areas_of(task: Task, path: Path, kind: str, number: int, zones: str | Iterable[str]) -> list[Doubles]:
    """Return the polygons of a role's zones.

    Raises:
        InputError: the map has no zone of some category; the message names the file, the line, the key and the most similar
            category.
    """
    wanted = ["*"] if zones == "*" else list(zones)
    known = {category for zone in task.world.zones for category in zone.category}
    for category in wanted:
        if category != "*" and category not in known:
            where = location_of(path, kind, number, "waypoints in")
            raise InputError(f"{where}: no zone of category {category!r} in map {task.map.name!r}; {nearest(category, known)}")
    areas = task.world.areas(wanted)
    if not areas:
        raise InputError(f"{location_of(path, kind, number)}: map {task.map.name!r} has no zones")
    return areas


def draw(stream: Stream, number: Number) -> int:
    """Return ``number``; if it is a (minimum, maximum) pair, draw a number from that range."""
    return number if isinstance(number, int) else stream.integer(*number)
