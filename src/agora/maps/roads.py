"""The roads of a map: the shortest ways, round every obstacle, from anywhere to anywhere for a walking disc.

A few hundred places see all the free space between them. Two that see each other are joined by a straight road, which costs its
length, and more where it is narrow. All shortest ways between the places are computed once for a map; a way from a point to another
one is then found among the places that each of them sees (`agora.engine.routes`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from agora.core.field import distance_at, is_clear
from agora.core.jit import device, hidden
from agora.core.scalar import HALF, ONE, ZERO
from agora.core.state import Array, Bools, Floats, Ints
from agora.maps.grid import Map
from agora.maps.store import build_store

SEEN = 6
"""Places that are kept for each cell: the nearest ones in sight."""

_CELL = 0.2  # m, of the roads' own grid
_SIGHT = np.float32(8.0)  # m, how far from a place its surroundings may reach
_LONGEST = np.float32(12.0)  # m, of a road
_AMPLE = np.float32(0.3)  # m, clearance beyond the radius above which a road is not narrow
_NARROW = np.float32(3.0)  # how much dearer a road is where the disc just fits
_WIDE = np.float32(1.2)  # m, clearance above which one cell is as good a place as another
_NECK = np.float32(0.05)  # m, by which a narrow place is narrower than 0.4 m along it, and wider than 0.4 m across it
_APART = np.float32(0.5)  # m, between two such places
_BEFORE = 3  # cells, from a narrow place to those before and behind it
_INFINITE = np.float32(np.inf)
_STEP = np.float32(0.1)  # m, between two readings of a road's width
_CLASS = 0.05  # m, radii are rounded up to a multiple of it
_REACH = 1.5  # m, from a point in an obstacle to the free space that counts as its own


@dataclass(frozen=True, eq=False)
class Roads:
    """The roads of one map for a disc of one radius; L places, H x W cells of the roads' own grid.

    Attributes:
        radius: of the disc, m.
        place: (L, 2) m.
        cost: (L, L) of the cheapest way between two places, m: its length, and more where it is narrow; infinite where there is none.
        after: (L, L) number of the place after the first on the way to the second, -1 where there is none.
        origin: (2,) lower-left corner of the grid, m. cell: of its side, m.
        point: (H, W, 2) the point of each cell that is farthest from obstacles, m.
        nearest: (H, W) number, row * W + column, of the nearest cell in which the disc fits, -1 where it fits nowhere.
        seen: (H, W, SEEN) the places in sight of the cell's point, the nearest first, then -1.
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
        """The number of the nearest cell in which the disc fits, -1 where it fits nowhere."""
        rows, columns = self.nearest.shape
        column = min(max(int((x - self.origin[0]) / self.cell), 0), columns - 1)
        row = min(max(int((y - self.origin[1]) / self.cell), 0), rows - 1)
        return int(self.nearest[row, column])

    def reaches(self, start: Sequence[float], end: Sequence[float]) -> bool:
        """Whether there is a way from near one point (2,) to near another, m.

        A point in which the disc does not fit stands for the nearest one in which it does, at most `_REACH` m away.
        """
        ends = []
        for x, y in (start, end):
            cell = self.cell_of(x, y)
            if cell < 0:
                return False
            px, py = self.point.reshape(-1, 2)[cell]
            if math.hypot(px - x, py - y) > _REACH + self.radius:
                return False
            ends.append([k for k in self.seen.reshape(-1, SEEN)[cell] if k >= 0])
        return any(np.isfinite(self.cost[a, b]) for a in ends[0] for b in ends[1])


class RoadStore(NamedTuple):
    """Roads of several maps and radii in flat arrays, for kernels.

    Attributes:
        place_start: (Q,) first place of each. pair_start: (Q,) its first element of ``cost`` and ``after``. places: (Q,) L.
        cell_start: (Q,) first cell. rows, columns: (Q,). origin_x, origin_y, cell: (Q,) m.
        place_x, place_y: of all places, m. cost, after: as in `Roads`. point_x, point_y, nearest: of all cells.
        seen: (cells, SEEN).
    """

    place_start: Ints
    pair_start: Array
    places: Ints
    cell_start: Ints
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
    """The radius for which roads are made where somebody has this one, m."""
    return max(math.ceil(radius / _CLASS - 1e-4), 1) * _CLASS


