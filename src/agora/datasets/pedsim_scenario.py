"""Converts scenario files of pedsim_ros (XML) to world folders.

The supported elements are the ones that the scenario reader of pedsim_ros reads (pedsim_simulator, scenarioreader.cpp,
srl-freiburg/pedsim_ros master): ``obstacle`` (x1, y1, x2, y2), ``waypoint`` (id, x, y, r), ``queue`` (id, x, y, direction in
degrees), ``attraction``, and ``agent`` (x, y, n, dx, dy, type) with ``addwaypoint`` and ``addqueue``; a ``source`` is an agent
whose people appear repeatedly. Agents visit their waypoints in an endless loop. The types are 0 for adults, 1 for children, 2 for
robots, and 3 for elders, who walk at 0.9 m/s at most.

A waypoint is an area: people head for the next waypoint as soon as they are within ``r`` of the centre of the current waypoint
(areawaypoint.cpp, isWithinArea). The centre may lie in a wall. `agora.datasets.waypoint_areas` converts these areas to points with
a common radius.

At each start, pedsim_ros samples the positions of an agent's people in a box around x and y, possibly inside walls. This import
samples the positions once, so that people do not overlap walls or each other; if a box is too small, the import enlarges the box
and reports this.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from agora.core.state import Doubles
from agora.datasets.imported import Imported, write_imported
from agora.datasets.waypoint_areas import Area, way_through
from agora.draft.scenario import Obstacles, Pedestrian, Robot, Scenario
from agora.errors import InputError, nearest
from agora.maps.grid import Map
from agora.seeds import Stream
from agora.xml_tree import Element, tree_of_xml
from agora.yaml_tree import read_text, value_text

_TYPES = {0: "adult", 1: "child", 3: "elder"}
_ROBOT = 2
_SLOW = 0.9  # m/s, maximum speed of elders
_KNOWN = {
    "obstacle": ("x1", "y1", "x2", "y2", "type"),
    "waypoint": ("id", "x", "y", "r", "b"),
    "queue": ("id", "x", "y", "direction"),
    "attraction": ("id", "x", "y", "width", "height", "strength"),
    "agent": ("x", "y", "n", "dx", "dy", "type"),
    "source": ("x", "y", "n", "dx", "dy", "type"),
    "welcome": (),
}
_IN_AGENT = {"addwaypoint": ("id",), "addqueue": ("id",)}
_MARGIN = 2.0  # m, width of the open ground around everything
_RESOLUTION, _LONGEST = 0.05, 4000  # cell size, m, and maximum number of cells along a side; larger places have larger cells
_POINT = 0.1  # m, radius of an obstacle without length
_PERSON = 0.3  # m, radius of a pedestrian
_CLEAR, _APART = 0.35, 0.7  # minimum distances from a person's centre to walls and to another person's centre, m
_TRIES, _GROWTH = 200, 0.5  # number of samples per person before the box grows, and growth of the box, m
_MOST = 1000


def import_pedsim(source: str | Path, output: str | Path, seed: int = 0) -> Imported:
    """Write a world folder with the obstacles, people and robots of a scenario file.

    The map contains the obstacles; ``scenarios/NAME.json`` contains the people and robots.

    Args:
        source: path of the XML file.
        output: folder of the world, which must be missing or empty.
        seed: seed used to sample the people's positions.

    Raises:
        InputError: the file cannot be read or has unexpected contents, or the folder cannot be written.
    """
    return write_imported(read_pedsim(source, seed), Path(output), Path(source).stem)


def read_pedsim(path: str | Path, seed: int = 0) -> Imported:
    """Read a scenario file of pedsim_ros.

    Raises:
        InputError: the file cannot be read or has unexpected contents; each problem is listed with file, line and element.
    """
    reader = _Reader(str(path))
    root = tree_of_xml(read_text(path), str(path))
    if root.tag != "scenario":
        raise InputError(f"{path}:{root.line}: <{root.tag}>: expected pedsim_ros's root element <scenario>")
    for element in root.children:
        reader.look(element)
    if reader.problems:
        raise InputError("\n".join(reader.problems))
    return _Drawn(reader, Path(path).stem, seed).imported()


@dataclass
class _Group:
    """An ``agent`` or ``source``: the centre and size of the box in which its people start, and the people's type and waypoints."""

    line: int
    centre: tuple[float, float]
    box: tuple[float, float]
    count: int
    type: int
    waypoints: list[tuple[float, float, float]]


