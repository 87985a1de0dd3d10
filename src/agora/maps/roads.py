"""The roads of a map: the shortest paths around all obstacles, between any two points, for a walking disc.

A few hundred places together see all the free space. Two places that see each other are joined by a straight road, whose cost is
its length, plus a surcharge where it is narrow. The shortest paths between all places are computed once per map. A path from one
point to another is then found via the places that each of the two points sees (`agora.engine.routes`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from agora.core.slots import Slots
from agora.core.state import Array, Bools, Floats, Ints
from agora.maps.grid import Map
from agora.maps.road_kernels import SIGHT, borders, cover, join, look
from agora.maps.store import build_store

SEEN = 6
"""Number of places stored for each cell, which are the nearest visible places."""

_CELL = 0.2  # length of a cell of the roads' own grid, m
_WIDE = np.float32(1.2)  # clearance above which all cells are equally good places, m
_NECK = np.float32(0.05)  # m, by which a narrow place is narrower than 0.4 m along it, and wider than 0.4 m across it
_ROUND = 0.15  # m, extra distance that paths keep from corners
_BEND = 0.6  # of the Laplacian of the distance to a point, above which an obstacle has a corner
_BEFORE = 3  # number of cells from a narrow place to the squares before and behind it
_INFINITE = np.float32(np.inf)
_ALIKE = np.float32(1e-3)  # maximum difference that rounding may cause between equal distances, m
_HOP = 0.02  # cost of every road on a path, in addition to the road's length, m
_STEP_OF_WIDTH = 0.01  # as a fraction of `_WIDE`
_CLASS = 0.05  # radii are rounded up to a multiple of this, m
_REACH = 1.5  # maximum distance from a point in an obstacle to the free space that is used instead, m


@dataclass(frozen=True, eq=False)
class Roads:
    """The roads of one map for a disc of one radius, with L places and H x W cells in the roads' own grid.

    Attributes:
        radius: radius of the disc, m.
        place: (L, 2) places, m.
        cost: (L, L) cost of the cheapest path between two places, m: the path's length, plus a surcharge where it is narrow;
            infinite if there is no path.
        after: (L, L) for each pair of places, the number of the next place on the path from the first to the second; -1 if there is
            no path.
        origin: (2,) lower-left corner of the grid, m.
        cell: length of a side of a cell, m.
        point: (H, W, 2) the point of each cell that is farthest from obstacles, m.
        nearest: (H, W) number, row * W + column, of the nearest cell in which the disc fits; -1 if it fits nowhere.
        seen: (H, W, SEEN) places visible from the cell's point, nearest first, padded with -1.
    """

    radius: float
    place: Floats
    cost: Floats
    after: Ints
    origin: Floats
    cell: float
    point: Floats
    nearest: Ints
    seen: Ints

    def cell_of(self, x: float, y: float) -> int:
        """Return the number of the nearest cell in which the disc fits; -1 if it fits nowhere."""
        rows, columns = self.nearest.shape
        column = min(max(int((x - self.origin[0]) / self.cell), 0), columns - 1)
        row = min(max(int((y - self.origin[1]) / self.cell), 0), rows - 1)
        return int(self.nearest[row, column])

    def reaches(self, start: ArrayLike, end: ArrayLike) -> bool:
        """Return whether a path leads from the vicinity of one point (2,) to the vicinity of another; points are in metres.

        If the disc does not fit at a point, the nearest point where it fits is used, at most `_REACH` m away.
        """
        ends = []
        for x, y in np.array([start, end], np.float64):
            cell = self.cell_of(x, y)
            if cell < 0:
                return False
            px, py = self.point.reshape(-1, 2)[cell]
            if math.hypot(px - x, py - y) > _REACH + self.radius:
                return False
            ends.append([k for k in self.seen.reshape(-1, SEEN)[cell] if k >= 0])
        return any(np.isfinite(self.cost[a, b]) for a in ends[0] for b in ends[1])


class RoadArrays(NamedTuple):
    """The roads of several maps and radii in flat arrays, for kernels; Q road networks, one per map and radius.

    Attributes:
        place_start: (Q,) index of each network's first place.
        pair_start: (Q,) index of each network's first element in ``cost`` and ``after``.
        places: (Q,) number of places, L.
        cell_start: (Q,) index of each network's first cell.
        rows: (Q,) number of rows in the grid.
        columns: (Q,) number of columns in the grid.
        origin_x: (Q,) lower-left corner of the grid, x, m.
        origin_y: (Q,) lower-left corner of the grid, y, m.
        cell: (Q,) length of a side of a cell, m.
        place_x: x of all places, m.
        place_y: y of all places, m.
        cost: costs of the cheapest paths between places, as in `Roads`.
        after: next places on these paths, as in `Roads`.
        point_x: x of the points of all cells, m.
        point_y: y of the points of all cells, m.
        nearest: for each cell, the number of the nearest cell in which the disc fits, as in `Roads`.
        seen: (cells, SEEN) visible places, as in `Roads`.
    """

    place_start: Array
    pair_start: Array
    places: Ints
    cell_start: Array
    rows: Ints
    columns: Ints
    origin_x: Floats
    origin_y: Floats
    cell: Floats
    place_x: Floats
    place_y: Floats
    cost: Floats
    after: Ints
    point_x: Floats
    point_y: Floats
    nearest: Ints
    seen: Ints


def radius_class(radius: float) -> float:
    """Return the radius for which roads are computed for pedestrians with the given radius, m."""
    return max(math.ceil(radius / _CLASS - 1e-4), 1) * _CLASS


def roads_of(map: Map, radius: float) -> Roads | None:
    """Return the roads of a map for a disc of a given radius, m; None if there are no obstacles to walk around. The map caches the
    roads.

    Args:
        map: map of the surroundings.
        radius: radius of the disc, as returned by `radius_class`, m.
    """
    if not map.has_shapes and not map.occupied.any():
        return None
    if radius not in map.roads:
        map.roads[radius] = _find(map, radius)
    found: Roads = map.roads[radius]
    return found


def _find(map: Map, radius: float) -> Roads:
    grid = _Grid.of(map)
    point, width = _points(map, grid)
    rows, columns = width.shape
    free = width.ravel() >= radius - _ALIKE
    necks, corners = _necks(width).ravel(), _corners(map, grid, radius).ravel()
    order, rank = _in_order(width, np.flatnonzero(free), necks, corners)
    store, flat, least = build_store([map], [0]), point.reshape(-1, 2), np.float32(radius - _ALIKE)
    reach = math.ceil(float(SIGHT) / grid.cell)
    owner = np.empty(rows * columns, np.int32)
    chosen = np.zeros(len(order), np.int32)
    count = cover(store, flat, rows, columns, order, rank, necks | corners, least, reach, owner, chosen)
    cells = _with_borders(store, flat, width.ravel(), rows, columns, least, owner, chosen[:count])
    place = np.ascontiguousarray(flat[cells])
    straight = np.full((len(cells), len(cells)), np.inf, np.float32)
    join(store, place, least, straight)
    cost, after = _cheapest(straight)
    seen = np.full((rows * columns, SEEN), -1, np.int32)
    look(store, flat, np.flatnonzero(free).astype(np.int32), place, least, *_about(flat, place), seen)
    nearest = _nearest(free.reshape(rows, columns))
    return Roads(radius, place, cost, after, grid.origin, grid.cell, point, nearest, seen.reshape(rows, columns, SEEN))


@dataclass(frozen=True)
class _Grid:
    """The grid of the roads: squares of ``step`` cells of the map. The grid extends beyond the map equally far on opposite sides,
    by half a cell if needed, so that rotating or mirroring the map rotates or mirrors the grid with it.

    Attributes:
        step: number of map cells along a side of a square.
        shape: rows and columns of squares.
        over: number of cells by which the grid extends beyond the map on each side, in rows and columns.
        origin: (2,) lower-left corner, m.
        cell: length of a side of a square, m.
    """

    step: int
    shape: tuple[int, int]
    over: tuple[float, float]
    origin: Floats
    cell: float

    @staticmethod
    def of(map: Map) -> _Grid:
        """Return the grid for a map."""
        step = max(1, round(_CELL / map.resolution))
        rows, columns = (-(-n // step) for n in map.shape)
        over = (rows * step - map.shape[0]) / 2, (columns * step - map.shape[1]) / 2
        origin = np.array(map.origin) - np.array(over[::-1]) * map.resolution
        return _Grid(step, (rows, columns), over, origin.astype(np.float32), step * map.resolution)

    def blocks(self, cells: Array, beyond: Any) -> Array:
        """Return the map cells (rows, columns) in each square, as (H, W, R, C), including the edges of the square; ``beyond``
        outside the map.
        """
        sizes = [self.step + round(2 * over) % 2 for over in self.over]
        first = [math.ceil(over) for over in self.over]
        ends = [(n - 1) * self.step + size for n, size in zip(self.shape, sizes, strict=True)]
        room = [(before, end - before - n) for before, end, n in zip(first, ends, cells.shape, strict=True)]
        wide = np.pad(cells, room, constant_values=beyond)
        found: Array = np.lib.stride_tricks.sliding_window_view(wide, sizes)[:: self.step, :: self.step]
        return found


def _points(map: Map, grid: _Grid) -> tuple[Floats, Floats]:
    """Return, for each square of the grid, its point (H, W, 2) farthest from obstacles, m, and that point's distance (H, W) from
    them, m.

    Of equally distant points, the one nearest to the centre of the square is chosen; if several are equally near, their mean is
    used.
    """
    known = map.clearance if map.unknown is None else np.where(map.unknown, np.float32(-1.0), map.clearance)
    blocks = grid.blocks(known, np.float32(-1.0))
    row, column = (axis - (n - 1) / 2 for axis, n in zip(np.indices(blocks.shape[2:]), blocks.shape[2:], strict=True))
    worth = np.minimum(blocks, _WIDE) - np.float32(1e-3) * np.hypot(row, column).astype(np.float32)
    alike = worth >= worth.max((2, 3), keepdims=True) - _ALIKE
    count = alike.sum((2, 3))
    aside = np.stack([(alike * column).sum((2, 3)), (alike * row).sum((2, 3))], -1) / count[..., None]
    y, x = (np.arange(n) + 0.5 for n in grid.shape)
    middle = np.stack(np.meshgrid(x, y), -1) * grid.step - grid.over[::-1]
    point = (middle + aside) * map.resolution + map.origin
    best = np.where(alike, blocks, -1.0).max((2, 3))
    width = np.where((count == 1) | (best < 0.0), best, np.minimum(map.clearance_at(point), best))
    return point.astype(np.float32), width.astype(np.float32)


def _in_order(width: Floats, free: Array, necks: Bools, corners: Bools) -> tuple[Ints, Ints]:
    """Return the numbers of the free squares in the order in which they become places, and the rank of each.

    Narrow places come first, then corners, then the widest squares. Among squares of equal width, the nearest to the centre of the
    map comes first. Squares at the same distance have the same rank. Therefore, squares that are exchanged by a reflection of the
    map or a rotation about its centre have the same rank.
    """
    rows, columns = width.shape
    row, column = np.divmod(free.astype(np.int64), columns)
    far = (2 * row + 1 - rows) ** 2 + (2 * column + 1 - columns) ** 2
    first = np.select([necks[free], corners[free]], [9.0, 2.0], np.minimum(width.ravel()[free], _WIDE) / _WIDE)
    worth = np.round(first / _STEP_OF_WIDTH).astype(np.int64)
    order = np.lexsort((far, -worth))
    differs = (np.diff(worth[order]) != 0) | (np.diff(far[order]) != 0)
    rank = np.concatenate([[0], np.cumsum(differs)])[: len(order)]
    return free[order].astype(np.int32), rank.astype(np.int32)


def _necks(width: Floats) -> Bools:
    """Return which squares (H, W) are in the middle of a narrow place, i.e. narrower than the squares along it and wider than the
    squares across it. The squares directly before and behind are included, so that paths lead through the middle.
    """
    found = np.zeros(width.shape, np.bool_)
    for (ar, ac), (br, bc) in (((0, 1), (1, 0)), ((1, 0), (0, 1)), ((1, 1), (1, -1)), ((1, -1), (1, 1))):
        along = [_beside(width, sign * far * ar, sign * far * ac) for sign in (1, -1) for far in (1, 2)]
        across = [_beside(width, sign * far * br, sign * far * bc) for sign in (1, -1) for far in (1, 2)]
        neck = (
            np.logical_and.reduce([width <= other + _ALIKE for other in along])
            & np.logical_and.reduce([width >= other - _ALIKE for other in across])
            & (width < np.minimum(along[1], along[3]) - _NECK)
            & (width > np.maximum(across[1], across[3]) + _NECK)
            & (width < _WIDE)
        )
        ends = [_beside(neck, sign * _BEFORE * ar, sign * _BEFORE * ac) for sign in (1, -1)]
        found |= neck | (ends[0] > 0) | (ends[1] > 0)
    return found


def _corners(map: Map, grid: _Grid, radius: float) -> Bools:
    """Return which squares (H, W) are near a corner of an obstacle, where the shortest paths bend.

    Near a corner, the distance to obstacles is the distance to a point, whose Laplacian is 1 / distance. Near a straight wall, the
    Laplacian is 0.
    """
    field, far = map.clearance.astype(np.float64), max(1, round(_ROUND / map.resolution))
    around = np.pad(field, far, mode="edge")
    rows, columns = field.shape
    beside = [around[far + r : far + r + rows, far + c : far + c + columns] for r, c in ((far, 0), (-far, 0), (0, far), (0, -far))]
    bend = (sum(beside) - 4.0 * field) / (far * map.resolution) ** 2
    nearest = radius + _ROUND - _ALIKE
    ring = (field >= nearest) & (field < nearest + grid.cell)
    return np.asarray(grid.blocks(ring & (bend * field > _BEND), False).any((2, 3)))


def _beside(grid: Array, row: int, column: int) -> Floats:
    """Return the values of a grid shifted by (row, column) cells; -1 beyond its border."""
    far = max(abs(row), abs(column))
    around = np.pad(grid.astype(np.float32), far, constant_values=-1.0)
    rows, columns = grid.shape
    return around[far + row : far + row + rows, far + column : far + column + columns]


def _nearest(free: Bools) -> Ints:
    """Return, for each cell (H, W), the number of the nearest free cell; -1 if no cell is free."""
    from scipy.ndimage import distance_transform_edt

    if not free.any():
        return np.full(free.shape, -1, np.int32)
    row, column = distance_transform_edt(~free, return_distances=False, return_indices=True)
    return np.asarray(row * free.shape[1] + column, np.int32)


def _cheapest(straight: Floats) -> tuple[Floats, Ints]:
    """Return the costs of the cheapest paths (L, L) and, for each path, the number of its second place, given the costs of the
    straight roads (L, L). A straight road is preferred to two roads via a place on it.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    count = len(straight)
    if count == 0:
        return straight, np.zeros((0, 0), np.int32)
    rows, columns = np.nonzero(np.isfinite(straight))
    graph = csr_array((straight[rows, columns].astype(np.float64) + _HOP, (rows, columns)), shape=(count, count))
    cost, before = dijkstra(graph, return_predecessors=True)
    after = np.where(before < 0, -1, before).T.astype(np.int32)  # roads can be used in both directions
    return cost.astype(np.float32), np.ascontiguousarray(after)


