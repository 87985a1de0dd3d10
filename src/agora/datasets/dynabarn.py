"""DynaBARN: moving cylinders that cross an arena repeatedly and do not react to the robot.

A. Nair, F. Jiang, K. Hou, Z. Xu, S. Li, X. Xiao, P. Stone, "DynaBARN: benchmarking metric ground navigation in dynamic
environments", SSRR 2022. There are 90 worlds, which are easy, medium or hard: ``challenge_NN`` from the BARN challenge and
``demo_NN`` from the paper's demonstrations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from agora.config import load
from agora.core.state import Doubles
from agora.datasets.catalogue import data_folder
from agora.datasets.tables import once_per_file
from agora.errors import InputError, UnknownNameError
from agora.maps.grid import Map
from agora.world.trajectories import Trajectories

Difficulty = Literal["easy", "medium", "hard"]

_THICKNESS = 0.5
_STARTS = {"challenge": 11.0, "demo": 12.0}
_GOAL_X = -9.0
START, GOAL = (_STARTS["challenge"], 0.0, math.pi), (_GOAL_X, 0.0, math.pi)
"""The robot's start and goal poses in the worlds of the BARN challenge."""

_SAMPLES_PER_SEGMENT = 16


@dataclass(frozen=True)
class _Trajectory:
    length_s: float
    waypoints: tuple[tuple[float, float, float], ...]

    def __post_init__(self) -> None:
        times = [waypoint[0] for waypoint in self.waypoints]
        if len(times) < 2 or times[0] != 0.0 or any(b <= a for a, b in zip(times, times[1:], strict=False)):
            raise ValueError("waypoints must be at least two, at times that start at 0 and increase")
        if times[-1] > self.length_s:
            raise ValueError(f"length_s must not be less than the time of the last waypoint, {times[-1]} s")


@dataclass(frozen=True)
class _WorldFile:
    difficulty: Difficulty
    obstacles: tuple[str, ...]
    composition: str | None = None


@dataclass(frozen=True)
class _File:
    """The contents of ``worlds.json``."""

    obstacle_radius_m: float
    arena: tuple[float, float, float, float]
    worlds: dict[str, _WorldFile]
    trajectories: dict[str, _Trajectory]
    waypoint_format: str = ""
    loop: Literal[True] = True
    about: str = field(default="")


@dataclass(frozen=True, eq=False)
class DynabarnWorld:
    """A DynaBARN world; poses are x, y, heading, in m and rad.

    Attributes:
        name: name of the world.
        difficulty: difficulty of the world.
        map: map of the arena's walls; the arena is open on the side of the start.
        start: start pose of the robot.
        goal: goal pose of the robot.
        obstacles: trajectories and periods of the cylinders; ids start at 0 and follow the order in the world's file.
        radius: radius of the cylinders, m.
    """

    name: str
    difficulty: Difficulty
    map: Map
    start: tuple[float, float, float]
    goal: tuple[float, float, float]
    obstacles: Trajectories
    radius: float


def world_names(folder: Path | None = None, *, difficulty: Difficulty | None = None) -> list[str]:
    """Return the names of the worlds, sorted. If ``difficulty`` is given, return only the worlds with this difficulty.

    Raises:
        InputError: the data set is missing, or ``worlds.json`` is invalid.
    """
    worlds = _file(_root(folder) / "worlds.json").worlds
    return sorted(name for name, world in worlds.items() if difficulty in (None, world.difficulty))


