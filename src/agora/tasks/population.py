"""Places furniture and pedestrians at random, leaving room for the robots; shared by several obstacles modes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from agora.core.state import TYPES, Doubles
from agora.draft.pedestrian_types import pedestrian_types
from agora.draft.people import Person
from agora.draft.placement import component_of
from agora.draft.task import Task
from agora.errors import InputError, PlacementError, nearest
from agora.maps.distance import edges_of, gap_to_shapes
from agora.maps.furniture import Furniture, model_of
from agora.maps.grid import Map
from agora.world.start import Thing

__all__ = ["add_furniture", "add_pedestrians"]

MOST = 10_000
"""Maximum number of pedestrians, or of pieces of furniture, that a mode may place."""

Kind = Literal["static", "interactive", "dynamic"]
_TRIES = 100
_RING = 0.8  # distance of a group's members from the group's centre at the start, m


def robot_places(task: Task, distance: float, *, goals: bool, body: float = 0.0) -> Doubles:
    """Return discs (K, 3) around the robots' starts and, if requested, their goals, m.

    Args:
        task: task with the robots.
        distance: minimum radius of the discs, m.
        goals: whether discs around the goals are included.
        body: radius of the bodies that will be placed, m; the discs are large enough for a robot next to such a body.
    """
    distance = max(distance, task.radius + task.safety + body)
    points = [point for start, ends in task.robots for point in (start[:2], *(ends[:, :2] if goals else ()))]
    unique = np.array(list(dict.fromkeys((float(x), float(y)) for x, y in points))).reshape(-1, 2)
    return np.column_stack([unique, np.full(len(unique), distance)])


def add_furniture(task: Task, wanted: Sequence[tuple[Literal["static", "interactive"], str]], keep_clear: float) -> None:
    """Add furniture to the map at random places, such that robots can drive around every piece.

    Args:
        task: task to add to.
        wanted: kind and model of each piece of furniture.
        keep_clear: distance between robots' starts or goals and furniture, m.

    Raises:
        UnknownNameError: a model is unknown.
        PlacementError: there is no room.
    """
    taken = robot_places(task, keep_clear, goals=True)
    room, things = _Room(task.map, task.radius), []
    for kind, name in wanted:
        radius = model_of(name).radius
        for _ in range(_TRIES):
            place = task.place(radius, 1, keep_out=taken + (0.0, 0.0, radius), passage=min(task.radius, radius))[0]
            piece = Furniture(name, float(place[0]), float(place[1]), float(task.stream.uniform(-np.pi, np.pi)))
            if room.take(piece):
                break
        else:
            raise PlacementError(f"map {task.map.name!r}: no place for {name!r} that robots can drive around, in {_TRIES} tries")
        things.append(Thing(task.name("S" if kind == "static" else "I", name), kind, piece))
        taken = np.vstack([taken, (*place, radius)])
    task.furnish(things)


class _Room:
    """The free space of a map for robots with a given radius, which furniture may narrow but not divide."""

    def __init__(self, map: Map, radius: float) -> None:
        self._map, self._radius = map, max(radius, 0.5 * map.resolution)
        self._parts = component_of(map, radius)

    def take(self, piece: Furniture) -> bool:
        """Add a piece of furniture if every connected part of the free space stays connected; return whether it was added."""
        from scipy.ndimage import label

        reach = model_of(piece.model).radius + self._radius
        corners = np.array([[piece.x - reach, piece.y - reach], [piece.x + reach, piece.y + reach]])
        rows, columns = (
            np.clip(cells, 0, size - 1) for cells, size in zip(self._map.cell_of(corners), self._map.shape, strict=True)
        )
        near = slice(rows[0], rows[1] + 1), slice(columns[0], columns[1] + 1)
        grid = np.indices(self._parts[near].shape)
        centres = self._map.centre_of(grid[0] + rows[0], grid[1] + columns[0]).reshape(-1, 2)
        polygons = tuple(piece.polygons())
        gap = gap_to_shapes(centres, edges_of(polygons), piece.discs(), polygons).reshape(grid.shape[1:])
        left = self._parts > 0
        left[near] &= gap > self._radius
        parts, count = label(left)
        whole = bool(np.count_nonzero(np.bincount(self._parts[left])) == count)  # each old part contains exactly one new part
        if whole:
            self._parts = parts
        return whole


def add_pedestrians(
    task: Task,
    looks: Sequence[str],
    *,
    waypoints: int,
    clearance: float,
    keep_clear: float,
    group: int = -1,
    region: Sequence[Doubles] | None = None,
    type: str | None = None,
) -> None:
    """Add one pedestrian, or a group that shares its waypoints and walks at the pace of its slowest type, at a random place.

    Args:
        task: task to add to.
        looks: look of each group member.
        waypoints: number of waypoints; the start is appended as an additional last waypoint.
        clearance: distance from starts and waypoints to walls, m.
        keep_clear: distance between robots' starts and pedestrians' starts, m.
        group: number of the group; -1 for a pedestrian who is alone.
        region: polygons in which starts and waypoints must lie.
        type: type name from `agora.core.state.TYPES`; if None, the type is drawn with the crowd's proportions.

    Raises:
        PlacementError: there is no room.
    """
    crowd, size, types = task.crowd, len(looks), pedestrian_types()
    drawn = [crowd.draw_kind(task.kinds) for _ in looks]
    members = [(kind if type is None else type, reaction) for kind, reaction in drawn]
    radius = crowd.radius * max(types[kind].radius for kind, _ in members)
    ring = _RING if size > 1 else 0.0
    clearance = max(clearance, radius) + ring
    x, y, theirs = task.bodies().T
    others = np.column_stack([x, y, 1.1 * (theirs + radius)])
    blocked = np.vstack([robot_places(task, keep_clear, goals=False, body=radius), others]) + np.array([0.0, 0.0, ring])
    centre = task.place(clearance, 1, keep_out=blocked, region=region)
    route = task.place(clearance, waypoints, connected_to=centre[0], region=region)
    speed = crowd.draw_speed(task.stream) * min(types[kind].speed for kind, _ in members)
    turn = float(task.stream.uniform(-np.pi, np.pi))
    for k, (look, (kind, reaction)) in enumerate(zip(looks, members, strict=True)):
        angle = turn + 2 * np.pi * k / size
        offset = _RING * np.array([np.cos(angle), np.sin(angle)]) if size > 1 else np.zeros(2)
        start = centre[0] + offset
        like: dict[str, Any] = {"group": group, "type": kind, "reaction": reaction, "name": task.name("D", look), "look": look}
        task.pedestrians.append(Person(start, np.vstack([route + offset, start]), speed, crowd.radius * types[kind].radius, **like))


def pedestrian_type(text: str) -> str:
    """Return the pedestrian type that Arena's files call "adult" or "human/adult".

    Raises:
        InputError: the type is unknown.
    """
    name = text.rpartition("/")[2]
    if name not in TYPES:
        raise InputError(f"type: no pedestrian type called {text!r}; {nearest(name, TYPES)}")
    return name
