"""Finds faults in a situation before it is run, such as starts in walls and unreachable goals."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from agora.core.state import Bools, Doubles
from agora.draft.people import People, Person
from agora.draft.placement import component_of, outside_of, room_at_border
from agora.draft.surroundings import Surroundings
from agora.draft.task import Task
from agora.errors import InputError
from agora.interfaces import Situation
from agora.maps.grid import Map
from agora.seeds import Stream
from agora.tasks.obstacles.scenario import furnished, scenario_people
from agora.tasks.scenario_file import world_of

_NEAR = 2  # cells


class Fault(NamedTuple):
    """A fault in a situation.

    Attributes:
        text: description of the fault.
        x: x coordinate of the fault, m.
        y: y coordinate of the fault, m.
        of: "robot" or "pedestrian", and the number of this robot or pedestrian in the task; the number is -1 if the fault belongs
            to neither.
        key: key of the robot's pose in the robot's entry in a scenario file, "start" or "goal"; empty for all other faults.
    """

    text: str
    x: float
    y: float
    of: tuple[str, int] = ("", -1)
    key: str = ""


def task_of(situation: Situation, radius: float) -> Task:
    """Create the task of a situation from the library, without checks, for a robot with the given radius, m."""
    world = situation.world()
    people = list(situation.people)
    return Task(world, world.map, radius, 0.0, _stream(), People(), [(situation.start, situation.goal[None])], people)


def task_of_file(path: Path, radius: float) -> Task:
    """Create the task of a scenario file in the file's world (`agora.tasks.scenario_file.world_of`), without checks, for a robot
    with the given radius, m.

    Raises:
        InputError: the file, or its world, cannot be read.
    """
    played = world_of(path).part
    world = played.world(played.names()[0], _stream())
    if world.scenario is None:
        raise InputError(f"{path}: contains no scenario")
    return task_in(world, radius)


def task_in(world: Surroundings, radius: float) -> Task:
    """Create the task of a world's scenario, without checks, for a robot with the given radius, m. If the world has no scenario,
    the task has no robots and no pedestrians.

    Raises:
        InputError: a model or type is unknown, or people cannot talk with each other.
    """
    robots = () if world.scenario is None else world.scenario.robots
    ways = [(np.array(r.start, np.float64), np.array([r.goal], np.float64)) for r in robots]
    people = [person for _, person in scenario_people(world, People(), _stream())]
    return Task(world, furnished(world, world.map), radius, 0.0, _stream(), People(), ways, people)


def faults(task: Task) -> list[Fault]:
    """Return all faults in the positions of robots and pedestrians, in the order in which the robots and pedestrians are listed."""
    found: list[Fault] = []
    outside = outside_of(task.map, tuple((float(x), float(y)) for start, ends in task.robots for x, y, _ in (start, *ends)))
    for number, (start, goals) in enumerate(task.robots):
        name = "the robot" if len(task.robots) == 1 else f"robot {number}"
        route = [("goal", goal) for goal in goals]
        wrong = _route(task.map, name, start, route, task.radius, outside, inside=True)
        found += [fault._replace(of=("robot", number)) for fault in wrong]
    for number, person in enumerate(task.pedestrians):
        route = [(f"waypoint {k}", point) for k, point in enumerate(person.waypoints)]
        wrong = _route(task.map, _called(person, number), person.position, route, person.radius, outside)
        found += [fault._replace(of=("pedestrian", number)) for fault in wrong]
    return found + _overlaps(task) + _walled_talks(task)


def _route(
    map: Map, who: str, start: Doubles, route: list[tuple[str, Doubles]], radius: float, outside: Bools, *, inside: bool = False
) -> list[Fault]:
    """Return the faults of a start, and of the points that a disc has to reach from the start; with ``inside``, the disc must stay
    on the map, as robots must.
    """
    problem = _blocked(map, start, radius, outside) or (beside(map, start, radius, start=True) if inside else "")
    if problem:
        return [Fault(f"{who} starts at {map.place(start)}, {problem}", float(start[0]), float(start[1]), key="start")]
    found, home = [], part_of(map, start, radius, inside=inside)
    for what, point in route:
        problem = _blocked(map, point, 0.0, outside) or (beside(map, point, radius) if inside else "")
        if not problem and part_of(map, point, radius, inside=inside) != home:
            problem = f"which a disc of radius {radius:g} m cannot reach from its start"
        if problem:
            found.append(Fault(f"{what} of {who} is at {map.place(point)}, {problem}", float(point[0]), float(point[1]), key=what))
    return found


def _blocked(map: Map, point: Doubles, radius: float, outside: Bools) -> str:
    if not bool(map.contains(point[:2])):
        return "off the map"
    gap = float(map.gap(point[None, :2], limit=radius + 1.0)[0])
    if gap <= 0.0:
        return "inside an obstacle"
    return beyond(map, point, outside) or (f"{gap:.2f} m from an obstacle, with a radius of {radius:g} m" if gap < radius else "")


def beside(map: Map, place: Doubles, radius: float, *, start: bool = False) -> str:
    """Return a message saying that a robot's position is too close to the border of the map, or an empty string if it is not.

    Args:
        map: map of the surroundings.
        place: pose (3,) or position (2,), m and rad.
        radius: radius of the robot, m.
        start: whether ``place`` is the robot's start.
    """
    margin, least = float(map.margin(place[:2])), room_at_border(radius, float(place[2]) if start else None)
    return (
        "" if margin >= least else f"{margin:.3f} m from the border of the map, expected {least:.3f} m for a radius of {radius:g} m"
    )


def beyond(map: Map, point: Doubles, outside: Bools) -> str:
    """Return a message saying that a point on the map is outside the walls or in an unknown area, or an empty string if it is
    neither.
    """
    row, column = (int(v) for v in map.cell_of(point[:2]))
    if map.unknown is not None and map.unknown[row, column]:
        return "in an unknown area of the map"
    return "outside the walls, in free space that reaches the edge of the map" if outside[row, column] else ""


def is_walled(map: Map, point: Doubles, other: Doubles) -> bool:
    """Return whether an obstacle lies between two points."""
    steps = max(int(np.hypot(*(other[:2] - point[:2])) / (0.5 * map.resolution)), 1)
    along = np.linspace(0.0, 1.0, steps + 1)[:, None]
    return bool((map.gap(point[:2] + along * (other[:2] - point[:2]), limit=map.resolution) <= 0.0).any())


def part_of(map: Map, point: Doubles, radius: float, *, inside: bool = False) -> int:
    """Return the number of the connected part of the map, for a disc, to which a point belongs: the nearest part within two cells,
    or 0 if there is none.

    Args:
        map: map of the surroundings.
        point: (2 or more,) position, m.
        radius: radius of the disc, m.
        inside: whether the disc must stay on the map, as robots must.
    """
    labels = component_of(map, radius, inside=inside)
    row, column = (int(v) for v in map.cell_of(point[:2]))
    rows, columns = np.mgrid[row - _NEAR : row + _NEAR + 1, column - _NEAR : column + _NEAR + 1].reshape(2, -1)
    on = (rows >= 0) & (rows < labels.shape[0]) & (columns >= 0) & (columns < labels.shape[1])
    rows, columns = rows[on], columns[on]
    away = np.hypot(*(map.centre_of(rows, columns) - point[:2]).T) + 1e3 * (labels[rows, columns] == 0)
    nearest = int(np.argmin(away))
    return int(labels[rows[nearest], columns[nearest]])


def _overlaps(task: Task) -> list[Fault]:
    """Return a fault for each start that overlaps another start."""
    discs = [(f"robot {n}", start[:2], task.radius, ("robot", n)) for n, (start, _) in enumerate(task.robots)]
    discs += [(_called(p, n), p.position, p.radius, ("pedestrian", n)) for n, p in enumerate(task.pedestrians)]
    found = []
    for number, (name, place, radius, of) in enumerate(discs):
        for other, there, more, _ in discs[:number]:
            if float(np.hypot(*(place - there))) < radius + more:
                words = f"{name} starts at {task.map.place(place)}, inside {other}"
                found.append(Fault(words, float(place[0]), float(place[1]), of))
    return found


def _walled_talks(task: Task) -> list[Fault]:
    """Return a fault for each pedestrian who talks with someone behind an obstacle."""
    found = []
    for number, person in enumerate(task.pedestrians):
        for k, other in enumerate(task.pedestrians[:number]):
            if person.talk >= 0 and person.talk == other.talk and is_walled(task.map, person.position, other.position):
                who, whom = _called(person, number), _called(other, k)
                text = f"{who} at {task.map.place(person.position)} talks with {whom} through an obstacle"
                found.append(Fault(text, float(person.position[0]), float(person.position[1]), ("pedestrian", number)))
    return found


def _called(person: Person, number: int) -> str:
    """Return the name of a pedestrian, or its number if it has no name."""
    return person.name or f"pedestrian {number}"


def _stream() -> Stream:
    return Stream("faults", 0, "task")
