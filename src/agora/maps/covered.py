"""The cells that rectangles, discs and furniture cover."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from agora.core.state import Bools, Doubles
from agora.maps.furniture import Furniture
from agora.maps.grid import Map

TINY = 1e-6  # cells


def cells_under(furniture: Iterable[Furniture], map: Map) -> Bools:
    """Return the cells (rows, columns) of a map that pieces of furniture touch."""
    covered = np.zeros(map.shape, np.bool_)
    for piece in furniture:
        for corners in piece.polygons():
            cover(covered, (corners - map.origin) / map.resolution)
        for disc in piece.discs():
            cover_disc(covered, (disc - (*map.origin, 0.0)) / map.resolution)
    return covered


def cover(occupied: Bools, corners: Doubles) -> None:
    """Fill every cell that a rectangle (4, 2) touches; coordinates are in cells. A cell and a rectangle touch unless a line
    parallel to a side of either separates them (separating-axis test).
    """
    low, high = corners.min(0) + TINY, corners.max(0) - TINY
    rows, columns = cut(low[1], high[1]), cut(low[0], high[0])
    window = occupied[rows, columns]
    y, x = np.ogrid[: window.shape[0], : window.shape[1]]
    parted = np.zeros(window.shape, np.bool_)
    for k in (0, 1):
        side = corners[k + 1] - corners[k]
        ux, uy = side / math.hypot(*side)
        ends = corners @ (ux, uy)
        along = (x + columns.start + 0.5) * ux + (y + rows.start + 0.5) * uy
        reach = 0.5 * (abs(ux) + abs(uy)) - TINY
        parted |= (along - reach >= ends.max()) | (along + reach <= ends.min())
    window |= ~parted


def cover_disc(occupied: Bools, disc: Doubles) -> None:
    """Fill every cell that a disc (x, y, radius) touches; coordinates are in cells."""
    cx, cy, radius = disc
    rows, columns = cut(cy - radius, cy + radius), cut(cx - radius, cx + radius)
    window = occupied[rows, columns]
    y, x = np.ogrid[: window.shape[0], : window.shape[1]]
    dx, dy = np.abs(x + columns.start + 0.5 - cx) - 0.5, np.abs(y + rows.start + 0.5 - cy) - 0.5
    window |= np.hypot(np.maximum(dx, 0.0), np.maximum(dy, 0.0)) < radius - TINY


def cut(low: float, high: float) -> slice:
    """Return the range of cells between two coordinates, given in cells."""
    return slice(max(math.floor(low), 0), max(math.floor(high) + 1, 0))
