"""A crooked place for tests: rooms of cells, a segment, a disc, a concave polygon, and furniture at odd headings."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from agora.maps.furniture import Furniture
from agora.maps.grid import Map
from agora.maps.place import Place
from agora.maps.zones import Zone
from agora.testing.scenes import Move

FURNITURE = (
    Furniture("chair", 0.0, 3.0, 0.5),
    Furniture("table", 1.0, 3.7),
    Furniture("shelf", -1.5, 6.0, 2.0),
    Furniture("tree", 7.9, 7.4),
    Furniture("chair", 1.9, 3.4, 2.9),
)
CONCAVE = np.array([[5.0, 3.0], [8.0, 3.5], [8.5, 6.0], [6.5, 4.2], [5.2, 5.5]])


def rooms() -> Map:
    """Two rooms of 13 x 9 m, walls of 0.2 m, lower-left corner at (-3.2, 1.7)."""
    cells = np.zeros((90, 130), np.bool_)
    cells[:2] = cells[-2:] = True
    cells[:, :2] = cells[:, -2:] = True
    cells[2:40, 60:63] = cells[60:88, 60:63] = True
    cells[70:75, 100:108] = cells[75:80, 100:104] = True
    return Map("den", 0.1, (-3.2, 1.7), cells)


def furnished(*, exact: bool = False) -> Place:
    """The rooms with furniture, in the map as occupied cells or as exact shapes, and two zones."""
    m = rooms()
    if exact:
        polygons = tuple(outline for piece in FURNITURE for outline in piece.polygons())
        m = dataclasses.replace(m, polygons=polygons, discs=np.vstack([piece.discs() for piece in FURNITURE]))
    else:
        cells = m.occupied.copy()
        for piece in FURNITURE:
            cells |= _covered(m, piece)
        m = dataclasses.replace(m, occupied=cells)
    west = Zone("west", ("room", "waiting"), (np.array([[-3.0, 1.9], [2.8, 1.9], [2.8, 10.5], [-3.0, 10.5]]),))
    return Place(m, FURNITURE, (west, Zone.of("east", "room", [[3.1, 1.9], [9.6, 1.9], [9.6, 10.5], [3.1, 10.5]])))


def shaped() -> Place:
    """The rooms with a segment, a disc and a concave polygon, without furniture."""
    m = dataclasses.replace(rooms(), segments=[[-2.0, 8.0, 0.0, 9.4]], discs=[[1.0, 7.0, 0.3]], polygons=(CONCAVE,))
    return Place(m)


def _covered(m: Map, piece: Furniture) -> np.ndarray:
    """The cells that a piece of furniture covers at any of 7 x 7 points."""
    covered = np.zeros(m.shape, np.bool_)
    rows, columns = np.mgrid[: m.shape[0], : m.shape[1]]
    for dx in np.linspace(-0.499, 0.499, 7):
        for dy in np.linspace(-0.499, 0.499, 7):
            points = m.centre_of(rows + dy, columns + dx) - (piece.x, piece.y)
            reach = np.hypot(points[..., 0], points[..., 1]) < 2.0
            for outline in piece.polygons():
                inside = reach.copy()
                for a, b in zip(outline - (piece.x, piece.y), np.roll(outline, -1, axis=0) - (piece.x, piece.y), strict=True):
                    inside &= (b[0] - a[0]) * (points[..., 1] - a[1]) - (b[1] - a[1]) * (points[..., 0] - a[0]) > 0
                covered |= inside
            for x, y, radius in piece.discs():
                covered |= np.hypot(points[..., 0] + piece.x - x, points[..., 1] + piece.y - y) < radius
    return covered


def turned(piece: Furniture, x: float, y: float) -> tuple[float, float]:
    """A point of a piece's frame in the map frame."""
    c, s = math.cos(piece.heading), math.sin(piece.heading)
    return piece.x + c * x - s * y, piece.y + s * x + c * y


def moved(m: Map, move: Move) -> Map:
    """A map rotated by quarter turns, mirrored and shifted."""
    corners = move.points(np.array([m.origin, np.add(m.origin, m.size)]))
    columns, rows = np.rint(np.ptp(corners, axis=0) / m.resolution).astype(int)
    there = Map(m.name, m.resolution, tuple(corners.min(0)), np.zeros((rows, columns), np.bool_))
    cells = there.cell_of(move.points(m.centre_of(*np.indices(m.shape))))

    def grid(values):
        out = np.empty((rows, columns), values.dtype)
        out[cells] = values
        return out

    grids = {name: grid(value) for name in ("occupied", "unknown", "ground") if (value := getattr(m, name)) is not None}
    shapes = {
        "segments": move.points(m.segments.reshape(-1, 2, 2)).reshape(-1, 4),
        "discs": np.column_stack((move.points(m.discs[:, :2]), m.discs[:, 2])),
        "polygons": tuple(move.points(outline) for outline in m.polygons),
    }
    return dataclasses.replace(there, **grids, **shapes)
