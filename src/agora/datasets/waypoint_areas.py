"""Converts waypoints that are areas, as in pedsim_ros and HuNavSim, to points with a common radius, as used by Agora's pedestrians.

In pedsim_ros and HuNavSim, a pedestrian heads for the centre of an area, and turns to the next area when it reaches the edge.
Agora's pedestrians have one radius for all their waypoints, so the conversion uses the radius of the smallest area. In a larger
area, the point is shifted towards the previous area, so that the pedestrian still turns at the edge. If the centre of an area is
inside a wall, a free point of the area replaces the centre, and the radius is reduced by the distance between this point and the
centre.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from agora.core.state import Array, Doubles, Ints
from agora.draft.people import People
from agora.draft.placement import component_of
from agora.maps.grid import Map

_LEAST = 0.2  # m, minimum radius at which people can reach a waypoint


class Area(NamedTuple):
    """A waypoint area with a centre and a radius, m; a radius of 0 stands for the crowd's default radius."""

    x: float
    y: float
    radius: float

    @property
    def reach(self) -> float:
        """The distance from the centre at which the area counts as reached, m."""
        return self.radius if self.radius > 0.0 else People().tolerance


class Way(NamedTuple):
    """The waypoints of a pedestrian.

    Attributes:
        points: x, y and radius of the point for each reachable area, m.
        radius: common radius of the points, m; None if there are no points.
        lost: areas without enough free space for the pedestrian.
    """

    points: tuple[tuple[float, float, float], ...]
    radius: float | None
    lost: tuple[Area, ...]


def way_through(map: Map, start: ArrayLike, areas: Sequence[Area], body: float) -> Way:
    """Return the waypoints of a pedestrian that visits the given areas in a loop.

    Args:
        map: map of the walls.
        start: (2 or more,) start position or pose of the pedestrian, m.
        areas: areas, in the order in which they are visited.
        body: radius of the pedestrian, m.
    """
    place = np.asarray(start, np.float64)[:2]
    home = _Part.about(map, place, body)
    nearest = [home.nearest(area) for area in areas]
    there = [(area, off) for area, off in zip(areas, nearest, strict=True) if off <= area.reach]
    lost = tuple(area for area, off in zip(areas, nearest, strict=True) if off > area.reach)
    if not there:
        return Way((), None, lost)
    radius = max(min(area.reach - off for area, off in there), _LEAST)
    before: list[Area | None] = [there[k - 1][0] if len(there) > 1 else None for k in range(len(there))]
    points = []
    for (area, off), other in zip(there, before, strict=True):
        came: Array = place if other is None else np.array((other.x, other.y))
        x, y = home.point(area, max(area.reach - radius, off), came)
        points.append((round(x, 3), round(y, 3), area.radius))
    return Way(tuple(points), round(radius, 3), lost)


class _Part(NamedTuple):
    """A connected part of a map that a pedestrian can reach.

    Attributes:
        map: map of the walls.
        labels: (rows, columns) number of the part that each cell belongs to; 0 if the cell belongs to no part.
        number: number of this part.
    """

    map: Map
    labels: Ints
    number: int

    @staticmethod
    def about(map: Map, place: Doubles, body: float) -> _Part:
        """Return the connected part of a map that contains the free cell nearest to a position."""
        labels = component_of(map, body)
        row, column = (int(v) for v in map.cell_of(place))
        if not labels[row, column] and labels.any():
            rows, columns = np.nonzero(labels)
            best = int(np.argmin(np.hypot(*(map.centre_of(rows, columns) - place).T)))
            row, column = int(rows[best]), int(columns[best])
        return _Part(map, labels, int(labels[row, column]))

    def has(self, point: Doubles) -> bool:
        """Return whether the part contains a point (2,)."""
        if not bool(self.map.contains(point)):
            return False
        row, column = (int(v) for v in self.map.cell_of(point))
        return bool(self.labels[row, column] == self.number != 0)

    def cells(self, area: Area) -> Doubles:
        """Return the centres (N, 2), m, of those cells of the part whose centres are in an area."""
        low, high = (self.map.cell_of(np.array([area.x + s * area.reach, area.y + s * area.reach])) for s in (-1.0, 1.0))
        row, column = (max(int(v), 0) for v in low)
        window = self.labels[row : max(int(high[0]) + 1, 0), column : max(int(high[1]) + 1, 0)]
        rows, columns = np.nonzero((window == self.number) & (window != 0))
        centres: Doubles = np.asarray(self.map.centre_of(rows + row, columns + column), np.float64).reshape(-1, 2)
        near: Doubles = centres[np.hypot(*(centres - area[:2]).T) <= area.reach]
        return near

    def nearest(self, area: Area) -> float:
        """Return the distance, m, from an area's centre to the nearest point of the area that is in this part: 0 if the centre is
        in the part, infinite if no point of the area is.
        """
        if self.has(np.array(area[:2])):
            return 0.0
        return float(np.hypot(*(self.cells(area) - area[:2]).T).min(initial=np.inf))

    def point(self, area: Area, room: float, came: Array) -> tuple[float, float]:
        """Return the position within ``room`` metres of an area's centre that is nearest to ``came``, the point from which the
        pedestrian comes.
        """
        centre = np.array(area[:2])
        ahead = came - centre
        far = float(np.hypot(*ahead))
        wanted = centre if far == 0.0 else centre + ahead * min(room / far, 1.0)
        if self.has(wanted):
            return float(wanted[0]), float(wanted[1])
        cells = self.cells(area)
        cells = cells[np.hypot(*(cells - centre).T) <= room + self.map.resolution]
        best = cells[int(np.argmin(np.hypot(*(cells - came).T)))]
        return float(best[0]), float(best[1])
