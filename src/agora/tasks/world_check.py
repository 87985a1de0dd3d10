"""The check of a world folder: can it be read, and can a robot get about in it?"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from agora.core.state import Doubles
from agora.documents import located
from agora.draft.people import People
from agora.draft.placement import component_of
from agora.draft.scenario import Scenario, scenario_in
from agora.errors import InputError
from agora.maps.place import Place, read_place
from agora.tasks.obstacles.scenario import places_of


@dataclass
class Findings:
    """The findings of a check.

    Attributes:
        problems: problems, each with file, line and key where there is one.
        notes: remarks that are good to know.
    """

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def check_world(folder: Path, radius: float) -> Findings:
    """Read everything in a world folder, and look whether a robot gets from place to place in it.

    Problems are files that cannot be read, furniture and zones outside the map, people and robots of scenarios outside the map or
    in an obstacle, and goals of a scenario that its robot cannot reach.

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
            found.problems.append(f"{located(files / 'furniture.json', number)}: {piece.model} is outside the map")
    slack = m.resolution
    low, high = np.array(m.origin) - slack, np.array(m.origin) + m.size + slack
    for number, zone in enumerate(place.zones):
        for k, polygon in enumerate(zone.polygons):
            if (polygon < low).any() or (polygon > high).any():
                found.problems.append(
                    f"{located(files / 'zones.yaml', number, 'polygon', k)}: {zone.label!r} is partly outside the map"
                )


def _check_passage(place: Place, folder: Path, radius: float, found: Findings) -> None:
    component = component_of(place.map, radius)
    count = int(component.max())
    if place.map.unknown is not None and place.map.unknown.all():
        grey = "all cells are unknown: no pixel is darker than occupied_thresh or lighter than free_thresh"
        found.problems.append(f"{folder / 'map' / 'map.yaml'}: {grey}")
        return
    if not count:
        found.problems.append(f"{folder}: a robot of radius {radius:g} m fits nowhere")
        return
    share = np.count_nonzero(component == 1) / np.count_nonzero(component)
    areas = "one area" if count == 1 else f"{count} areas that are not joined, the largest of which is {share:.0%}"
    found.notes.append(f"a robot of radius {radius:g} m has {areas}")
    centres = place.map.centre_of(*np.nonzero(component == 1))
    for number, zone in enumerate(place.zones):
        if not zone.contains(centres).any():
            where = located(folder / "map" / "zones.yaml", number, "label")
            found.notes.append(f"{where}: a robot of radius {radius:g} m does not get from the largest area into {zone.label!r}")


def _check_scenario(scenario: Scenario, file: Path, place: Place, radius: float, found: Findings) -> None:
    m = place.map
    component = component_of(m, radius)

    def fault(point: Doubles, reach: float) -> str:
        if not m.contains(point):
            return "is outside the map"
        gap = float(m.gap(point[None], limit=reach + 1.0)[0])
        if gap <= 0.0:
            return "is in an obstacle"
        return f"is {gap:.2f} m from an obstacle, less than the radius of {reach:g} m" if gap < reach else ""

    for number, robot in enumerate(scenario.robots):
        cells = []
        for key in ("start", "goal"):
            point = np.array(getattr(robot, key)[:2])
            if why := fault(point, radius):
                found.problems.append(f"{located(file, 'robots', number, key)}: {why}")
            else:
                cells.append(int(component[tuple(int(v) for v in m.cell_of(point))]))
        if len(cells) == 2 and cells[0] != cells[1]:
            where = located(file, "robots", number, "goal")
            found.problems.append(f"{where}: a robot of radius {radius:g} m does not get there from its start")
    for number, person in enumerate(scenario.obstacles.dynamic):
        for why in filter(None, (fault(point, 0.0) for point in places_of(person, People().radius))):
            found.problems.append(f"{located(file, 'obstacles', 'dynamic', number, 'pos')}: {person.name!r} {why}")
