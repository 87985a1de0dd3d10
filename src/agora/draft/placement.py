"""Random points in free space, uniformly distributed, with the requested clearance and connected to each other. If there is no
room, an error is raised.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from agora.core.state import Array, Bools, Doubles, Ints
from agora.errors import InputError, PlacementError
from agora.maps.distance import edges_of, gap_to_shapes, inside_all
from agora.maps.grid import Map
from agora.seeds import Stream

_PADDING = 0.01  # m, of `agora.costmap.window.Window`
_ROUNDED = 1e-5  # m


@functools.lru_cache(maxsize=16)
def component_of(map: Map, clearance: float, *, inside: bool = False) -> Ints:
    """Return the connected component (rows, columns) of each cell for a disc that moves between cells: 1 is the largest component,
    and 0 means that the disc does not fit.

    A disc fits in a known cell whose clearance exceeds its radius plus half a cell. It moves between cells that share a side, which
    is equivalent to A* with diagonal steps that do not cut corners. Components of equal size are numbered in the order of their
    first cells.

    Args:
        map: map of the surroundings.
        clearance: radius of the disc, m.
        inside: whether the disc must stay on the map, as robots must; pedestrians may extend over the border.
    """
    from scipy.ndimage import label

    field = map.clearance_inside(clearance) if inside else map.clearance
    if inside and field is map.clearance:
        return component_of(map, clearance)
    free = field > np.float32(max(clearance, 0.5 * map.resolution))
    if map.unknown is not None:
        free &= ~map.unknown
    labels, count = label(free)
    order = np.argsort(-np.bincount(labels.ravel(), minlength=count + 1)[1:], kind="stable")
    number = np.zeros(count + 1, np.int32)
    number[order + 1] = np.arange(1, count + 1)
    result: Ints = number[labels]
    result.flags.writeable = False
    return result


def room_at_border(radius: float, heading: float | None = None) -> float:
    """Return the minimum distance of a robot's position from the border of the map, m.

    Planners do not start driving if the footprint, padded by 0.01 m along both of the robot's axes, extends over the border.

    Args:
        radius: radius of the robot, m.
        heading: heading at a start pose, rad; None for a goal.
    """
    if heading is None:
        return radius - _ROUNDED
    return radius + _PADDING * (abs(math.cos(heading)) + abs(math.sin(heading))) + _ROUNDED


@functools.lru_cache(maxsize=16)
def outside_of(map: Map, robots: tuple[tuple[float, float], ...] = ()) -> Bools:
    """Return which cells (rows, columns) are outside the walls, i.e. in free space that reaches the edge of the map.

    If robots drive outdoors, no cell counts as outside. Robots drive outdoors if the largest free space reaches the edge of the
    map, like a street between houses, and no robot is in a free space that does not reach the edge.

    Args:
        map: map of the surroundings.
        robots: starts and goals of robots, m.
    """
    parts = component_of(map, 0.0)
    at_edge = {int(part) for side in (parts[0], parts[-1], parts[:, 0], parts[:, -1]) for part in np.unique(side)} - {0}
    on_map = [map.cell_of(np.array(point)) for point in robots if map.contains(np.array(point))]
    main = {1, *(int(parts[cell]) for cell in on_map)} - {0}
    cells = np.zeros(map.shape, np.bool_) if main <= at_edge else np.isin(parts, sorted(at_edge))
    cells.flags.writeable = False
    return cells


def place(
    stream: Stream,
    map: Map,
    clearance: float,
    count: int,
    *,
    apart: float = 0.0,
    keep_out: ArrayLike | None = None,
    region: ArrayLike | Sequence[ArrayLike] | None = None,
    forbidden: Sequence[Doubles] = (),
    connected_to: ArrayLike | None = None,
    passage: float | None = None,
    attempts: int = 1000,
) -> Doubles:
    """Return ``count`` points (count, 2), m, sampled one after another, uniformly from the area that the conditions allow.

    Every point is at least ``clearance`` from the border of the map and from every occupied or unknown cell (the whole square, not
    its centre), segment, polygon and disc. The value of the clearance field at the point is also at least ``clearance``. The cells
    of all points are in the same connected component for a disc of radius ``passage`` that stays on the map, so a global planner
    finds a path between any two points.

    Args:
        stream: stream of random numbers.
        map: map of the surroundings.
        clearance: minimum distance to walls, m.
        count: number of points.
        apart: minimum distance between any two of the points, m.
        keep_out: (K, 3) discs as x, y, radius, m, that must not contain any point.
        region: polygon (V, 2), or box given by two opposite corners (2, 2), that must contain the points; if several are given,
            each point must be in one of them.
        forbidden: polygons (V, 2) from which the points must also keep the clearance.
        connected_to: (2,) point whose connected component is used; by default, the largest component in the region.
        passage: radius of the disc that must be able to move between the points, m; at most ``clearance``, which is also the
            default.
        attempts: maximum number of draws per point.

    Raises:
        PlacementError: there is no room, or too little to be found by sampling; the message gives the request and the free space.
        InputError: an argument is invalid.
    """
    passage = clearance if passage is None else passage
    if not (0 <= passage <= clearance < math.inf and count >= 0 and apart >= 0 and attempts > 0):
        raise InputError(
            f"placement: expected 0 <= passage <= clearance, count >= 0, apart >= 0 and attempts > 0, "
            f"got passage {passage}, clearance {clearance}, count {count}, apart {apart}, attempts {attempts}"
        )
    discs = np.zeros((0, 3)) if keep_out is None else np.asarray(keep_out, np.float64).reshape(-1, 3)
    areas = _areas(region)
    cells = _candidates(map, clearance, passage, areas, connected_to)
    parts = component_of(map, passage, inside=True)
    part = _main_part(map, parts, cells, connected_to)
    limit = attempts * count if len(cells) else 0
    points: list[Doubles] = []
    taken = _Taken(apart)
    while len(points) < count and limit > 0:
        batch = min(max(64, 2 * count), 4096)
        limit -= batch
        drawn = _draw(stream, map, cells, batch)
        joined = (parts[map.cell_of(drawn)] == part) | (part == 0)
        for point in drawn[joined & have_room(map, drawn, clearance, areas, forbidden)]:
            if len(points) == count:
                break
            if (np.hypot(*(discs[:, :2] - point).T) >= discs[:, 2]).all() and taken.take(point):
                points.append(point)
    if len(points) < count:
        asked = _asked(count, clearance, apart, len(discs), bool(areas), len(forbidden))
        area = f"{len(cells) * map.resolution**2:.4g} of {map.size[0] * map.size[1]:.4g} m2"
        unknown = " (all cells are unknown)" * (map.unknown is not None and bool(map.unknown.all()))
        room = f"at most {area} have room{unknown}"
        raise PlacementError(f"no room for {asked} in map {map.name!r}: placed {len(points)}; {room}")
    return np.array(points, np.float64).reshape(-1, 2)


class _Taken:
    """Points that keep a given distance from each other, m. They are sorted into grid squares, so that a new point is compared only
    with nearby points.
    """

    def __init__(self, apart: float) -> None:
        self._apart, self._size = apart, 1.001 * apart
        self._squares: dict[tuple[int, int], list[Doubles]] = {}

    def take(self, point: Doubles) -> bool:
        """Add a point (2,) if it is far enough from all others; return whether it was added."""
        if self._apart == 0.0:
            return True
        column, row = (int(cell) for cell in point // self._size)
        squares = ((column + i, row + j) for i in (-1, 0, 1) for j in (-1, 0, 1))
        near = [other for square in squares for other in self._squares.get(square, ())]
        free = not near or bool((np.hypot(*(np.array(near) - point).T) >= self._apart).all())
        if free:
            self._squares.setdefault((column, row), []).append(point)
        return free


def _asked(count: int, clearance: float, apart: float, discs: int, region: bool, forbidden: int) -> str:
    """Return a description of the request."""
    parts = [f"{count} points with {clearance:g} m clearance"]
    parts += [f"{apart:g} m apart"] * bool(apart) + [f"outside {discs} discs"] * bool(discs)
    return ", ".join(parts + ["in the region"] * region + [f"outside {forbidden} forbidden zones"] * bool(forbidden))


def _draw(stream: Stream, map: Map, cells: Array, count: int) -> Doubles:
    """Sample points (count, 2) uniformly from cells, which are given by their indices."""
    draws = stream.uniform(shape=(count, 3))
    chosen = cells[np.minimum((draws[:, 0] * len(cells)).astype(np.int64), len(cells) - 1)]
    row, column = np.divmod(chosen, map.shape[1])
    corner = np.stack((column, row), axis=1)
    return np.asarray((corner + draws[:, 1:]) * map.resolution + map.origin)


def _areas(region: ArrayLike | Sequence[ArrayLike] | None) -> list[Doubles]:
    """Return the region as polygons."""
    if region is None:
        return []
    if isinstance(region, list | tuple) and region and np.ndim(region[0]) == 2:
        return [_corners(area) for area in region]
    return [_corners(region)]


def _corners(region: ArrayLike | Sequence[ArrayLike]) -> Doubles:
    """Return one region as a polygon."""
    corners = np.array(region, np.float64)
    if corners.ndim != 2 or corners.shape[1] != 2 or len(corners) < 2 or not np.isfinite(corners).all():
        raise InputError(f"region: expected a polygon (V, 2) or two opposite corners (2, 2), got an array of shape {corners.shape}")
    if len(corners) == 2:
        (x0, y0), (x1, y1) = corners
        corners = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
    return corners


def _candidates(map: Map, clearance: float, passage: float, areas: list[Doubles], connected_to: ArrayLike | None) -> Array:
    """Return the indices of the cells of one component, within the areas' bounding boxes, that may contain a point with the
    required clearance.
    """
    number = 0
    if connected_to is not None:
        point = np.asarray(connected_to, np.float64)[:2]
        row, column = map.cell_of(point)
        number = int(component_of(map, passage)[row, column]) if map.contains(point) else 0
        if number == 0:
            raise PlacementError(
                f"map {map.name!r}: no free space is connected to {point.tolist()}: "
                f"a disc of radius {passage:g} m does not fit there"
            )
    in_cells = [(area - map.origin) / map.resolution for area in areas]
    boxes = tuple((*area.min(0).tolist(), *area.max(0).tolist()) for area in in_cells)
    return _cells(map, clearance, passage, number, boxes)


def _main_part(map: Map, parts: Ints, cells: Array, connected_to: ArrayLike | None) -> int:
    """Return the number of a component for a disc that stays on the map: the component of the point ``connected_to``, or the
    largest component among the cells; 0 if there is none.
    """
    if connected_to is not None:
        return int(parts[map.cell_of(np.asarray(connected_to, np.float64)[:2])])
    among = parts.reshape(-1)[cells]
    return int(np.argmax(np.bincount(among[among > 0], minlength=1)))


@functools.lru_cache(maxsize=64)
def _cells(map: Map, clearance: float, passage: float, number: int, boxes: tuple[tuple[float, ...], ...] = ()) -> Array:
    """Return the indices of the cells of component ``number`` that may contain a point; 0 selects the largest component in the
    boxes, which are given in cells.
    """
    labels = component_of(map, passage)
    near = (labels > 0) & (map.clearance > clearance - math.sqrt(0.5) * map.resolution)
    if boxes:
        rows, columns = np.ogrid[: map.shape[0], : map.shape[1]]
        boxed = np.zeros(map.shape, np.bool_)
        for x0, y0, x1, y1 in boxes:
            boxed |= (rows + 1 >= y0) & (rows <= y1) & (columns + 1 >= x0) & (columns <= x1)
        near &= boxed
    cells = np.flatnonzero(near & (labels == (number or int(np.argmax(np.bincount(labels[near], minlength=2))))))
    cells.flags.writeable = False
    return cells


def have_room(map: Map, points: Doubles, clearance: float, areas: list[Doubles], forbidden: Sequence[Doubles]) -> Bools:
    """Return which points are in one of the areas and keep the clearance to all static obstacles and forbidden zones."""
    allowed = np.asarray(map.margin(points) >= clearance)
    if areas:
        allowed &= np.any([inside_all(area, points) for area in areas], axis=0)
    if forbidden:
        gap = gap_to_shapes(points, edges_of(forbidden), np.zeros((0, 3)), tuple(forbidden))
        allowed &= (gap > 0) & (gap >= clearance)
    kept = np.flatnonzero(allowed)
    room = map.gap(points[kept], clearance, unknown=True) >= clearance
    room &= map.clearance_at(points[kept]) >= np.float32(clearance)
    allowed[kept] = room
    return allowed
