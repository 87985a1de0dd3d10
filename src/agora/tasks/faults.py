"""Faults of a situation, found before anything is run: starts in walls, and goals out of reach."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from agora.core.state import Bools, Doubles
from agora.draft.people import People
from agora.draft.placement import component_of, outside_of
from agora.draft.task import Task
from agora.errors import InputError
from agora.interfaces import Situation
from agora.maps.grid import Map
from agora.seeds import Stream
from agora.tasks.obstacles.scenario import furnished, scenario_people
from agora.tasks.scenario_file import world_of

_NEAR = 2  # cells


class Fault(NamedTuple):
    """A fault of a situation.

    Attributes:
        text: the fault in words.
        x: its place, x, m.
        y: its place, y, m.
    """

    text: str
    x: float
    y: float


def task_of(situation: Situation, radius: float) -> Task:
    """A situation of the library put together for a robot of a radius, m, unchecked."""
    world = situation.world()
    people = list(situation.people)
    return Task(world, world.map, radius, 0.0, _stream(), People(), [(situation.start, situation.goal[None])], people)


def task_of_file(path: Path, radius: float) -> Task:
    """A scenario file put together for a robot of a radius, m, unchecked, in its world (`agora.tasks.scenario_file.world_of`).

    Raises:
        InputError: the file, or its world, cannot be read.
    """
    played = world_of(path).part
    world = played.world(played.names()[0], _stream())
    if world.scenario is None:
        raise InputError(f"{path}: holds no scenario")
    robots = [(np.array(r.start, np.float64), np.array([r.goal], np.float64)) for r in world.scenario.robots]
    people = [person for _, person in scenario_people(world, People(), _stream())]
    return Task(world, furnished(world, world.map), radius, 0.0, _stream(), People(), robots, people)


def faults(task: Task) -> list[Fault]:
    """Return all faults in the places of robots and pedestrians, in the order in which they are named."""
    found: list[Fault] = []
    outside = outside_of(task.map, tuple((float(x), float(y)) for start, ends in task.robots for x, y, _ in (start, *ends)))
    for number, (start, goals) in enumerate(task.robots):
        name = "the robot" if len(task.robots) == 1 else f"robot {number}"
        route = [("goal", goal) for goal in goals]
        found += _route(task.map, name, start, route, task.radius, outside)
    for number, person in enumerate(task.pedestrians):
        route = [(f"waypoint {k}", point) for k, point in enumerate(person.waypoints)]
        found += _route(task.map, f"pedestrian {number}", person.position, route, person.radius, outside)
    return found + _overlaps(task) + _walled_talks(task)


def _route(map: Map, who: str, start: Doubles, route: list[tuple[str, Doubles]], radius: float, outside: Bools) -> list[Fault]:
    """Return the faults of a start and of the points that a disc is to reach from it."""
    problem = _blocked(map, start, radius, outside)
    if problem:
        return [Fault(f"{who} starts at {map.place(start)}, {problem}", float(start[0]), float(start[1]))]
    found, home = [], part_of(map, start, radius)
    for what, point in route:
        problem = _blocked(map, point, 0.0, outside)
        if not problem and part_of(map, point, radius) != home:
            problem = f"where a disc of {radius:g} m cannot get from its start"
        if problem:
            found.append(Fault(f"{what} of {who} is at {map.place(point)}, {problem}", float(point[0]), float(point[1])))
    return found


def _blocked(map: Map, point: Doubles, radius: float, outside: Bools) -> str:
    if not bool(map.contains(point[:2])):
        return "off the map"
    gap = float(map.gap(point[None, :2], limit=radius + 1.0)[0])
    if gap <= 0.0:
        return "inside an obstacle"
    return beyond(map, point, outside) or (f"{gap:.2f} m from an obstacle, with a radius of {radius:g} m" if gap < radius else "")


def beyond(map: Map, point: Doubles, outside: Bools) -> str:
    """Return that a point on the map is outside its walls, or where it knows nothing, in words; empty where neither is so."""
    row, column = (int(v) for v in map.cell_of(point[:2]))
    if map.unknown is not None and map.unknown[row, column]:
        return "where the map knows nothing"
    return "outside the walls, in free space that reaches the edge of the map" if outside[row, column] else ""


def is_walled(map: Map, point: Doubles, other: Doubles) -> bool:
    """Return whether an obstacle lies between two points."""
    steps = max(int(np.hypot(*(other[:2] - point[:2])) / (0.5 * map.resolution)), 1)
    along = np.linspace(0.0, 1.0, steps + 1)[:, None]
    return bool((map.gap(point[:2] + along * (other[:2] - point[:2]), limit=map.resolution) <= 0.0).any())


def part_of(map: Map, point: Doubles, radius: float) -> int:
    """Number of the part of the map for a disc that a point belongs to, 0 for none: the nearest within two cells."""
    labels = component_of(map, radius)
    row, column = (int(v) for v in map.cell_of(point[:2]))
    rows, columns = np.mgrid[row - _NEAR : row + _NEAR + 1, column - _NEAR : column + _NEAR + 1].reshape(2, -1)
    on = (rows >= 0) & (rows < labels.shape[0]) & (columns >= 0) & (columns < labels.shape[1])
    rows, columns = rows[on], columns[on]
    away = np.hypot(*(map.centre_of(rows, columns) - point[:2]).T) + 1e3 * (labels[rows, columns] == 0)
    nearest = int(np.argmin(away))
    return int(labels[rows[nearest], columns[nearest]])


def _overlaps(task: Task) -> list[Fault]:
    """Return the starts that overlap another one."""
    discs = [(f"robot {n}", start[:2], task.radius) for n, (start, _) in enumerate(task.robots)]
    discs += [(f"pedestrian {n}", person.position, person.radius) for n, person in enumerate(task.pedestrians)]
    found = []
    for number, (name, place, radius) in enumerate(discs):
        for other, there, more in discs[:number]:
            if float(np.hypot(*(place - there))) < radius + more:
                found.append(Fault(f"{name} starts at {task.map.place(place)}, inside {other}", float(place[0]), float(place[1])))
    return found


def _walled_talks(task: Task) -> list[Fault]:
    """Return those who talk with somebody behind an obstacle."""
    found = []
    for number, person in enumerate(task.pedestrians):
        for k, other in enumerate(task.pedestrians[:number]):
            if person.talk >= 0 and person.talk == other.talk and is_walled(task.map, person.position, other.position):
                text = f"pedestrian {number} at {task.map.place(person.position)} talks with pedestrian {k} through an obstacle"
                found.append(Fault(text, float(person.position[0]), float(person.position[1])))
    return found


def _stream() -> Stream:
    return Stream("faults", 0, "task")