def _about(point: Floats, place: Floats) -> tuple[Ints, Ints, int]:
    """Divide the area of all points into squares with sides of `SIGHT`, and list the places (L, 2) within `SIGHT` of each square,
    in the form that `look` takes.

    Return the start of each square's entries, the numbers of the places in ascending order, and the number of squares per row.
    """
    low = point.min(0)
    columns, rows = (int(n) + 1 for n in (point.max(0) - low) / SIGHT)
    square = ((place - low) / SIGHT).astype(np.int32)
    x, y = (axis.ravel()[:, None] for axis in np.meshgrid(np.arange(columns), np.arange(rows)))
    beside = (np.abs(square[:, 0] - x) <= 1) & (np.abs(square[:, 1] - y) <= 1)
    start = np.concatenate([[0], np.cumsum(beside.sum(1))]).astype(np.int32)
    return start, np.nonzero(beside)[1].astype(np.int32), columns


def _with_borders(
    maps: object, point: Floats, width: Floats, rows: int, columns: int, least: np.float32, owner: Ints, chosen: Ints
) -> Ints:
    """Return the chosen cells and, for every two chosen cells whose areas touch but which do not see each other, the two
    neighbouring cells at which the areas touch.
    """
    count = len(chosen)
    best, met = np.full((count, count), -1, np.int64), np.zeros(rows * columns, np.bool_)
    borders(maps, point, width, rows, columns, least, owner, chosen, best, met)
    return np.concatenate([chosen, np.setdiff1d(np.flatnonzero(met), chosen)]).astype(np.int32)


