"""Destinations of people in a place: entrances, spots at furniture, and points to stand at."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agora.core.state import Bools, Doubles
from agora.draft.placement import component_of
from agora.maps.distance import inside_all
from agora.maps.furniture import Furniture
from agora.maps.grid import Map
from agora.maps.zones import Zone
from agora.pedestrians.shared.spots import USES, usable_spots

_ENTRANCES = ("entrance", "end")
_NO_STOPS = {"door", "entrance", "end", "corridor", "crossing", "forbidden", "staff", "aisle"}
_ROOM = 0.15  # clearance to walls for people who enter or leave, m
_ASIDE = 0.5  # clearance to walls for people who stand, so that others can pass, m
_EDGE = 1.5  # maximum distance from the map's edge to the free space on a side with an entrance, m
_DEEP = 0.4  # depth of an entrance, m
_DOOR = 2.0  # width of an entrance in a wall, m


@dataclass(frozen=True, eq=False)
class Stop:
    """A place where one person performs an activity.

    Attributes:
        point: (2,) position of the person, m.
        heading: heading of the person, rad.
        use: "sit", "work", "stand" or "queue".
    """

    point: Doubles
    heading: float
    use: str


@dataclass(frozen=True, eq=False)
class Destinations:
    """Destinations on one map for people with a given radius; each destination can be reached from every other destination.

    Attributes:
        entrances: for each entrance, the points (N, 2) at which people enter and leave, m.
        stops: spots at which people use furniture.
        standing: (N, 2) points at which a standing person does not block others, m.
        area: walkable area, m2.
    """

    entrances: tuple[Doubles, ...]
    stops: tuple[Stop, ...]
    standing: Doubles
    area: float


@functools.lru_cache(maxsize=32)
def destinations_of(
    map: Map, furniture: tuple[Furniture, ...], zones: tuple[Zone, ...], radius: float, robot: float
) -> Destinations:
    """Return the destinations in a map.

    Entrances are the zones of the category "entrance" or, if there are none, of the category "end". On a map without either,
    entrances are where the free space is nearest to a side of the map: along the entire side of an open map, otherwise in the
    middle of the longest stretch, as if there were a door in the wall. People stand in zones that are neither corridors nor doors;
    on a map without zones, they stand anywhere.

    Args:
        map: map of the surroundings.
        furniture: furniture on the map.
        zones: zones of the map.
        radius: radius of the largest person, m.
        robot: radius of the largest robot that must be able to pass people who stand still, m.
    """
    walked = (component_of(map, radius) == 1) & _inside(map, radius)
    clear = map.clearance
    free, aside = walked & (clear >= radius + _ROOM), walked & (clear >= radius + max(_ASIDE, 2.2 * robot))
    named = [zone for category in _ENTRANCES for zone in zones if category in zone.category]
    kinds = set(named[0].category) if named else set()
    entrances = [_points(map, free & _within(map, zone)) for zone in named if kinds & set(zone.category)]
    if not named:
        entrances = [_points(map, side) for side in _sides(map, free)]
    rooms = [zone for zone in zones if not _NO_STOPS & set(zone.category)]
    if rooms:
        aside &= np.any([_within(map, zone) for zone in rooms], axis=0)
    for zone in zones:
        if "door" in zone.category:
            aside &= ~_within(map, zone)
    poses, uses = usable_spots(furniture, map, radius)
    rows, columns = map.cell_of(poses[:, :2])
    stops = tuple(
        Stop(pose[:2], float(pose[2]), USES[use])
        for pose, use, r, c in zip(poses, uses, rows, columns, strict=True)
        if walked[r, c]
    )
    area = float(np.count_nonzero(walked)) * map.resolution**2
    return Destinations(tuple(points for points in entrances if len(points)), stops, _points(map, aside), area)


def _inside(map: Map, margin: float) -> Bools:
    """Return a mask (rows, columns) of the cells whose centres are more than ``margin`` metres from the map's border."""
    far = math.ceil(margin / map.resolution + 0.5)
    cells = np.zeros(map.shape, np.bool_)
    cells[far:-far, far:-far] = True
    return cells


def _points(map: Map, cells: Bools) -> Doubles:
    """Return the centres (N, 2) of cells, m."""
    return map.centre_of(*np.nonzero(cells))


def _within(map: Map, zone: Zone) -> Bools:
    """Return a mask (rows, columns) of the cells whose centres are in a zone."""
    rows, columns = map.shape
    found = np.zeros(map.shape, np.bool_)
    for polygon in zone.polygons:
        low, high = (
            np.clip(np.array(map.cell_of(corner)), 0, (rows - 1, columns - 1)) for corner in (polygon.min(0), polygon.max(0))
        )
        window = slice(low[0], high[0] + 1), slice(low[1], high[1] + 1)
        grid = np.indices(found[window].shape)
        centres = map.centre_of(grid[0] + low[0], grid[1] + low[1]).reshape(-1, 2)
        found[window] |= inside_all(polygon, centres).reshape(found[window].shape)
    return found


def _sides(map: Map, free: Bools) -> Sequence[Bools]:
    """Return masks of the cells of the entrances that exist on the left, right, lower and upper sides of a map."""
    deep, edge, door = (max(1, round(length / map.resolution)) for length in (_DEEP, _EDGE, _DOOR))
    open_map = not (map.occupied.any() or map.has_shapes)
    found = []
    for turns in range(4):
        turned = np.rot90(free, turns)
        lines = turned.any(axis=1)
        first = np.where(lines, turned.argmax(axis=1), turned.shape[1])
        nearest = int(first.min(initial=turned.shape[1]))
        if nearest > edge:
            continue
        run = first <= nearest + deep // 2
        if not open_map:
            low, high = _longest(run)
            middle, half = (low + high) // 2, min(door, high - low) // 2
            run = np.zeros(len(run), np.bool_)
            run[middle - half : middle + half + 1] = True
        cells = np.zeros(turned.shape, np.bool_)
        cells[:, nearest : nearest + deep] = turned[:, nearest : nearest + deep] & run[:, None]
        found.append(np.rot90(cells, -turns))
    return found


def _longest(run: Bools) -> tuple[int, int]:
    """Return the start and end of the longest run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], run, [False]])))
    begins, ends = edges[::2], edges[1::2]
    k = int(np.argmax(ends - begins))
    return int(begins[k]), int(ends[k])
