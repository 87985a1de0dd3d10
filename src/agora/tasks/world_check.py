"""Checks whether a world folder can be read, and whether a robot can reach the places in the world."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from agora.core.state import Bools, Doubles
from agora.draft.people import People, Person
from agora.draft.placement import component_of, outside_of
from agora.draft.scenario import Scenario, scenario_in
from agora.draft.surroundings import Surroundings
from agora.errors import InputError
from agora.maps.grid import Map
from agora.maps.place import Place, read_place
from agora.seeds import Stream
from agora.tasks.faults import beside, beyond, is_walled, part_of
from agora.tasks.obstacles.scenario import furnished, scenario_people
from agora.yaml_tree import location_of


@dataclass
class Findings:
    """The findings of a check.

    Attributes:
        problems: problems found, each with its file and, if known, its line and key.
        notes: remarks that are not problems.
    """

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def check_world(folder: Path, radius: float) -> Findings:
    """Read everything in a world folder, and check whether a robot can get from place to place in the world.

    The following are problems: files that cannot be read; furniture and zones outside the map; robots, goals, people and waypoints
    of scenarios that are outside the map, in an obstacle, outside the walls or in an unknown area; starts and goals closer to the
    border of the map than the robot's radius; goals and waypoints that cannot be reached; and people who talk through a wall.
    People whom walls separate from every robot are listed as remarks.

    Args:
        folder: folder of the world.
        radius: radius of the robot, m.
    """
    found = Findings()
    if not folder.is_dir():
        found.problems.append(f"there is no folder {folder}")
        return found
    try:
        place = read_place(folder)
    except InputError as error:
        found.problems.append(str(error))
        return found
    _check_place(place, folder, found)
    _check_passage(place, folder, radius, found)
    for file in sorted((folder / "scenarios").glob("*.json")):
        try:
            scenario = scenario_in(place.map, file)
        except InputError as error:
            found.problems.append(str(error))
        else:
            _check_scenario(scenario, file, place, radius, found)
    return found


def _check_place(place: Place, folder: Path, found: Findings) -> None:
    m, files = place.map, folder / "map"
    size = f"{m.size[0]:g} x {m.size[1]:g} m, {m.shape[1]} x {m.shape[0]} cells of {m.resolution:g} m"
    found.notes.append(f"{m.name}: {size}, {len(place.furniture)} pieces of furniture, {len(place.zones)} zones")
    for number, piece in enumerate(place.furniture):
        if not m.contains([piece.x, piece.y]):
            found.problems.append(f"{location_of(files / 'furniture.json', number)}: {piece.model} is outside the map")
    slack = m.resolution
    low, high = np.array(m.origin) - slack, np.array(m.origin) + m.size + slack
    for number, zone in enumerate(place.zones):
        for k, polygon in enumerate(zone.polygons):
            if (polygon < low).any() or (polygon > high).any():
                found.problems.append(
                    f"{location_of(files / 'zones.yaml', number, 'polygon', k)}: {zone.label!r} is partly outside the map"
                )


def _check_passage(place: Place, folder: Path, radius: float, found: Findings) -> None:
    component = component_of(place.map, radius, inside=True)
    count = int(component.max())
    if place.map.unknown is not None and place.map.unknown.all():
        grey = "all cells are unknown: no pixel is darker than occupied_thresh or lighter than free_thresh"
        found.problems.append(f"{folder / 'map' / 'map.yaml'}: {grey}")
        return
    if not count:
        found.problems.append(f"{folder}: a robot of radius {radius:g} m fits nowhere")
        return
    share = np.count_nonzero(component == 1) / np.count_nonzero(component)
    areas = "one area" if count == 1 else f"{count} separate areas, the largest of which is {share:.0%}"
    found.notes.append(f"for a robot of radius {radius:g} m, the map has {areas}")
    centres = place.map.centre_of(*np.nonzero(component == 1))
    for number, zone in enumerate(place.zones):
        if not zone.contains(centres).any():
            where = location_of(folder / "map" / "zones.yaml", number, "label")
            found.notes.append(f"{where}: a robot of radius {radius:g} m cannot get from the largest area into {zone.label!r}")


def _why(m: Map, point: Doubles, reach: float, outside: Bools) -> str:
    """Return the reason why a body with a radius of ``reach`` metres cannot be at a point, or an empty string if it can."""
    if not m.contains(point[:2]):
        return "outside the map"
    gap = float(m.gap(point[None, :2], limit=reach + 1.0)[0])
    if gap <= 0.0:
        return "in an obstacle"
    return beyond(m, point, outside) or (
        f"{gap:.2f} m from an obstacle, less than the radius of {reach:g} m" if gap < reach else ""
    )


def _check_scenario(scenario: Scenario, file: Path, place: Place, radius: float, found: Findings) -> None:
    world = Surroundings(place.map, scenario, scenario_file=file)
    try:
        m, people = furnished(world, place.map), scenario_people(world, People(), Stream("check", 0, "task"))
    except InputError as error:
        found.problems.append(str(error))
        return
    places = tuple((pose[0], pose[1]) for robot in scenario.robots for pose in (robot.start, robot.goal))
    parts, outside = set(), outside_of(m, places)
    for number, robot in enumerate(scenario.robots):
        start, goal = np.array(robot.start), np.array(robot.goal)
        poses = {"start": start, "goal": goal}
        wrong = {
            key: _why(m, pose, radius, outside) or beside(m, pose, radius, start=key == "start") for key, pose in poses.items()
        }
        found.problems += [f"{location_of(file, 'robots', number, key)}: is {why}" for key, why in wrong.items() if why]
        parts |= set() if wrong["start"] else {part_of(m, start, 0.0)}
        if not any(wrong.values()) and part_of(m, start, radius, inside=True) != part_of(m, goal, radius, inside=True):
            where = location_of(file, "robots", number, "goal")
            found.problems.append(f"{where}: a robot of radius {radius:g} m cannot reach it from its start")
    for number, person in people:
        _check_person(person, file, number, m, outside, found)
        apart = bool(parts) and not _why(m, person.position, 0.0, outside) and part_of(m, person.position, 0.0) not in parts
        if apart:
            where = location_of(file, "obstacles", "dynamic", number, "pos")
            found.notes.append(f"{where}: walls separate {person.name!r} from every robot")
        for _, other in people:
            if other is not person and 0 <= person.talk == other.talk and is_walled(m, person.position, other.position):
                where = location_of(file, "obstacles", "dynamic", number, "pos")
                found.problems.append(f"{where}: an obstacle lies between {person.name!r} and {other.name!r}, who talk")


def _check_person(person: Person, file: Path, number: int, m: Map, outside: Bools, found: Findings) -> None:
    """Check the position and the waypoints of a pedestrian."""
    key = ("obstacles", "dynamic", number)
    if why := _why(m, person.position, 0.0, outside):
        found.problems.append(f"{location_of(file, *key, 'pos')}: {person.name!r} is {why}")
        return
    for k, point in enumerate(person.waypoints):
        why = _why(m, point, 0.0, outside)
        if not why and part_of(m, point, person.radius) != part_of(m, person.position, person.radius):
            why = f"unreachable for {person.name!r}, with a radius of {person.radius:g} m, from its position"
        if why:
            found.problems.append(f"{location_of(file, *key, 'waypoints', k)}: is {why}")
