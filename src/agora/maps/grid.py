"""Maps: occupancy cells from an image, exact shapes, and their distance fields."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from agora.core.state import Array, Bools, Doubles, Floats, Ints
from agora.errors import InputError
from agora.maps import distance
from agora.maps.frame import FARTHEST, moved

if TYPE_CHECKING:
    from agora.maps.doors import Door

__all__ = ["Map"]

LARGEST = 16384
"""Maximum number of cells along a side; above it, float32 cell coordinates are too coarse for interpolation."""

_MOST = 40_000_000  # cells; a larger map would need more than 2 GB, and a minute of preparation before an episode
_EDGE = np.float32(1.001)
_FAR_CELL = 1 << 30  # row or column of points that are too far away for cell numbers


def _rows(name: str, what: str, values: ArrayLike, width: int) -> Doubles:
    """Return values as a read-only (K, width) array of finite numbers."""
    try:
        array = np.array(values, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} of map {name!r}: must be rows of {width} numbers") from error
    array = array.reshape(-1, width) if array.size == 0 else array
    if array.ndim != 2 or array.shape[1] != width:
        raise InputError(f"{what} of map {name!r}: must be rows of {width} numbers, got an array of shape {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(f"{what} of map {name!r}: a number is not finite")
    array.flags.writeable = False
    return array


def check_size(rows: int, columns: int, resolution: float, where: str) -> None:
    """Check that a map is small enough for episodes to run on it.

    Raises:
        InputError: the map is too large; the message gives a cell size that would work.
    """
    if rows * columns > _MOST:
        wider = resolution * math.sqrt(rows * columns / _MOST)
        size = f"{rows} x {columns} cells of {resolution:g} m"
        raise InputError(f"{where}: {size} are more than {_MOST // 1_000_000} million; use cells of at least {wider:.2g} m")


@dataclass(frozen=True, eq=False)
class Map:
    """Static surroundings in the map frame. Arrays are read-only; grids are indexed [row, column], and rows grow with y.

    The space beyond the border is unknown. Robots stay at least their radius away from the border: no start, goal or path is closer
    to it, and costmaps contain 255 beyond it. The border is not an obstacle, though: it does not stop beams, and crossing it is not
    a contact for robots or pedestrians. Only the centre of a pedestrian has to be on the map
    (docs/decisions/2026-11-29-borders.md).

    Attributes:
        name: name in messages and tables.
        resolution: length of a cell, m.
        origin: lower-left corner of cell [0, 0], m.
        occupied: (rows, columns) image cells that are obstacles; at least 2 x 2 cells.
        unknown: (rows, columns) image cells that are unknown; they are not obstacles, but nothing is placed in them.
        segments: (S, 4) thin walls x0, y0, x1, y1, m.
        discs: (D, 3) x, y, radius, m.
        polygons: filled obstacles, each with corners (V, 2), m.
        offset: origin of the map frame in the frame of the files that the map was read from (`agora.maps.frame`), m.
        door: a moving door, which is open in this map.
        stages: maps with the leaves of the door in successive positions, starting with the closed door (`agora.maps.doors`).
        ground: (rows, columns) height of the ground, m; -inf in a gap; None if the ground is level. `agora.maps.ground.met_by`
            returns the map for a robot.

    Raises:
        InputError: a size, number or shape is invalid, or the map is farther than ``FARTHEST`` from the origin.
    """

    name: str
    resolution: float
    origin: tuple[float, float]
    occupied: Bools
    unknown: Bools | None = None
    segments: Doubles = field(default_factory=lambda: np.zeros((0, 4)))
    discs: Doubles = field(default_factory=lambda: np.zeros((0, 3)))
    polygons: tuple[Doubles, ...] = ()
    offset: tuple[float, float] = (0.0, 0.0)
    door: Door | None = None
    stages: tuple[Map, ...] = ()
    ground: Floats | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        if not (math.isfinite(self.resolution) and self.resolution > 0):
            raise InputError(f"resolution of map {self.name!r}: expected a number above 0, got {self.resolution}")
        if len(self.origin) != 2 or not all(math.isfinite(v) for v in self.origin):
            raise InputError(f"origin of map {self.name!r}: must be two finite numbers, got {self.origin}")
        if max(abs(v) for v in self.origin) > FARTHEST:
            raise InputError(
                f"origin of map {self.name!r}: must be within {FARTHEST:g} m of zero, got {tuple(self.origin)} m; "
                "only maps in world folders are moved to zero when they are read"
            )
        put(self, "resolution", float(self.resolution))
        put(self, "origin", (float(self.origin[0]), float(self.origin[1])))
        put(self, "occupied", self._grid("occupied", self.occupied))
        if self.unknown is not None:
            put(self, "unknown", self._grid("unknown", self.unknown))
        if self.ground is not None:
            put(self, "ground", self._heights(self.ground))
        put(self, "segments", _rows(self.name, "segments", self.segments, 4))
        put(self, "discs", _rows(self.name, "discs", self.discs, 3))
        put(self, "polygons", tuple(_rows(self.name, "polygons", p, 2) for p in self.polygons))
        if (self.discs[:, 2] <= 0).any():
            raise InputError(f"discs of map {self.name!r}: the radius of a disc must be positive")
        if any(len(p) < 3 for p in self.polygons):
            raise InputError(f"polygons of map {self.name!r}: a polygon needs at least 3 corners")

    def _grid(self, what: str, cells: Array) -> Bools:
        array = np.array(cells, np.bool_)
        if array.ndim != 2 or min(array.shape) < 2 or max(array.shape) > LARGEST:
            raise InputError(f"{what} of map {self.name!r}: must be 2 x 2 to {LARGEST} x {LARGEST} cells, got {array.shape}")
        check_size(array.shape[0], array.shape[1], self.resolution, f"map {self.name!r}")
        if what == "unknown" and array.shape != self.occupied.shape:
            raise InputError(
                f"unknown of map {self.name!r}: expected {self.occupied.shape} cells, like occupied, got {array.shape}"
            )
        array.flags.writeable = False
        return array

    def _heights(self, values: ArrayLike) -> Floats:
        array = np.array(values, np.float32)
        if array.shape != self.occupied.shape:
            raise InputError(f"ground of map {self.name!r}: expected {self.occupied.shape} cells, like occupied, got {array.shape}")
        if not (np.isfinite(array) | np.isneginf(array)).all():
            raise InputError(f"ground of map {self.name!r}: heights must be finite, or -inf in a gap")
        array.flags.writeable = False
        return array

    @classmethod
    def open(cls, lower: tuple[float, float], upper: tuple[float, float], *, resolution: float = 0.1, name: str = "open") -> Map:
        """Return an empty rectangular map that extends from its lower-left corner to at least its upper-right corner, m."""
        return cls.from_shapes(bounds=(*lower, *upper), resolution=resolution, name=name)

    @classmethod
    def from_shapes(
        cls,
        *,
        segments: ArrayLike = (),
        discs: ArrayLike = (),
        polygons: Sequence[ArrayLike] = (),
        bounds: tuple[float, float, float, float] | None = None,
        margin: float = 1.0,
        resolution: float = 0.1,
        name: str = "shapes",
    ) -> Map:
        """Return a map that consists only of exact shapes.

        Args:
            segments: (S, 4) thin walls, as in `Map.segments`.
            discs: (D, 3) discs, as in `Map.discs`.
            polygons: filled obstacles, each (V, 2), as in `Map.polygons`.
            bounds: lower-left x, y and upper-right x, y of the map, m; the last row and column may extend beyond them.
            margin: free space around the shapes if ``bounds`` is not given, m.
            resolution: length of a cell of the distance field, m.
            name: name of the map.

        Raises:
            InputError: the bounds are not a rectangle, or there are neither bounds nor shapes.
        """
        walls, circles = _rows(name, "segments", segments, 4), _rows(name, "discs", discs, 3)
        areas = tuple(_rows(name, "polygons", p, 2) for p in polygons)
        if bounds is None:
            corners = [walls[:, :2], walls[:, 2:], circles[:, :2] - circles[:, 2:], circles[:, :2] + circles[:, 2:], *areas]
            points = np.concatenate(corners)
            if len(points) == 0:
                raise InputError(f"bounds of map {name!r}: neither bounds nor shapes are given")
            bounds = (*(points.min(0) - margin), *(points.max(0) + margin))
        if len(bounds) != 4 or not all(math.isfinite(v) for v in bounds) or bounds[2] <= bounds[0] or bounds[3] <= bounds[1]:
            raise InputError(f"bounds of map {name!r}: must be x0, y0, x1, y1 with x0 < x1 and y0 < y1, got {bounds}")
        if not (math.isfinite(resolution) and resolution > 0):
            raise InputError(f"resolution of map {name!r}: expected a number above 0, got {resolution}")
        size = [max(2, math.ceil((bounds[i + 2] - bounds[i]) / resolution - 1e-6)) for i in (1, 0)]
        if max(size) > LARGEST:
            raise InputError(
                f"resolution of map {name!r}: {size[0]} x {size[1]} cells are too many; expected at most {LARGEST} per side"
            )
        check_size(size[0], size[1], resolution, f"map {name!r}")
        origin = (float(bounds[0]), float(bounds[1]))
        return cls(name, resolution, origin, np.zeros(size, np.bool_), None, walls, circles, areas)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.occupied.shape[0], self.occupied.shape[1]

    @property
    def size(self) -> tuple[float, float]:
        """Extent along x and y, m."""
        return self.shape[1] * self.resolution, self.shape[0] * self.resolution

    @property
    def has_shapes(self) -> bool:
        """True if the map has segments, discs or polygons."""
        return bool(len(self.segments) or len(self.discs) or self.polygons)

    @cached_property
    def walls(self) -> Doubles:
        """(S', 4) the segments, and the edges of the polygons, m."""
        return np.concatenate([self.segments, distance.edges_of(self.polygons)])

    @cached_property
    def distance(self) -> Floats:
        """(rows, columns) distance from each cell's centre to the centre of the nearest occupied cell, m; 1e3 if none is
        occupied.
        """
        return distance.cell_distance(self.occupied, self.resolution)

    @cached_property
    def clearance(self) -> Floats:
        """(rows, columns) like `distance`, but also including the exact distances to segments, discs and polygons, m; `distance`
        itself if there are none.
        """
        if not self.has_shapes:
            return self.distance
        return distance.with_shapes(self.distance, self.resolution, self.origin, self.walls, self.discs, self.polygons)

    @cached_property
    def roads(self) -> dict[float, Any]:
        """The roads of the map that have been computed so far, keyed by radius (`agora.maps.roads.roads_of`)."""
        return {}

    @cached_property
    def met(self) -> dict[tuple[float, float], Map]:
        """The maps for robots that have been computed so far, keyed by step and span (`agora.maps.ground.met_by`)."""
        return {}

    @cached_property
    def cells(self) -> Bools:
        """(rows, columns) all obstacles as cells: cells whose centre is within half a cell of a shape are obstacles, too."""
        return self.clearance <= np.float32(0.5 * self.resolution) if self.has_shapes else self.occupied

    @cached_property
    def _kept_inside(self) -> dict[int, Floats]:
        """The fields that `clearance_inside` has computed so far, keyed by the number of cells from the border in which a disc does
        not fit.
        """
        return {}

    def clearance_inside(self, radius: float) -> Floats:
        """Return `clearance` (rows, columns) for a disc that stays on the map, m.

        The space beyond the border counts as an obstacle only for cells within ``radius`` of the border.

        Args:
            radius: radius of the disc, m.
        """
        cells = min(math.ceil(radius / self.resolution - 1e-6) - 1, (min(self.shape) + 1) // 2)
        if cells not in self._kept_inside:
            field = self.clearance
            for k in range(cells):
                edge = np.float32((k + 1) * self.resolution)
                for side in (np.s_[k], np.s_[-1 - k], np.s_[:, k], np.s_[:, -1 - k]):
                    if (field[side] > edge).any():
                        field = field.copy() if field is self.clearance else field
                        np.minimum(field[side], edge, out=field[side])
            self._kept_inside[cells] = field
        return self._kept_inside[cells]

    @cached_property
    def _known(self) -> tuple[Bools, Floats]:
        """(rows, columns) the cells that are occupied or unknown, and the distance to them, m."""
        if self.unknown is None:
            return self.occupied, self.distance
        blocked = self.occupied | self.unknown
        return blocked, distance.cell_distance(blocked, self.resolution)

    def from_file(self, points: ArrayLike) -> Doubles:
        """Convert points (..., 2 or more), with x and y first, from the files' frame to the map frame."""
        return moved(points, (-self.offset[0], -self.offset[1]))

    def to_file(self, points: ArrayLike) -> Doubles:
        """Convert points (..., 2 or more), with x and y first, from the map frame to the files' frame."""
        return moved(points, self.offset)

    def place(self, point: ArrayLike) -> str:
        """Return the text of a point (2 or more) in the files' frame for messages, for example ``(1.50, -2.00)``."""
        x, y = self.to_file(point)[:2]
        return f"({x:.2f}, {y:.2f})"

    def contains(self, points: ArrayLike) -> Bools:
        """Return whether points (..., 2) lie on the map."""
        offset = np.asarray(points, np.float64) - self.origin
        return np.asarray(((offset >= 0) & (offset < self.size)).all(-1))

    def margin(self, points: ArrayLike) -> Doubles:
        """Return the distance from points (..., 2) to the border of the map, m; negative outside the map."""
        offset = np.asarray(points, np.float64) - self.origin
        margin: Doubles = np.minimum(offset, self.size - offset).min(axis=-1)
        return margin

    def cell_of(self, points: ArrayLike) -> tuple[Ints, Ints]:
        """Return the row and column of the cells that contain points (..., 2); for points outside the map, they are negative or
        exceed the map's size.
        """
        cells = np.floor((np.asarray(points, np.float64) - self.origin) / self.resolution)
        cells = np.clip(cells, -_FAR_CELL, _FAR_CELL).astype(np.int32)
        return cells[..., 1], cells[..., 0]

    def centre_of(self, rows: ArrayLike, columns: ArrayLike) -> Doubles:
        """Return the centres (..., 2) of cells, m."""
        cells = np.stack(np.broadcast_arrays(np.asarray(columns, np.float64), np.asarray(rows, np.float64)), -1)
        centres: Doubles = (cells + 0.5) * self.resolution + self.origin
        return centres

    def clearance_at(self, points: ArrayLike) -> Floats:
        """Return `clearance` at points (..., 2), interpolated bilinearly between cell centres; for points outside the map, the
        value at the border is used (`agora.core.field`).
        """
        offset = (np.asarray(points, np.float64) - self.origin) / self.resolution - 0.5
        rows, columns = self.shape
        u = np.minimum(np.maximum(offset[..., 0].astype(np.float32), np.float32(0)), np.float32(columns) - _EDGE)
        v = np.minimum(np.maximum(offset[..., 1].astype(np.float32), np.float32(0)), np.float32(rows) - _EDGE)
        column, row = u.astype(np.intp), v.astype(np.intp)
        a, b = u - column.astype(np.float32), v - row.astype(np.float32)
        cell, field = row * columns + column, self.clearance.reshape(-1)
        lower = field.take(cell) * (1 - a) + field.take(cell + 1) * a
        upper = field.take(cell + columns) * (1 - a) + field.take(cell + columns + 1) * a
        return np.asarray(lower * (1 - b) + upper * b, np.float32)

    def gap(self, points: ArrayLike, limit: float = math.inf, *, unknown: bool = False) -> Doubles:
        """Return the true distance from points (N, 2) to the nearest obstacle, with cells treated as squares, capped at ``limit``;
        all in metres.

        The distance fields contain distances to the centres of occupied cells, whose squares begin half a cell earlier; this method
        measures the distance to the squares.

        Args:
            points: (N, 2) points, m.
            limit: distance at which results are capped, m; a smaller limit is faster.
            unknown: whether unknown cells count as obstacles.
        """
        where = np.asarray(points, np.float64).reshape(-1, 2)
        offset = np.ascontiguousarray(where - self.origin)
        blocked, field = self._known if unknown else (self.occupied, self.distance)
        rows, columns = self.shape
        column = np.minimum(np.maximum(offset[:, 0] // self.resolution, 0), columns - 1).astype(int)
        row = np.minimum(np.maximum(offset[:, 1] // self.resolution, 0), rows - 1).astype(int)
        from_centre = np.hypot(offset[:, 0] - (column + 0.5) * self.resolution, offset[:, 1] - (row + 0.5) * self.resolution)
        bound = field[row, column].astype(np.float64) * (1 + 1e-6) + from_centre
        best = distance.gap_to_shapes(where, self.walls, self.discs, self.polygons)
        best = np.minimum(best, limit)
        if blocked.any():
            cells = np.empty(len(where))
            distance.gap_to_cells(offset, field, self.resolution, np.minimum(bound, best), cells)
            best = np.minimum(best, cells)
        return best

    def gap_of(self, outlines: ArrayLike) -> Doubles:
        """Return the true distance from simple polygons (N, V, 2) to the nearest obstacle, m; 0 if they touch or overlap it.

        The distance is infinite if the map has no obstacles.
        """
        corners = np.asarray(outlines, np.float64)
        nearest: Doubles = self.gap(corners.reshape(-1, 2)).reshape(corners.shape[:2]).min(axis=1)
        if np.isfinite(nearest).all():
            distance.gap_of_outlines(corners - self.origin, self.distance, self.resolution, nearest)
            distance.gap_of_outlines_to_shapes(corners, self.walls, self.discs, nearest)
        return nearest
