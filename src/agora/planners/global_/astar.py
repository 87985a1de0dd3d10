"""A* over the cells of a map, with the resulting path pulled taut, and the geodesic length between two points."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from agora.core.state import Array, Doubles, Floats
from agora.interfaces import PathRequest
from agora.maps.grid import Map
from agora.planners.global_.search import NO_LAYER, cell_factors, centres, ends_of, is_line_free, pull, resample, search, tighten
from agora.ranges import Checked, Distance, Length, NotNegative, Positive

__all__ = ["AStar"]


@dataclass(frozen=True)
class AStar(Checked):
    """Finds the cheapest 8-connected path (Hart, Nilsson and Raphael 1968) over cells whose clearance exceeds the robot's radius.

    Cells whose centre is within half a cell of an obstacle are blocked for every radius, so that no path passes through a thin
    wall.

    Travelling one cell length costs ``neutral + factor * c``, where c is costmap_2d's inflated cost (0 to 252), as in navfn, which
    uses 50 and 0.8. If the start is too close to an obstacle, the path first leads to the nearest free cell, around obstacles. The
    path is pulled taut where this does not raise the cost and keeps the required clearance, and is then resampled. Unknown cells
    count as free, as with navfn's ``allow_unknown``.

    Attributes:
        neutral: cost of crossing one cell when no obstacle is near.
        factor: weight of the inflated cost; 0 for the shortest path.
        inflation_radius: distance beyond which an obstacle has no cost, m.
        cost_scaling: rate at which the cost of an obstacle decays with distance, 1/m.
        heuristic: whether the distance to the goal guides the search; without a heuristic this is Dijkstra's algorithm.
        smooth: whether the path is pulled taut.
        spacing: distance between points of the path, m.
    """

    neutral: Positive = 50.0
    factor: NotNegative = 0.8
    inflation_radius: Distance = 1.0
    cost_scaling: NotNegative = 5.0
    heuristic: bool = True
    smooth: bool = True
    spacing: Length = 0.1

    def path(self, request: PathRequest) -> Floats | None:
        """Return the path (K, 2) from the start to the goal, m; None if there is no path, or the start or goal is outside the
        map.
        """
        place, resolution = request.map, request.map.resolution
        corner = np.asarray(place.origin, np.float32).astype(np.float64) + 0.5 * resolution
        ends = (np.array([request.start[:2], request.goal[:2]], np.float64) - corner) / resolution
        layer = NO_LAYER if request.cost is None else np.ascontiguousarray(request.cost, np.uint8)
        clearance = np.ascontiguousarray(place.clearance_inside(request.radius), np.float32)
        points = self.cells(clearance, resolution, ends, request.radius, layer)
        if points is None:
            return None
        return resample(points * resolution + corner, self.spacing).astype(np.float32)

    def cells(self, clearance: Floats, resolution: float, ends: Doubles, radius: float, layer: Array = NO_LAYER) -> Doubles | None:
        """Return the path before resampling; the path and its ``ends`` (2, 2) are in cells from the centre of cell [0, 0]."""
        columns = clearance.shape[1]
        share = self.factor / self.neutral
        least = max(radius, 0.5 * resolution)
        cost = (least, radius, share, self.inflation_radius, self.cost_scaling)
        factor = np.empty(clearance.shape, np.float32)
        cell_factors(clearance, layer, *(np.float32(v) for v in cost), factor)
        found = ends_of(clearance, resolution, ends, np.isfinite(factor))
        if found is None:
            return None
        numbers = search(factor, found.first, found.last, guided=self.heuristic)
        if numbers is None:
            return None
        middle = centres(numbers[1:-1], columns)
        begin = centres(numbers[:1], columns) if len(found.lead) else ends[:1]
        points = np.vstack((begin, middle, ends[1:]))
        if self.smooth:
            points = pull(clearance, points, *cost, layer)
        return np.vstack((found.lead, points))


class Geodesic(NamedTuple):
    """A shortest path between two points.

    Attributes:
        length: length of the path, m.
        corners: (K, 2) turning points in order from the start, including both ends, m.
    """

    length: float
    corners: Doubles


def geodesic_length(map: Map, start: ArrayLike, goal: ArrayLike, radius: float) -> float:
    """Return the length of the `geodesic` of a disc between two points, m; infinite if there is no path."""
    found = geodesic(map, start, goal, radius)
    return math.inf if found is None else found.length


def geodesic(map: Map, start: ArrayLike, goal: ArrayLike, radius: float) -> Geodesic | None:
    """Return a shortest collision-free path for a disc on the map between two points; None if there is no path.

    The result is the straight line if this line is free. Otherwise, the shortest 8-connected paths in both directions, over cells
    whose clearance exceeds the radius, are pulled taut between finer and finer points, and the shorter of the two is returned. The
    result is as short as any path that passes obstacles on the same sides. If two routes around an obstacle differ in length by
    only a few percent, the result may be the longer one.

    Args:
        map: map of the surroundings.
        start: (2,) start position, m; may be too close to an obstacle.
        goal: (2,) goal position, m.
        radius: radius of the disc, m.
    """
    corner = np.asarray(map.origin) + 0.5 * map.resolution
    points = np.array([start, goal], np.float64)[:, :2]
    ends = (points - corner) / map.resolution
    least = max(radius, 0.5 * map.resolution)
    column, row = np.floor(ends[1] + 0.5).astype(np.int64)
    field = map.clearance_inside(radius)
    if map.contains(points).all() and field[row, column] > least and is_line_free(field, ends, least):
        return Geodesic(_length(ends) * map.resolution, points)
    there = AStar(factor=0.0).cells(field, map.resolution, ends, radius)
    if there is None:
        return None
    back = AStar(factor=0.0).cells(field, map.resolution, ends[::-1], radius)
    ways = [_pull_taut(field, p, least) for p in (there, back) if p is not None]
    lengths = [_length(way) for way in ways]
    shorter = int(np.argmin(lengths))
    corners: Doubles = (ways[shorter][::-1] if shorter else ways[0]) * map.resolution + corner
    return Geodesic(lengths[shorter] * map.resolution, corners)


def _pull_taut(clearance: Floats, points: Doubles, least: float) -> Doubles:
    """Return a path, given in cells, after pulling it taut."""
    ends, best = points[[0, -1]], points
    for spacing in (4.0, 4.0, 2.0, 2.0, 1.0, 1.0, 1.0):
        fine = resample(points, spacing).astype(np.float32)
        tighten(clearance, fine, np.float32(least), 20)
        points = fine.astype(np.float64)
        points[[0, -1]] = ends
        points = pull(clearance, points, least)
        best = min(best, points, key=_length)
    return best


def _length(points: Doubles) -> float:
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