class _Reader:
    """Reads numbers from elements and collects every problem."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.problems: list[str] = []
        self.notes: list[str] = []
        self.walls: list[tuple[float, float, float, float]] = []
        self.points: dict[str, tuple[float, float, float]] = {}
        self.groups: list[_Group] = []

    def wrong(self, element: Element, message: str) -> None:
        self.problems.append(f"{self.where}:{element.line}: <{element.tag}>: {message}")

    def look(self, element: Element) -> None:
        if not self.known(element, _KNOWN):
            return
        if element.tag == "obstacle":
            x1, y1, x2, y2 = (self.number(element, key) for key in ("x1", "y1", "x2", "y2"))
            self.walls.append((x1, y1, x2, y2))
        elif element.tag in ("waypoint", "queue"):
            name = element.attributes.get("id", "")
            if not name or name in self.points:
                self.wrong(element, f"expected a unique id, got {value_text(name)}")
            self.points[name] = (self.number(element, "x"), self.number(element, "y"), self.number(element, "r", 0.0))
            if element.attributes.get("b", "0") != "0":
                self.note(element, "b is left out: in Agora's scenarios, people do not appear or disappear")
        elif element.tag == "attraction":
            self.note(element, "attractions are left out: they have no counterpart in Agora")
        elif element.tag in ("agent", "source"):
            self.group(element)

    def group(self, element: Element) -> None:
        if element.tag == "source":
            self.note(element, "its people appear once; pedsim_ros creates them repeatedly")
        kind, count = self.whole(element, "type", 0, _ROBOT + 1), self.whole(element, "n", 1, _MOST)
        points = []
        for part in element.children:
            if not self.known(part, _IN_AGENT):
                continue
            name = part.attributes.get("id", "")
            if name not in self.points:
                self.wrong(part, f"no earlier waypoint or queue is called {value_text(name)}; {nearest(name, self.points)}")
                continue
            points.append(self.points[name])
            if part.tag == "addqueue":
                self.note(part, "a queue becomes a waypoint: people do not wait in it")
        where = (self.number(element, "x"), self.number(element, "y"))
        box = (self.number(element, "dx", 0.0), self.number(element, "dy", 0.0))
        if kind == _ROBOT and not points:
            self.wrong(element, "expected a waypoint for the robot, which is its goal")
        self.groups.append(_Group(element.line, where, box, count, kind, points))

    def note(self, element: Element, message: str) -> None:
        self.notes.append(f"{self.where}:{element.line}: <{element.tag}>: {message}")

    def known(self, element: Element, known: Mapping[str, tuple[str, ...]]) -> bool:
        if element.tag not in known:
            self.wrong(element, f"unknown element; {nearest(element.tag, known)}")
            return False
        for name in element.attributes:
            if name not in known[element.tag]:
                self.wrong(element, f"unknown attribute {name!r}; {nearest(name, known[element.tag])}")
        return True

    def number(self, element: Element, key: str, default: float | None = None) -> float:
        """Return a value in metres; ``default`` if it is missing."""
        text = element.attributes.get(key)
        if text is None and default is not None:
            return default
        try:
            value = float(text or "")
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            self.wrong(element, f"{key} must be a number, got {value_text(text)}")
            return 0.0
        return value

    def whole(self, element: Element, key: str, default: int, most: int) -> int:
        """Return an integer in 0..``most``; ``default`` if it is missing."""
        text = element.attributes.get(key, str(default))
        if not text.isascii() or not text.isdigit() or int(text) > most:
            self.wrong(element, f"{key} must be an integer in [0, {most}], got {value_text(text)}")
            return default
        return int(text)


class _Drawn:
    """The map and the scenario of the file, in which everyone's position has been sampled."""

    def __init__(self, read: _Reader, name: str, seed: int) -> None:
        self.read, self.name, self.notes = read, name, list(read.notes)
        self.map = self._map()
        self.stream = Stream(name, seed, "pedsim")
        self.places: list[Doubles] = []

    def _map(self) -> Map:
        """Return a map that contains the obstacles and is large enough to cover everything."""
        walls = np.array(self.read.walls).reshape(-1, 2, 2)
        spots = [(x, y) for x, y, _ in self.read.points.values()] + [group.centre for group in self.read.groups]
        everything = np.vstack([walls.reshape(-1, 2), np.array(spots).reshape(-1, 2)])
        if not len(everything):
            raise InputError(f"{self.read.where}: contains no obstacle, waypoint or agent")
        low, high = everything.min(axis=0) - _MARGIN, everything.max(axis=0) + _MARGIN
        resolution = _RESOLUTION * max(1, math.ceil(float((high - low).max()) / (_RESOLUTION * _LONGEST)))
        columns, rows = np.ceil((high - low) / resolution).astype(int)
        length = np.hypot(*(walls[:, 1] - walls[:, 0]).T)
        dots = walls[length == 0.0, 0]
        return Map(
            name=self.name,
            resolution=resolution,
            origin=(float(low[0]), float(low[1])),
            occupied=np.zeros((rows, columns), np.bool_),
            segments=walls[length > 0.0].reshape(-1, 4),
            discs=np.column_stack([dots, np.full(len(dots), _POINT)]),
        )

    def imported(self) -> Imported:
        robots: list[Robot] = []
        people: list[Pedestrian] = []
        for group in self.read.groups:
            spots = list(self._spots(group))
            if not spots:
                continue
            if group.type == _ROBOT:
                goal = self._goal(group, spots[0])
                robots += [Robot(spot, goal) for spot in spots]
                continue
            way = way_through(self.map, spots[0], [Area(*area) for area in group.waypoints], _PERSON)
            self._note_lost(group, way.lost)
            fastest = _SLOW if _TYPES[group.type] == "elder" else None
            for spot in spots:
                name = f"{_TYPES[group.type]}_{len(people) + 1}"
                person = Pedestrian(name, spot, way.points, _TYPES[group.type], waypoint_mode=0, vmax=fastest)
                people.append(replace(person, waypoint_radius=way.radius))
        scenario = Scenario(tuple(robots), Obstacles(dynamic=tuple(people)), self.name)
        return Imported(self.map, scenario, self.notes)

    def _goal(self, group: _Group, start: tuple[float, float, float]) -> tuple[float, float]:
        """Return the goal of a group of robots: a reachable point in the group's last waypoint, or the centre of this waypoint if
        no point is reachable.
        """
        way = way_through(self.map, start, [Area(*group.waypoints[-1])], _PERSON)
        self._note_lost(group, way.lost)
        return (way.points[0] if way.points else group.waypoints[-1])[:2]

    def _note_lost(self, group: _Group, lost: Sequence[Area]) -> None:
        where = f"{self.read.where}:{group.line}"
        for x, y, r in lost:
            so = "move the goal in the scenario" if group.type == _ROBOT else "it is left out"
            self.notes.append(f"{where}: no path leads from its position to the waypoint at ({x:g}, {y:g}), r = {r:g} m; {so}")

    def _spots(self, group: _Group) -> Iterator[tuple[float, float, float]]:
        """Yield sampled poses of a group's people inside the group's box; the people face their first waypoint."""
        size = np.abs(group.box)
        grown = 0.0
        for _ in range(group.count):
            place = None
            while place is None:
                place = self._free(group.centre, size + grown)
                if place is None:
                    grown += _GROWTH
                if grown > max(self.map.size):
                    raise InputError(f"{self.read.where}:{group.line}: there is no room for {group.count} people")
            self.places.append(place)
            ahead = np.subtract(group.waypoints[0][:2], place) if group.waypoints else np.zeros(2)
            heading = math.atan2(ahead[1], ahead[0])
            yield (round(float(place[0]), 3), round(float(place[1]), 3), round(heading, 4))
        if grown:
            room = " x ".join(f"{side:g}" for side in size + grown)
            self.notes.append(
                f"{self.read.where}:{group.line}: {group.count} people do not fit into their box, which was enlarged to {room} m"
            )

    def _free(self, centre: tuple[float, float], size: Doubles) -> Doubles | None:
        """Return a sampled position in a box, clear of walls and people; None if no sample is clear."""
        tried = centre + size * (self.stream.uniform(-0.5, 0.5, (_TRIES, 2)))
        clear = self.map.gap(tried, limit=2 * _CLEAR) >= _CLEAR
        clear &= (np.abs(tried - self.map.origin - np.array(self.map.size) / 2) < np.array(self.map.size) / 2 - _CLEAR).all(axis=1)
        if self.places:
            clear &= np.hypot(*(tried[:, None] - np.array(self.places)[None]).transpose(2, 0, 1)).min(axis=1) >= _APART
        return tried[int(np.argmax(clear))] if clear.any() else None
