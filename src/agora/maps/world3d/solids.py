"""The walls and furniture of a place as solids, from which all 3-D world files are written."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from agora.core.state import Bools, Doubles
from agora.errors import InputError
from agora.maps.furniture import Box, Colour, Cylinder, Furniture, model_of
from agora.maps.grid import Map
from agora.maps.place import Place
from agora.maps.world3d.rectangles import rectangles, run_count

__all__ = ["SolidGroup", "solids"]

PLASTER, FLOOR = (0.87, 0.85, 0.81), (0.62, 0.62, 0.60)
_SAME = 1e-6  # m
_OVERLAP = 1e-7  # cells


@dataclass(frozen=True, eq=False)
class Prism:
    """An upright prism that stands on its bottom face.

    Attributes:
        outline: (V, 2) corners of the bottom face in the body's frame, counter-clockwise, m.
        z: height of the bottom face, m.
        height: height of the prism, m.
        colour: red, green, blue in [0, 1].
    """

    outline: Doubles
    z: float
    height: float
    colour: Colour = PLASTER


@dataclass(frozen=True)
class SolidGroup:
    """Solids that belong together.

    Attributes:
        name: name of the group, unique within the world.
        x: pose in the map frame, x, m.
        y: pose in the map frame, y, m.
        heading: pose in the map frame, heading, rad.
        parts: solids in the group's own frame.
        model: the furniture model that the solids represent; None for walls.
    """

    name: str
    x: float
    y: float
    heading: float
    parts: tuple[Box | Cylinder | Prism, ...]
    model: str | None = None


@dataclass(frozen=True)
class Solids:
    """A place in three dimensions, with z pointing up from the floor.

    Attributes:
        name: name of the world.
        bounds: x0, y0, x1, y1 of the floor, m.
        walls: bodies of the walls.
        furniture: bodies of the furniture.
        boxes: number of boxes that replaced the occupied cells.
        runs: number of boxes if cells were merged along only one axis.
    """

    name: str
    bounds: tuple[float, float, float, float]
    walls: tuple[SolidGroup, ...]
    furniture: tuple[SolidGroup, ...]
    boxes: int
    runs: int

    @property
    def bodies(self) -> tuple[SolidGroup, ...]:
        """Walls and furniture."""
        return self.walls + self.furniture


def solids(place: Place, *, height: float = 2.5, thickness: float = 0.05, name: str = "") -> Solids:
    """Return a place in three dimensions.

    Occupied cells become the fewest possible boxes, segments become thin boxes, discs become cylinders, and polygons become boxes
    or prisms. The walls do not include the place's furniture: cells that a piece covers at least in part, and shapes that are
    outlines of a piece, are omitted.

    Args:
        place: map and furniture.
        height: height of walls, m.
        thickness: thickness of segments, half of it on either side, m.
        name: name of the world; the map's name if empty.

    Raises:
        InputError: a height or thickness is not positive, a furniture model is unknown, or the edges of a polygon cross.
    """
    for key, value in (("height", height), ("thickness", thickness)):
        if not (math.isfinite(value) and value > 0):
            raise InputError(f"{key}: expected a number above 0, got {value}")
    m = place.map
    cells = wall_cells(place)
    boxes = rectangles(cells)
    walls = _cells(m, boxes, height) + _shapes(place, height, thickness)
    numbers: Counter[str] = Counter()
    furniture = []
    for piece in place.furniture:
        furniture.append(_piece(piece, numbers[piece.model]))
        numbers[piece.model] += 1
    corner = (m.origin[0] + m.size[0], m.origin[1] + m.size[1])
    return Solids(name or m.name, (*m.origin, *corner), tuple(walls), tuple(furniture), len(boxes), run_count(cells))


def wall_cells(place: Place) -> Bools:
    """Return the occupied cells (rows, columns) that are not covered by furniture, not even in part."""
    cells = place.map.occupied.copy()
    for piece in place.furniture:
        for x, y, radius in piece.discs():
            _clear(cells, place.map, np.array([[x - radius, y - radius], [x + radius, y + radius]]), (x, y, radius))
        for outline in piece.polygons():
            _clear(cells, place.map, outline, None)
    return cells


def _clear(cells: Bools, m: Map, outline: Doubles, disc: tuple[float, float, float] | None) -> None:
    """Clear the cells whose squares overlap a convex outline (V, 2), or the disc that it encloses."""
    low = np.clip(np.floor((outline.min(0) - m.origin) / m.resolution), 0, m.shape[::-1]).astype(int)
    high = np.clip(np.ceil((outline.max(0) - m.origin) / m.resolution), 0, m.shape[::-1]).astype(int)
    rows, columns = np.mgrid[low[1] : high[1], low[0] : high[0]]
    centre = m.centre_of(rows, columns)
    half, slack = 0.5 * m.resolution, _OVERLAP * m.resolution
    if disc is not None:
        beyond = np.maximum(np.abs(centre - disc[:2]) - half, 0.0)
        covered = np.hypot(beyond[..., 0], beyond[..., 1]) < disc[2] - slack
    else:
        covered = np.ones(rows.shape, np.bool_)
        edges = np.roll(outline, -1, axis=0) - outline
        for normal in np.vstack([np.eye(2), np.column_stack([edges[:, 1], -edges[:, 0]]) / np.hypot(*edges.T)[:, None]]):
            along, reach = centre @ normal, half * np.abs(normal).sum()
            extent = outline @ normal
            covered &= (along + reach > extent.min() + slack) & (along - reach < extent.max() - slack)
    cells[low[1] : high[1], low[0] : high[0]] &= ~covered


def _cells(m: Map, boxes: np.ndarray, height: float) -> list[SolidGroup]:
    if not len(boxes):
        return []
    row, column, rows, columns = boxes.T
    x = m.origin[0] + (column + 0.5 * columns) * m.resolution
    y = m.origin[1] + (row + 0.5 * rows) * m.resolution
    sizes = zip(x.tolist(), y.tolist(), (columns * m.resolution).tolist(), (rows * m.resolution).tolist(), strict=True)
    return [SolidGroup("cells", 0.0, 0.0, 0.0, tuple(Box(x, y, 0.0, dx, dy, height, PLASTER) for x, y, dx, dy in sizes))]


def _shapes(place: Place, height: float, thickness: float) -> list[SolidGroup]:
    """Return the solids for the map's segments, discs and polygons that are not outlines of furniture."""
    walls = []
    for k, (x0, y0, x1, y1) in enumerate(place.map.segments.tolist()):
        length = math.hypot(x1 - x0, y1 - y0)
        box = Box(0.0, 0.0, 0.0, max(length, _SAME), thickness, height, PLASTER)
        walls.append(SolidGroup(f"segment_{k}", (x0 + x1) / 2, (y0 + y1) / 2, math.atan2(y1 - y0, x1 - x0), (box,)))
    polygons, discs = place.shapes_of_walls()
    for k, (x, y, radius) in enumerate(discs.tolist()):
        walls.append(SolidGroup(f"disc_{k}", x, y, 0.0, (Cylinder(0.0, 0.0, 0.0, radius, height, PLASTER),)))
    return walls + [_polygon(f"polygon_{k}", polygon, height) for k, polygon in enumerate(polygons)]


def _polygon(name: str, polygon: Doubles, height: float) -> SolidGroup:
    """Return a box if the polygon is a rectangle, otherwise a prism; its frame is at the mean of the corners."""
    x, y = polygon.T
    if np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)) < 0:
        polygon = polygon[::-1]
    middle = polygon.mean(axis=0)
    x0, y0 = middle.tolist()
    edges = np.roll(polygon, -1, axis=0) - polygon
    if len(polygon) == 4 and np.abs(edges[0] + edges[2]).max() < _SAME and abs(edges[0] @ edges[1]) < _SAME:
        length, width = np.hypot(*edges[0]), np.hypot(*edges[1])
        heading = math.atan2(edges[0, 1], edges[0, 0])
        return SolidGroup(name, x0, y0, heading, (Box(0.0, 0.0, 0.0, float(length), float(width), height, PLASTER),))
    return SolidGroup(name, x0, y0, 0.0, (Prism(polygon - middle, 0.0, height),))


def _piece(piece: Furniture, number: int) -> SolidGroup:
    return SolidGroup(f"{piece.model}_{number}", piece.x, piece.y, piece.heading, model_of(piece.model).parts, piece.model)
