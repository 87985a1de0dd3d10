"""The local costmap: a window that rolls with the robot and contains walls, pedestrians, or obstacles seen by the robot's lidar."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from agora.core.jit import hidden, kernel
from agora.core.scalar import HALF, ONE, ZERO
from agora.core.state import Array, Floats
from agora.costmap.inflation import FREE, NO_INFORMATION, cost_at
from agora.errors import InputError
from agora.maps.distance import FAR
from agora.ranges import Checked, Distance, Length, Positive
from agora.robots.model import radius_inside

_EDGE = np.float32(1.001)
_ASIDE = np.float32(3.0)  # map cells: from the middle of a block to its map cell, plus from a cell to its neighbours
_LANES = 32
_BLOCK = 16  # number of cells on a line; all of them are free if their middle is far from all obstacles
_NEXT = np.uint32(1)
_NOTHING, _UNKNOWN = np.uint8(FREE), np.uint8(NO_INFORMATION)
_CIRCLE = np.stack([[round(f(2.0 * math.pi * k / 16), 12) for k in range(16)] for f in (math.cos, math.sin)], -1).astype(np.float32)


def inscribed_radius(corners: Array) -> Floats:
    """Return the radius (N,) of the disc inside convex outlines (N, V, 2) around their origin, m; 0 if the origin is outside."""
    edge = np.roll(corners, -1, axis=1) - corners
    area = corners[..., 0] * edge[..., 1] - corners[..., 1] * edge[..., 0]
    long = np.hypot(edge[..., 0], edge[..., 1])
    radius: Floats = np.divide(np.abs(area), long, out=np.full_like(area, np.inf), where=long > 0.0).min(axis=1)
    radius[(area > 0.0).any(axis=1) & (area < 0.0).any(axis=1)] = 0.0
    return radius


def repeat_corners(outline: Array, count: int) -> Array:
    """Return an outline (..., V, 2) padded to ``count`` corners with copies of the last corner."""
    return outline[..., np.minimum(np.arange(count), outline.shape[-2] - 1), :]


class Filling(NamedTuple):
    """The settings of a `Window` for the kernels.

    Attributes:
        cell: length of a cell, m.
        reach: distance from an obstacle beyond which the cost is 0, m.
        scaling: rate at which the cost decays with distance, 1/m.
        people: whether pedestrians and other robots are marked.
        walls: whether the map's walls are marked.
    """

    cell: np.float32
    reach: np.float32
    scaling: np.float32
    people: np.bool_
    walls: np.bool_


@hidden
def _mark(cost, x, y, radius, cell, touch, inscribed, reach, scaling):
    """Raise a window's costs to the costs around a disc; x and y are in cells from the centre of cell [0, 0]."""
    side = cost.shape[0]
    wide = (radius + max(reach, inscribed, touch)) / cell
    west, east = max(int(np.ceil(x - wide)), 0), min(int(np.floor(x + wide)) + 1, side)
    width = min((east - west + _LANES - 1) // _LANES * _LANES, side)
    west = min(west, side - width)
    for i in range(max(int(np.ceil(y - wide)), 0), min(int(np.floor(y + wide)) + 1, side) if east > west else 0):
        dy = np.float32(i) - y
        line = cost[i, west : west + width]
        for j in range(width):
            dx = np.float32(np.int32(west + j)) - x
            distance = cell * math.sqrt(dx * dx + dy * dy) - radius
            mark = np.int32(cost_at(distance, touch, inscribed, reach, scaling))
            line[j] = np.uint8(max(np.int32(line[j]), mark))


@hidden
def _interpolate(pair, b, first, ratio, beyond, occupied, out):
    """Write the distances at window cells ``first``, ``first`` + 1 ..., interpolated from two rows of map cells; a window cell is
    ``ratio`` map cells wide.

    A map cell is occupied up to its edges, so the distance to its centre is too long by ``beyond`` metres. Interpolation would
    round off corners, so the distance is 0 in the occupied cells of the row ``occupied``.
    """
    low, high = ONE - b, b
    end = np.float32(pair.shape[1]) - _EDGE
    for j in range(out.size):
        u = min(max((first + np.float32(j) + HALF) * ratio - HALF, ZERO), end)
        column = np.uint32(u)
        a = u - np.float32(column)
        left = pair[0, column] * low + pair[1, column] * high
        right = pair[0, column + _NEXT] * low + pair[1, column + _NEXT] * high
        free = np.float32(_NEXT - occupied[np.uint32(u + HALF)])
        out[j] = (left * (ONE - a) + right * a - beyond) * free


@kernel
def fill_windows(maps, map_index, filling, pose, inscribed, position, radius, present, cost, origin, first, last):
    """Write the windows of rows ``first <= n < last``.

    Args:
        maps: `agora.core.state.Maps`.
        map_index: (N,) map of each row.
        filling: `Filling`.
        pose: (N, 3) poses of the robots.
        inscribed: (N,) radius of the disc inside the footprint, m.
        position: (N, Q, 2) positions of moving discs, m.
        radius: (N, Q) radii of moving discs, m.
        present: (N, Q) whether a slot holds a disc.
        cost: (N, H, H) uint8 costs, out.
        origin: (N, 2) lower-left corners, m, out.
        first: first row.
        last: one after the last row.
    """
    cell, reach, scaling, moving, static = filling
    side = cost.shape[1]
    touch = HALF * cell
    inverse = ONE / cell
    line = np.empty(_BLOCK, np.float32)
    for n in range(first, last):
        m = map_index[n]
        rows, columns, start = maps.rows[m], maps.columns[m], maps.clearance_start[m]
        # The window's cells lie on a lattice that starts at the map's origin, so that they keep their places on the map.
        left = np.int32(np.floor((pose[n, 0] - maps.origin_x[m]) * inverse)) - side // 2
        bottom = np.int32(np.floor((pose[n, 1] - maps.origin_y[m]) * inverse)) - side // 2
        origin[n, 0] = maps.origin_x[m] + np.float32(left) * cell
        origin[n, 1] = maps.origin_y[m] + np.float32(bottom) * cell
        own = inscribed[n]
        ratio = cell / maps.resolution[m]
        same = maps.resolution[m] == cell
        shapes_alone = maps.distance[maps.start[m]] >= FAR  # the map has shapes only, so distances are exact
        # Distances to rasterised obstacles refer to cell centres: correct them for different cell sizes.
        beyond = ZERO if shapes_alone else max(HALF * (maps.resolution[m] - cell), ZERO)
        far = max(reach, own, touch) + beyond + np.float32(_BLOCK // 2) * cell + _ASIDE * maps.resolution[m]
        # Columns and rows of the map in window cells; window cells beyond them are unknown.
        across = np.int32(np.floor(np.float32(columns) / ratio + HALF))
        up = np.int32(np.floor(np.float32(rows) / ratio + HALF))
        from_column, to_column = min(max(-left, 0), side), max(min(side, across - left), 0)
        if not static:
            cost[n] = _NOTHING
        for i in range(side if static else 0):
            if bottom + i < 0 or bottom + i >= up or from_column >= to_column:
                cost[n, i, :] = _UNKNOWN
                continue
            cost[n, i, :from_column] = _UNKNOWN
            cost[n, i, to_column:] = _UNKNOWN
            row = min(np.int64((np.float32(bottom + i) + HALF) * ratio), np.int64(rows - 1)) * columns
            for first_cell in range(from_column, to_column, _BLOCK):
                end = min(first_cell + _BLOCK, to_column)
                # The clearance at the centre of a block bounds the clearance of its cells, so blocks far from obstacles are free
                # without further tests.
                middle = min(np.int64((np.float32(left + (first_cell + end) // 2) + HALF) * ratio), np.int64(columns - 1))
                if maps.clearance[start + row + middle] > far:
                    cost[n, i, first_cell:end] = _NOTHING
                    continue
                out = cost[n, i, first_cell:end]
                if same:
                    # If the resolutions are equal, the map's distances need no interpolation, and the costs equal those of
                    # `inflate`.
                    k = start + row + left
                    near = maps.clearance[k + first_cell : k + end]
                else:
                    near = line[: end - first_cell]
                    v = min(max((np.float32(bottom + i) + HALF) * ratio - HALF, ZERO), np.float32(rows) - _EDGE)
                    k = start + np.int64(v) * columns
                    pair = maps.clearance[k : k + 2 * columns].reshape(2, columns)
                    k = maps.start[m] + np.int64(v + HALF) * columns
                    occupied = maps.occupied[k : k + columns]
                    _interpolate(pair, v - np.floor(v), np.float32(left + first_cell), ratio, beyond, occupied, near)
                for j in range(out.size):
                    out[j] = np.uint8(np.int32(cost_at(near[j], touch, own, reach, scaling)))
        for q in range(position.shape[1]):
            if moving and present[n, q]:
                x, y = (position[n, q, 0] - origin[n, 0]) * inverse - HALF, (position[n, q, 1] - origin[n, 1]) * inverse - HALF
                _mark(cost[n], x, y, radius[n, q], cell, touch, own, reach, scaling)


@dataclass(frozen=True)
class Window(Checked):
    """The square local costmap around a robot: the "costmap" channel.

    Its cells lie on a lattice that starts at the map's origin and has the window's resolution. If that is also the map's
    resolution, the window's cells are map cells and have the costs of `agora.costmap.inflation.inflate`; otherwise the distance is
    interpolated between the map's cells, which count as occupied up to their edges. The cost of a pedestrian depends on the
    distance from a cell's centre to the pedestrian's disc. Cells outside the map have the cost 255; without the source "map", no
    cell counts as outside.

    Attributes:
        size: length of a side, m.
        resolution: length of a cell, m.
        inflation_radius: distance from an obstacle beyond which the cost is 0, m.
        cost_scaling: rate at which the cost decays with distance, 1/m.
        sources: sources of obstacles: "map", the known walls; "people", the pedestrians that the robot knows of, and other robots;
            "scan", obstacles seen by the robot's own lidar (`agora.costmap.obstacles`).
        obstacle_range: maximum range at which a beam of the scan marks obstacles, m.
        raytrace_range: maximum range at which a beam clears obstacles, m.
        inf_is_valid: whether a beam that hits nothing clears obstacles.
        footprint: corners of a convex polygon in the robot's frame, used as the robot's shape, m; if empty, the robot's own outline
            is used.
        footprint_padding: distance by which the footprint's corners are moved outwards along x and y, m.
    """

    channel: ClassVar[str] = "costmap"

    size: Positive = 10.0
    resolution: Positive = 0.05
    inflation_radius: Length = 0.55
    cost_scaling: Positive = 10.0
    sources: tuple[Literal["map", "people", "scan"], ...] = ("map", "people")
    obstacle_range: Length = 2.5
    raytrace_range: Length = 3.0
    inf_is_valid: bool = True
    footprint: tuple[tuple[float, float], ...] = ()
    footprint_padding: Distance = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 2 <= self.size / self.resolution <= 4096:
            raise InputError(f"size: a window of {self.size} m has not 2 to 4096 cells of {self.resolution} m a side")
        if not self.sources:
            raise InputError("sources: expected one or more of map, people and scan, got none")
        if len(self.footprint) in (1, 2):
            raise InputError(f"footprint: at least 3 corners, or none, got {len(self.footprint)}")

    @property
    def cells(self) -> int:
        """Number of cells per side."""
        return round(self.size / self.resolution)

    @property
    def needs(self) -> frozenset[str]:
        """Return the channels that fill the window, besides the simulation's own data."""
        return frozenset({"scan"} & set(self.sources))

    @property
    def filling(self) -> Filling:
        """Return the settings for the kernels."""
        people, walls = (np.bool_(name in self.sources) for name in ("people", "map"))
        cell, reach, scaling = (np.float32(v) for v in (self.resolution, self.inflation_radius, self.cost_scaling))
        return Filling(cell, reach, scaling, people, walls)

    def corners(self, footprint: Floats, radius: Floats) -> Array:
        """Return the corners (N, V, 2) of the padded footprints of robots, m; a disc has 16 corners, as in costmap_2d.

        Args:
            footprint: (N, V, 2) footprints of the robots; all zero for a disc, V = 0 if all robots are discs.
            radius: (N,) radii of the robots, m.
        """
        disc, most = ~footprint.any(axis=(1, 2)), max(footprint.shape[1], len(_CIRCLE))
        if self.footprint:
            own = np.broadcast_to(np.array(self.footprint, np.float32), (len(radius), len(self.footprint), 2))
        elif disc.all():
            own = repeat_corners(radius[:, None, None] * _CIRCLE, most)
        elif disc.any():
            own = repeat_corners(footprint, most)
            own[disc] = repeat_corners(radius[disc, None, None] * _CIRCLE, most)
        else:
            own = footprint
        return own + np.float32(self.footprint_padding) * np.sign(own)

    def inscribed(self, radius: float) -> float:
        """Return the radius of the disc inside the padded footprint, m, given the radius of the disc inside the robot's own
        footprint.
        """
        return (radius_inside(self.footprint) if self.footprint else radius) + self.footprint_padding