class RoadStore:
    """Stores the roads of several maps and radii in flat arrays; roads that no world uses any longer may be replaced by new ones.

    Args:
        count: maximum number of road networks in the store at the same time.
        places: maximum number of places in one road network.
        cells: maximum number of cells in one road network.

    Attributes:
        places: maximum number of places in one road network.
        cells: maximum number of cells in one road network.
        arrays: the record passed to kernels.
    """

    def __init__(self, count: int, places: int, cells: int) -> None:
        self.places, self.cells = places, cells
        self._slots = Slots(count, self._write)

        def whole(size: int) -> Ints:
            return np.zeros(size, np.int32)

        def real(size: int) -> Floats:
            return np.zeros(size, np.float32)

        number = np.arange(count, dtype=np.int64)
        self.arrays = RoadArrays(
            place_start=number * places, pair_start=number * places**2, places=whole(count),
            cell_start=number * cells, rows=whole(count), columns=whole(count),
            origin_x=real(count), origin_y=real(count), cell=real(count),
            place_x=real(count * places), place_y=real(count * places),
            cost=real(count * places**2), after=whole(count * places**2),
            point_x=real(count * cells), point_y=real(count * cells), nearest=whole(count * cells),
            seen=np.zeros((count * cells, SEEN), np.int32),
        )  # fmt: skip

    def use(self, world: int, roads: Sequence[Roads]) -> list[int]:
        """Assign roads to a world, replacing the roads that it used before; return the numbers of the new roads."""
        return self._slots.assign(world, roads)

    def _write(self, q: int, roads: Roads) -> None:
        a, places, cells = self.arrays, len(roads.place), roads.nearest.size
        a.places[q], (a.rows[q], a.columns[q]) = places, roads.nearest.shape
        (a.origin_x[q], a.origin_y[q]), a.cell[q] = roads.origin, roads.cell
        here = slice(a.place_start[q], a.place_start[q] + places)
        a.place_x[here], a.place_y[here] = roads.place[:, 0], roads.place[:, 1]
        here = slice(a.pair_start[q], a.pair_start[q] + places**2)
        a.cost[here], a.after[here] = roads.cost.ravel(), roads.after.ravel()
        here = slice(a.cell_start[q], a.cell_start[q] + cells)
        a.point_x[here], a.point_y[here] = roads.point[..., 0].ravel(), roads.point[..., 1].ravel()
        a.nearest[here], a.seen[here] = roads.nearest.ravel(), roads.seen.reshape(-1, SEEN)