@functools.lru_cache(maxsize=64)
def roads_of(map: Map, radius: float) -> Roads | None:
    """Return the roads of a map for a disc of a radius, m; None where there is nothing to walk round.

    Args:
        map: the surroundings.
        radius: a `radius_class`.
    """
    if not map.has_shapes and not map.occupied.any():
        return None
    step = max(1, round(_CELL / map.resolution))
    point, width = _points(map, step)
    rows, columns = width.shape
    cell, origin = step * map.resolution, np.asarray(map.origin, np.float32)
    free = np.flatnonzero((width >= np.float32(radius)).ravel()).astype(np.int32)
    necks = _necks(width).ravel()
    order = free[np.argsort(-np.where(necks, _INFINITE, np.minimum(width.ravel(), _WIDE))[free], kind="stable")]
    store, flat, least = build_store([map], [0]), point.reshape(-1, 2), np.float32(radius)
    reach = math.ceil(float(_SIGHT) / cell)
    owner = np.full(rows * columns, -1, np.int32)
    chosen = np.zeros(len(free), np.int32)
    count = _cover(store, flat, rows, columns, order, necks, least, reach, owner, chosen)
    cells = _with_borders(store, flat, width.ravel(), rows, columns, least, owner, chosen[:count])
    place = np.ascontiguousarray(flat[cells])
    straight = np.full((len(cells), len(cells)), np.inf, np.float32)
    _join(store, place, least, straight)
    cost, after = _cheapest(straight)
    seen = np.full((rows * columns, SEEN), -1, np.int32)
    _look(store, flat, free, place, least, seen)
    return Roads(radius, place, cost, after, origin, cell, point, _nearest(width >= least), seen.reshape(rows, columns, SEEN))


