"""Reads folders written by Arena 3.0's recorder (``odom.csv``, ``start_goal.csv``, ...) into recordings.

Arena writes times as seconds x 10^10 + nanoseconds. Differences between these numbers are meaningless, so this module separates
seconds and nanoseconds. Samples should be 0.4 s apart, but the time stamps are uneven, and metrics of changes (acceleration, jerk)
depend on the sampling rate. Numbers were rounded to three digits. Contacts, outcomes and time limits were not recorded: an episode
whose last sample is at the goal counts as reached, any other episode as a timeout. Velocities of pedestrians are computed from
their positions. The heading of a pedestrian is taken from Arena, which records the direction of the force on the pedestrian.
"""

from __future__ import annotations

import ast
import bisect
import csv
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from agora.config import load
from agora.core.state import Array
from agora.datasets.drive import drive
from agora.datasets.played import PlayedEpisode
from agora.errors import InputError
from agora.maps.grid import Map
from agora.maps.place import read_place
from agora.robots.model import RobotModel, load_robot, robot_names
from agora.tasks.worlds.folder import world_folder
from agora.yaml_tree import read_text

_SECOND = 10**10  # factor by which Arena multiplies seconds
_RADIUS = 0.3  # radius of a pedestrian, m; Arena's recorder does not write the radius


def read_folder(folder: Path, robot: RobotModel | None = None) -> list[PlayedEpisode]:
    """Return those episodes of a folder that have at least two samples.

    Args:
        folder: folder with ``odom.csv``, ``episode.csv`` and, if they exist, ``start_goal.csv``, ``pedsim_agents_data.csv`` and
            ``params.yaml``.
        robot: model of the robot, which overrides the model in ``params.yaml``.

    Raises:
        InputError: a file is missing, or a line is invalid.
    """
    odometry = _rows(folder / "odom.csv", ("time", "data"))
    marks = [(_time(r["time"], at), _whole(r["episode"], at)) for at, r in _rows(folder / "episode.csv", ("time", "episode"))]
    since = [moment for moment, _ in marks]
    goals = _goals(folder / "start_goal.csv")
    people = _people(folder / "pedsim_agents_data.csv")
    params: dict[str, Any] = load(folder / "params.yaml", dict) if (folder / "params.yaml").is_file() else {}
    model = robot or _robot(params)
    place, notes = _place(params)
    samples: dict[int, list[tuple[float, list[float]]]] = {}
    for where, row in odometry:
        moment = _time(row["time"], where)
        mark = bisect.bisect_right(since, moment) - 1
        if mark < 0:
            raise InputError(f"{where}: is earlier than the first line of episode.csv")
        samples.setdefault(marks[mark][1], []).append((moment, _odometry(row["data"], where)))
    played = []
    for number, rows in sorted(samples.items()):
        if len(rows) < 2:
            continue
        time, values = np.array([t for t, _ in rows]), np.array([v for _, v in rows])
        if (np.diff(time) <= 0).any():
            raise InputError(f"{folder / 'odom.csv'}: the times of episode {number} do not increase")
        known = {} if people is None else _crowd([people.get(float(t), []) for t in time], time)
        made = drive(model, time - time[0], values[:, :3], values[:, 3:], goals.get(number), place, **known)
        name = re.sub(r"[^\w.-]+", "_", str(params.get("namespace") or folder.name)).strip("_") or "arena"
        robots = (replace(made, planner=_planner(params)),)
        played.append(PlayedEpisode(folder, "arena", name, number, 0, robots, notes=tuple(notes)))
    return played


def _rows(path: Path, columns: tuple[str, ...]) -> list[tuple[str, dict[str, str]]]:
    """Return the lines of a file with their locations, without the empty entries that Arena writes until the first message
    arrives.
    """
    csv.field_size_limit(1 << 27)
    reader = csv.reader(read_text(path).splitlines())
    if tuple(next(reader, [])) != columns:
        raise InputError(f"{path}:1: expected the header {','.join(columns)!r}")
    rows = []
    for values in reader:
        where = f"{path}:{reader.line_num}"
        if len(values) != len(columns):
            raise InputError(f"{where}: expected {len(columns)} columns, got {len(values)}")
        row = dict(zip(columns, values, strict=True))
        if row.get("data") != "":
            rows.append((where, row))
    return rows


def _time(text: str, where: str) -> float:
    """Return a time in Arena's format, s."""
    try:
        value = float(text)
    except ValueError as error:
        raise InputError(f"{where}: time: expected a number, got {text[:40]!r}") from error
    if not 0 <= value < 1e20:
        raise InputError(f"{where}: time: expected seconds x 10^10 + nanoseconds, got {text[:40]!r}")
    seconds, nanoseconds = divmod(int(value), _SECOND)
    if nanoseconds >= 1_000_000_000:
        raise InputError(f"{where}: time: expected seconds x 10^10 + nanoseconds below 10^9, got {text[:40]!r}")
    return seconds + nanoseconds * 1e-9