def read_world(
    name: str,
    folder: Path | None = None,
    *,
    phases: ArrayLike | None = None,
    motion: Literal["lines", "spline"] = "lines",
) -> DynabarnWorld:
    """Read a world.

    Args:
        name: one of `world_names`.
        folder: folder of the data set; None for its place in the data folder.
        phases: (n,) phase of each obstacle at time 0, as a fraction in [0, 1) of its period; if None, all obstacles start at their
            first waypoint, as in the data.
        motion: ``lines`` for straight lines at constant speed between waypoints, as in the paper; ``spline`` for a uniform
            Catmull-Rom spline through the waypoints that starts and ends at rest, similar to Gazebo (approximated by 16 lines per
            segment).

    Raises:
        UnknownNameError: the world is unknown.
        InputError: the data set is missing, a file is invalid, or the number of phases is wrong.
    """
    root = _root(folder)
    file = _file(root / "worlds.json")
    if name not in file.worlds:
        raise UnknownNameError("DynaBARN world", name, file.worlds)
    world = file.worlds[name]
    for obstacle in world.obstacles:
        if obstacle not in file.trajectories:
            raise InputError(f"{root / 'worlds.json'}: world {name!r} names the trajectory {obstacle!r}, which is not in the file")
    count = len(world.obstacles)
    ahead = np.zeros(count) if phases is None else np.asarray(phases, np.float64)
    if ahead.shape != (count,) or not ((ahead >= 0) & (ahead < 1)).all():
        raise InputError(f"world {name!r}: expected {count} phases in [0, 1), got {ahead.tolist()}")
    tables = [np.array(file.trajectories[obstacle].waypoints) for obstacle in world.obstacles]
    knots = [_spline(table) if motion == "spline" else table for table in tables]
    period = np.array([file.trajectories[obstacle].length_s for obstacle in world.obstacles])
    times = [table[:, 0] - share * length for table, share, length in zip(knots, ahead, period, strict=True)]
    flat = np.concatenate(knots) if knots else np.zeros((0, 3))
    family = name.partition("_")[0]
    return DynabarnWorld(
        name=name,
        difficulty=world.difficulty,
        map=arena_map(name, file.arena),
        start=(_STARTS.get(family, _STARTS["challenge"]), 0.0, math.pi),
        goal=GOAL,
        obstacles=Trajectories(
            knot_time=np.concatenate([*times, np.zeros(0)]),
            knot_x=flat[:, 1],
            knot_y=flat[:, 2],
            first=np.cumsum([0, *(len(table) for table in knots)]).astype(np.int32),
            id=np.arange(count, dtype=np.int32),
            period=period,
        ),
        radius=file.obstacle_radius_m,
    )


def _spline(table: Doubles) -> Doubles:
    """Return knots (t, x, y), s and m, on the uniform Catmull-Rom spline through waypoints (t, x, y)."""
    tangent = np.gradient(table[:, 1:], axis=0)
    tangent[[0, -1]] = 0.0
    u = np.arange(_SAMPLES_PER_SEGMENT)[:, None] / _SAMPLES_PER_SEGMENT
    begin, end, leave, arrive = table[:-1, None, 1:], table[1:, None, 1:], tangent[:-1, None], tangent[1:, None]
    place = (2 * u**3 - 3 * u**2 + 1) * begin + (u**3 - 2 * u**2 + u) * leave + (3 * u**2 - 2 * u**3) * end + (u**3 - u**2) * arrive
    time = table[:-1, None, :1] + u * np.diff(table[:, :1], axis=0)[:, None]
    return np.concatenate((np.concatenate((time, place), -1).reshape(-1, 3), table[-1:]))


def arena_map(name: str, arena: tuple[float, float, float, float] = (-10.0, 10.0, -10.0, 10.0)) -> Map:
    """Return a map with walls half a metre thick on three sides of the arena; the fourth side leaves room for the start.

    Args:
        name: name of the map.
        arena: minimum x, maximum x, minimum y and maximum y, m.
    """
    x0, x1, y0, y1 = arena
    h = _THICKNESS / 2
    boxes = [(x0 - h, y0 - h, x0 + h, y1 + h), (x0 + h, y1 - h, x1, y1 + h), (x0 + h, y0 - h, x1, y0 + h)]
    polygons = [np.array([[a, b], [c, b], [c, d], [a, d]]) for a, b, c, d in boxes]
    bounds = (x0 - 1.0, y0 - 1.0, max(x1, *_STARTS.values()) + 3.0, y1 + 1.0)
    return Map.from_shapes(polygons=polygons, bounds=bounds, name=name)


@once_per_file
def _file(path: Path) -> _File:
    return load(path, _File)


def _root(folder: Path | None) -> Path:
    return data_folder("dynabarn") if folder is None else folder


def check(folder: Path) -> None:
    """Check a folder by reading every world.

    Raises:
        InputError: the file is invalid.
    """
    for name in _file(folder / "worlds.json").worlds:
        read_world(name, folder)