def _points(map: Map, step: int) -> tuple[Floats, Floats]:
    """For each cell of the roads' grid its point (H, W, 2) farthest from obstacles, m, and the distance to them (H, W), m."""
    rows, columns = (-(-n // step) for n in map.shape)
    fine = np.full((rows * step, columns * step), -1.0, np.float32)
    known = map.clearance if map.unknown is None else np.where(map.unknown, np.float32(-1.0), map.clearance)
    fine[: map.shape[0], : map.shape[1]] = known
    blocks = fine.reshape(rows, step, columns, step).transpose(0, 2, 1, 3).reshape(rows, columns, step * step)
    middle = np.hypot(*(np.indices((step, step)) - (step - 1) / 2)).reshape(-1).astype(np.float32)
    best = np.argmax(np.minimum(blocks, _WIDE) - np.float32(1e-3) * middle, axis=2)
    width = np.take_along_axis(blocks, best[..., None], 2)[..., 0]
    row = np.arange(rows)[:, None] * step + best // step
    column = np.arange(columns)[None, :] * step + best % step
    return map.centre_of(row, column).astype(np.float32), width


def _necks(width: Floats) -> Bools:
    """(H, W) the cells in the middle of a narrow place, narrower than those along it and wider than those across it, and those
    that lie straight before and behind it: who goes through there goes through its middle.
    """
    found = np.zeros(width.shape, np.bool_)
    for (ar, ac), (br, bc) in (((0, 1), (1, 0)), ((1, 0), (0, 1)), ((1, 1), (1, -1)), ((1, -1), (1, 1))):
        along = [_beside(width, sign * far * ar, sign * far * ac) for sign in (1, -1) for far in (1, 2)]
        across = [_beside(width, sign * far * br, sign * far * bc) for sign in (1, -1) for far in (1, 2)]
        neck = (
            np.logical_and.reduce([width <= other for other in along])
            & np.logical_and.reduce([width >= other for other in across])
            & (width < np.minimum(along[1], along[3]) - _NECK)
            & (width > np.maximum(across[1], across[3]) + _NECK)
            & (width < _WIDE)
        )
        ends = [_beside(neck, sign * _BEFORE * ar, sign * _BEFORE * ac) for sign in (1, -1)]
        found |= neck | (ends[0] > 0) | (ends[1] > 0)
    return found


def _beside(grid: Array, row: int, column: int) -> Floats:
    """The values of a grid so many cells away, -1 beyond its border."""
    far = max(abs(row), abs(column))
    around = np.pad(grid.astype(np.float32), far, constant_values=-1.0)
    rows, columns = grid.shape
    return around[far + row : far + row + rows, far + column : far + column + columns]


def _nearest(free: Bools) -> Ints:
    """(H, W) number of the nearest free cell; -1 everywhere where none is free."""
    from scipy.ndimage import distance_transform_edt

    if not free.any():
        return np.full(free.shape, -1, np.int32)
    row, column = distance_transform_edt(~free, return_distances=False, return_indices=True)
    return np.asarray(row * free.shape[1] + column, np.int32)


def _cheapest(straight: Floats) -> tuple[Floats, Ints]:
    """Cost of the cheapest ways (L, L), and the place after the first on each, from what the straight roads (L, L) cost."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    count = len(straight)
    if count == 0:
        return straight, np.zeros((0, 0), np.int32)
    rows, columns = np.nonzero(np.isfinite(straight))
    graph = csr_array((straight[rows, columns].astype(np.float64), (rows, columns)), shape=(count, count))
    cost, before = dijkstra(graph, return_predecessors=True)
    after = np.where(before < 0, -1, before).T.astype(np.int32)  # the roads lead both ways
    return cost.astype(np.float32), np.ascontiguousarray(after)


@hidden
def _is_apart(point, chosen, count, cell):
    """Whether a cell is not close by one that is chosen."""
    for k in range(count):
        dx, dy = point[chosen[k], 0] - point[cell, 0], point[chosen[k], 1] - point[cell, 1]
        if dx * dx + dy * dy < _APART * _APART:
            return False
    return True


@device
def _cover(maps, point, rows, columns, order, necks, least, reach, owner, chosen):
    """Choose the necks and, in an order, cells that see all others; writes who sees each cell first, returns how many are chosen."""
    count = 0
    for start in order:
        if owner[start] >= 0:
            if necks[start] and _is_apart(point, chosen, count, start):
                chosen[count] = start
                count += 1
            continue
        x, y = point[start, 0], point[start, 1]
        row, column = start // columns, start % columns
        for r in range(max(row - reach, 0), min(row + reach + 1, rows)):
            for k in range(r * columns + max(column - reach, 0), r * columns + min(column + reach + 1, columns)):
                dx, dy = point[k, 0] - x, point[k, 1] - y
                if owner[k] >= 0 or dx * dx + dy * dy > _SIGHT * _SIGHT:
                    continue
                if is_clear(maps, 0, x, y, point[k, 0], point[k, 1], least):
                    owner[k] = count
        chosen[count] = start
        count += 1
    return count


def _with_borders(
    maps: object, point: Floats, width: Floats, rows: int, columns: int, least: np.float32, owner: Ints, chosen: Ints
) -> Ints:
    """The chosen cells, and between any two whose surroundings meet but who do not see each other, the two cells where they do."""
    count = len(chosen)
    first, second = np.full((count, count), -1, np.int32), np.full((count, count), -1, np.int32)
    _borders(maps, point, width, rows, columns, least, owner, chosen, first, second)
    met = first >= 0
    return np.concatenate([chosen, np.setdiff1d(np.concatenate([first[met], second[met]]), chosen)]).astype(np.int32)


@device
def _borders(maps, point, width, rows, columns, least, owner, chosen, first, second):
    """Write, for pairs of chosen cells a < b that do not see each other, the widest two neighbouring cells of theirs."""
    for k in range(rows * columns):
        a = owner[k]
        if a < 0:
            continue
        for side in range(2):
            if (side == 0 and k % columns == columns - 1) or (side == 1 and k >= (rows - 1) * columns):
                continue
            other = k + 1 if side == 0 else k + columns
            b = owner[other]
            if b < 0 or b == a or not is_clear(maps, 0, point[k, 0], point[k, 1], point[other, 0], point[other, 1], least):
                continue
            i, j, mine, theirs = (a, b, k, other) if a < b else (b, a, other, k)
            if first[i, j] >= 0 and min(width[mine], width[theirs]) <= min(width[first[i, j]], width[second[i, j]]):
                continue
            if first[i, j] == -1:
                p, q = chosen[i], chosen[j]
                dx, dy = point[p, 0] - point[q, 0], point[p, 1] - point[q, 1]
                far = dx * dx + dy * dy > _LONGEST * _LONGEST
                if not far and is_clear(maps, 0, point[p, 0], point[p, 1], point[q, 0], point[q, 1], least):
                    first[i, j] = -2
            if first[i, j] != -2:
                first[i, j], second[i, j] = mine, theirs


@hidden
def road(maps, m, x0, y0, x1, y1, radius):
    """What a straight road on map ``m`` costs a disc, m: its length, and more where it is narrow."""
    dx, dy = x1 - x0, y1 - y0
    length = math.sqrt(dx * dx + dy * dy)
    parts = max(int(length / _STEP), 1)
    dear = ZERO
    for k in range(parts):
        t = (np.float32(k) + HALF) / np.float32(parts)
        beyond = distance_at(maps, m, x0 + t * dx, y0 + t * dy) - radius
        dear += max(ONE - beyond / _AMPLE, ZERO)
    return length * (ONE + _NARROW * dear / np.float32(parts))


@device
def _join(maps, place, least, cost):
    """Write the cost of the roads between places that see each other."""
    for a in range(len(place)):
        for b in range(a):
            dx, dy = place[a, 0] - place[b, 0], place[a, 1] - place[b, 1]
            if dx * dx + dy * dy > _LONGEST * _LONGEST:
                continue
            if is_clear(maps, 0, place[a, 0], place[a, 1], place[b, 0], place[b, 1], least):
                cost[a, b] = road(maps, 0, place[a, 0], place[a, 1], place[b, 0], place[b, 1], least)
                cost[b, a] = cost[a, b]


@device
def _look(maps, point, free, place, least, seen):
    """Write for each free cell the nearest places in sight of its point."""
    near, distance = np.empty(len(place), np.int32), np.empty(len(place), np.float32)
    for k in free:
        count = 0
        for a in range(len(place)):
            dx, dy = place[a, 0] - point[k, 0], place[a, 1] - point[k, 1]
            squared = dx * dx + dy * dy
            if squared > _SIGHT * _SIGHT:
                continue
            at = count
            while at > 0 and distance[at - 1] > squared:
                distance[at], near[at] = distance[at - 1], near[at - 1]
                at -= 1
            distance[at], near[at] = squared, a
            count += 1
        found = 0
        for n in range(count):
            if found == seen.shape[1]:
                break
            a = near[n]
            if is_clear(maps, 0, point[k, 0], point[k, 1], place[a, 0], place[a, 1], least):
                seen[k, found] = a
                found += 1


def store_of(roads: Sequence[Roads]) -> RoadStore:
    """Return the roads of several maps and radii in flat arrays."""

    def starts(sizes: list[int]) -> Array:
        return np.cumsum([0, *sizes], dtype=np.int64)[:-1]

    def joined(arrays: list[Array], kind: type, width: int = 0) -> Array:
        empty = np.zeros((0, width) if width else 0, kind)
        return np.ascontiguousarray(np.concatenate([empty, *arrays]), kind)

    places, cells = [len(r.place) for r in roads], [r.nearest.size for r in roads]
    return RoadStore(
        place_start=starts(places).astype(np.int32),
        pair_start=starts([n * n for n in places]),
        places=np.array(places, np.int32),
        cell_start=starts(cells).astype(np.int32),
        rows=np.array([r.nearest.shape[0] for r in roads], np.int32),
        columns=np.array([r.nearest.shape[1] for r in roads], np.int32),
        origin_x=np.array([r.origin[0] for r in roads], np.float32),
        origin_y=np.array([r.origin[1] for r in roads], np.float32),
        cell=np.array([r.cell for r in roads], np.float32),
        place_x=joined([r.place[:, 0] for r in roads], np.float32),
        place_y=joined([r.place[:, 1] for r in roads], np.float32),
        cost=joined([r.cost.ravel() for r in roads], np.float32),
        after=joined([r.after.ravel() for r in roads], np.int32),
        point_x=joined([r.point[..., 0].ravel() for r in roads], np.float32),
        point_y=joined([r.point[..., 1].ravel() for r in roads], np.float32),
        nearest=joined([r.nearest.ravel() for r in roads], np.int32),
        seen=joined([r.seen.reshape(-1, SEEN) for r in roads], np.int32, SEEN),
    )