def _whole(text: str, where: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise InputError(f"{where}: episode: expected an integer, got {text[:40]!r}") from error


def _literal(text: str, where: str) -> Any:
    """Parse a value in Python notation."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise InputError(f"{where}: data: cannot be read: {text[:60]!r}") from error


def _floats(value: Any, count: int, where: str, what: str) -> list[float]:
    fine = isinstance(value, list | tuple) and len(value) >= count
    if not fine or not all(isinstance(v, int | float) and math.isfinite(v) for v in value[:count]):
        raise InputError(f"{where}: {what}: expected {count} finite numbers, got {str(value)[:60]!r}")
    return [float(v) for v in value[:count]]


def _odometry(text: str, where: str) -> list[float]:
    """Return x, y, heading, vx, vy and omega from an entry of ``odom.csv``."""
    data = _literal(text, where)
    if not isinstance(data, dict) or not {"position", "velocity"} <= set(data):
        raise InputError(f"{where}: data: expected position and velocity, got {text[:60]!r}")
    return [*_floats(data["position"], 3, where, "position"), *_floats(data["velocity"], 3, where, "velocity")]


def _goals(path: Path) -> dict[int, Array]:
    """Return the goal (3,) of each episode, by number of the episode."""
    if not path.is_file():
        return {}
    goals = {}
    for where, row in _rows(path, ("episode", "start", "goal")):
        goal = _literal(row["goal"], where)
        if goal:
            goals[_whole(row["episode"], where)] = np.array([*_floats(goal, 2, where, "goal"), 0.0])
    return goals


def _people(path: Path) -> dict[float, list[dict[str, Any]]] | None:
    """Return the pedestrians at each time, s; None if pedestrians were not recorded."""
    if not path.is_file():
        return None
    people = {}
    for where, row in _rows(path, ("time", "data")):
        data = _literal(row["data"], where)
        if not isinstance(data, list) or not all(isinstance(p, dict) and {"id", "position", "theta"} <= set(p) for p in data):
            raise InputError(f"{where}: data: expected a list of pedestrians with id, position and theta, got {row['data'][:60]!r}")
        people[_time(row["time"], where)] = [
            p | {"position": _floats(p["position"], 2, where, "position"), "theta": _floats([p["theta"]], 1, where, "theta")[0]}
            for p in data
        ]
    return people


def _crowd(seen: list[list[dict[str, Any]]], time: Array) -> dict[str, Any]:
    """Return a recording's pedestrian fields."""
    names = sorted({str(p["id"]) for people in seen for p in people})
    shape = (len(seen), len(names))
    place, heading, present = np.zeros((*shape, 2)), np.zeros(shape), np.zeros(shape, np.bool_)
    for k, people in enumerate(seen):
        for p in people:
            i = names.index(str(p["id"]))
            place[k, i], heading[k, i], present[k, i] = p["position"], p["theta"], True
    velocity = np.gradient(place, time, axis=0) if len(time) > 1 and names else np.zeros_like(place)
    known = present & np.roll(present, 1, 0) & np.roll(present, -1, 0)
    return {
        "pedestrian_position": place,
        "pedestrian_velocity": np.where(known[..., None], velocity, 0.0),
        "pedestrian_heading": heading,
        "pedestrian_present": present,
        "pedestrian_radius": np.full(len(names), _RADIUS),
        "pedestrian_id": np.arange(1, len(names) + 1, dtype=np.int32),
        "pedestrian_group": np.full(shape, -1, np.int32),
    }


def _robot(params: dict[str, Any]) -> RobotModel | None:
    name = str(params.get("model", ""))
    return load_robot(name) if name in robot_names() else None


def _planner(params: dict[str, Any]) -> str:
    parts: Iterator[str] = (str(params.get(name) or "") for name in ("local_planner", "inter_planner"))
    return "+".join(p for p in parts if p and p != "bypass").replace("/", "_") or "unknown"


def _place(params: dict[str, Any]) -> tuple[Map | None, list[str]]:
    """Return the map of the world (None if Agora does not have this world), and notes."""
    notes = ["Arena's recorder does not record contacts, outcomes or time limits; metrics about contacts are missing"]
    name = str(params.get("map_file", ""))
    try:
        return read_place(world_folder(name)).map, notes
    except InputError:
        return None, [
            *notes,
            f"the world {name!r} is not installed: metrics about walls are missing; import it with agora import arena",
        ]
