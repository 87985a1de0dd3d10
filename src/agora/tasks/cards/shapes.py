"""Maps for the cards; walls are filled boxes (x0, y0, x1, y1), m."""

from __future__ import annotations

import numpy as np

from agora.core.state import Doubles
from agora.maps.grid import Map

__all__ = ["corridor"]

WALL = 0.3
"""Thickness of outer walls, m."""

Bounds = tuple[float, float, float, float]


def box(x0: float, y0: float, x1: float, y1: float) -> Doubles:
    """Return the corners (4, 2) of a rectangle."""
    return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], np.float64)


def place(name: str, bounds: Bounds, *walls: Bounds) -> Map:
    """Return a map of a closed rectangular room with walls in it."""
    x0, y0, x1, y1 = bounds
    outer = [
        (x0 - WALL, y0 - WALL, x1 + WALL, y0),
        (x0 - WALL, y1, x1 + WALL, y1 + WALL),
        (x0 - WALL, y0, x0, y1),
        (x1, y0, x1 + WALL, y1),
    ]
    around = (x0 - WALL, y0 - WALL, x1 + WALL, y1 + WALL)
    return Map.from_shapes(polygons=[box(*w) for w in (*outer, *walls)], bounds=around, resolution=0.05, name=name)


def corridor(name: str, length: float, width: float) -> Map:
    """Return a corridor along x from (0, -width / 2) to (length, width / 2)."""
    return place(name, (0.0, -width / 2, length, width / 2))


def junction(name: str, arm: float, width: float, across: float, *, arms: str = "ewns") -> Map:
    """Return corridors that meet at (0, 0). The east and west arms have the width ``width``, the north and south arms have the
    width ``across``, and all arms have the length ``arm``, m.
    """
    a, b = across / 2, width / 2
    east, west, north, south = (arm if way in arms else side for way, side in zip("ewns", (a, a, b, b), strict=True))
    corners = [(-west, b, -a, north), (a, b, east, north), (-west, -south, -a, -b), (a, -south, east, -b)]
    walls = [c for c in corners if c[0] < c[2] and c[1] < c[3]]
    return place(name, (-west, -south, east, north), *walls)


def door(x: float, low: float, high: float, centre: float, width: float, thickness: float = 0.2) -> tuple[Bounds, Bounds]:
    """Return a wall at ``x`` from y ``low`` to ``high`` with an opening around ``centre``, as two boxes."""
    left, right = x - thickness / 2, x + thickness / 2
    return (left, low, right, centre - width / 2), (left, centre + width / 2, right, high)
