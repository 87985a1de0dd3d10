"""Distances to obstacles: between cells, from cells to exact shapes, and exact distances from arbitrary points.

The distance field of the cells is the exact Euclidean distance transform between cell centres, computed in integers until the
square root is taken (Meijster, Roerdink and Hesselink 2000). The distances to segments, discs and polygons are computed
analytically at every cell centre.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from agora.core.jit import lean, lean_kernel, spliced
from agora.core.state import Bools, Doubles, Floats, Ints, freeze

__all__ = ["steps_to"]

FAR = np.float32(1e3)
"""Distance in a field without obstacles, m."""

_NONE = np.int32(1 << 15)
"""A number greater than the number of cells along any side of a map."""

_ZERO, _ONE, _TINY = np.float32(0.0), np.float32(1.0), np.float32(1e-12)


@lean_kernel
def _along_columns(occupied, steps):
    """Write to ``steps`` the number of cells from each cell to the nearest occupied cell in its column; `_NONE` if there is
    none.
    """
    rows, columns = occupied.shape
    for column in range(columns):
        steps[0, column] = 0 if occupied[0, column] else _NONE
    for row in range(1, rows):
        for column in range(columns):
            steps[row, column] = 0 if occupied[row, column] else min(steps[row - 1, column] + 1, _NONE)
    for row in range(rows - 2, -1, -1):
        for column in range(columns):
            steps[row, column] = min(steps[row, column], steps[row + 1, column] + 1)


@lean_kernel
def _along_rows(steps, resolution, site, begin, out):
    """Write to ``out`` the distance from each cell to the nearest occupied cell, m.

    In a row, the squared distance from column u to the nearest occupied cell in column i is (u - i)^2 + steps[i]^2, which is a
    parabola in u. The k-th parabola of the lower envelope belongs to column ``site[k]`` and applies from column ``begin[k]``
    onwards. All values are integers, so nothing is rounded before the square root.
    """
    rows, columns = steps.shape
    for row in range(rows):
        last = 0
        site[0], begin[0] = 0, 0
        for u in range(1, columns):
            mine = np.int64(steps[row, u]) ** 2
            while last >= 0:
                its = np.int64(steps[row, site[last]]) ** 2
                if (begin[last] - site[last]) ** 2 + its <= (begin[last] - u) ** 2 + mine:
                    break
                last -= 1
            if last < 0:
                last = 0
                site[0] = u
            else:
                i = site[last]
                its = np.int64(steps[row, i]) ** 2
                first = 1 + (u * u - i * i + mine - its) // (2 * (u - i))
                if first < columns:
                    last += 1
                    site[last], begin[last] = u, first
        for u in range(columns - 1, -1, -1):
            squared = (u - site[last]) ** 2 + np.int64(steps[row, site[last]]) ** 2
            out[row, u] = resolution * math.sqrt(np.float64(squared))
            if u == begin[last]:
                last -= 1


def cell_distance(occupied: Bools, resolution: float) -> Floats:
    """Return the distance from each cell's centre to the centre of the nearest occupied cell, m; `FAR` if there is none."""
    field: Floats = np.full(occupied.shape, FAR, np.float32)
    if occupied.any():
        steps = np.empty(occupied.shape, np.int32)
        site, begin = np.empty((2, occupied.shape[1]), np.int64)
        _along_columns(np.ascontiguousarray(occupied), steps)
        _along_rows(steps, resolution, site, begin, field)
    return field


def steps_to(blocked: Bools) -> Ints:
    """Return the number of cells between each cell and the nearest blocked cell, counting a diagonal as one step.

    The value is -1 in blocked cells and 0 next to them. If no cell is blocked, the value is the number of cells along the map's
    longer side. This is Arena 3.0's distance map.
    """
    from scipy.ndimage import distance_transform_cdt

    if not blocked.any():
        return np.full(blocked.shape, max(blocked.shape), np.int32)
    steps: Ints = distance_transform_cdt(~blocked, "chessboard").astype(np.int32) - np.int32(1)
    return steps


@lean
def inside(polygon, x, y):
    """Return whether (x, y) is inside a closed polygon (V, 2), using the even-odd rule."""
    result = False
    j = len(polygon) - 1
    for i in range(len(polygon)):
        if (polygon[i, 1] > y) != (polygon[j, 1] > y):
            crossing = polygon[i, 0] + (y - polygon[i, 1]) / (polygon[j, 1] - polygon[i, 1]) * (polygon[j, 0] - polygon[i, 0])
            if x < crossing:
                result = not result
        j = i
    return result


@lean_kernel
def _inside_all(polygon, points, out):
    for i in range(len(points)):
        out[i] = inside(polygon, points[i, 0], points[i, 1])


@lean_kernel
def _lower(field, resolution, walls, discs):
    """Lower a distance field where a wall or disc is closer; coordinates are relative to the centre of cell [0, 0]."""
    rows, columns = field.shape
    for s in range(len(walls)):
        x0, y0 = walls[s, 0], walls[s, 1]
        dx, dy = walls[s, 2] - x0, walls[s, 3] - y0
        inverse = _ONE / max(dx * dx + dy * dy, _TINY)
        for row in range(rows):
            py = np.float32(row) * resolution - y0
            for column in range(columns):
                px = np.float32(column) * resolution - x0
                t = min(max((px * dx + py * dy) * inverse, _ZERO), _ONE)
                ex, ey = px - t * dx, py - t * dy
                field[row, column] = min(field[row, column], math.sqrt(ex * ex + ey * ey))
    for k in range(len(discs)):
        for row in range(rows):
            py = np.float32(row) * resolution - discs[k, 1]
            for column in range(columns):
                px = np.float32(column) * resolution - discs[k, 0]
                field[row, column] = min(field[row, column], max(math.sqrt(px * px + py * py) - discs[k, 2], _ZERO))


@lean_kernel
def _fill(field, resolution, polygon):
    """Set a distance field to 0 inside a polygon; coordinates are relative to the centre of cell [0, 0]."""
    for row in range(field.shape[0]):
        for column in range(field.shape[1]):
            if inside(polygon, np.float32(column) * resolution, np.float32(row) * resolution):
                field[row, column] = _ZERO


def with_shapes(
    field: Floats, resolution: float, origin: tuple[float, float], walls: Doubles, discs: Doubles, polygons: tuple[Doubles, ...]
) -> Floats:
    """Return a distance field that takes both cells and exact shapes into account, at the cell centres; it is 0 inside discs and
    polygons.

    Args:
        field: (rows, columns) distance from each cell's centre to the nearest occupied cell, m.
        resolution: length of a cell, m.
        origin: lower-left corner of the map, m.
        walls: (S, 4) segments, including the edges of the polygons, m.
        discs: (D, 3) x, y, radius, m.
        polygons: corners (V, 2) of each polygon, m.
    """
    out = field.copy()
    cell = np.float32(resolution)
    corner = np.asarray(origin, np.float64) + 0.5 * resolution
    near = (walls - np.tile(corner, 2)).astype(np.float32)
    _lower(out, cell, near, (discs - np.append(corner, 0.0)).astype(np.float32))
    for polygon in polygons:
        lower = np.clip(np.floor((polygon.min(0) - corner) / resolution), 0, field.shape[::-1]).astype(int)
        upper = np.clip(np.ceil((polygon.max(0) - corner) / resolution) + 1, 0, field.shape[::-1]).astype(int)
        _fill(out[lower[1] : upper[1], lower[0] : upper[0]], cell, (polygon - corner - lower * resolution).astype(np.float32))
    return out


@spliced
def _gap_to_cells(x, y, field, side, bound):
    """Return the distance from (x, y) to the square of the nearest blocked cell, at most ``bound``; coordinates are relative to the
    origin, and all lengths are in cells.
    """
    rows, columns = field.shape
    best = bound
    for row in range(max(int(math.floor(y - bound)), 0), min(int(math.floor(y + bound)) + 1, rows)):
        dy = max(row - y, y - row - 1.0, 0.0)
        column, last = max(int(math.floor(x - bound)), 0), min(int(math.floor(x + bound)), columns - 1)
        while column <= last:
            free = field[row, column]
            if free == _ZERO:
                dx = max(column - x, x - column - 1.0, 0.0)
                best = min(best, math.sqrt(dx * dx + dy * dy))
            column += max(int(free / side), 1)  # no cell in between is blocked
    return best


@lean_kernel
def gap_to_cells(points, field, resolution, bounds, out):
    """Write to ``out`` (N,) the exact distance from points (N, 2), relative to the origin, to the squares of blocked cells.

    ``field`` is the `cell_distance` to the blocked cells, 0 in the blocked cells themselves. ``bounds`` (N,) are upper bounds on
    the result, m; only cells within them are examined.
    """
    for i in range(len(points)):
        bound = bounds[i] / resolution
        found = _gap_to_cells(points[i, 0] / resolution, points[i, 1] / resolution, field, resolution, bound)
        out[i] = resolution * found if found < bound else bounds[i]  # the bound itself, without a rounding error


@lean_kernel
def _gap_to_edges(points, walls, discs, out):
    """Write to ``out`` (N,) the distance from points (N, 2) to the nearest segment or disc; infinite if there are none."""
    for i in range(len(points)):
        x, y = points[i, 0], points[i, 1]
        best = math.inf
        for k in range(len(walls)):
            dx, dy = walls[k, 2] - walls[k, 0], walls[k, 3] - walls[k, 1]
            px, py = x - walls[k, 0], y - walls[k, 1]
            t = min(max((px * dx + py * dy) / max(dx * dx + dy * dy, 1e-300), 0.0), 1.0)
            ex, ey = px - t * dx, py - t * dy
            best = min(best, math.sqrt(ex * ex + ey * ey))
        for k in range(len(discs)):
            ex, ey = x - discs[k, 0], y - discs[k, 1]
            best = min(best, max(math.sqrt(ex * ex + ey * ey) - discs[k, 2], 0.0))
        out[i] = best


def inside_all(polygon: Doubles, points: Doubles) -> Bools:
    """Return which points (N, 2) are inside a polygon (V, 2)."""
    found: Bools = np.empty(len(points), np.bool_)
    _inside_all(freeze(polygon), freeze(points), found)
    return found


def edges_of(polygons: Iterable[Doubles]) -> Doubles:
    """Return the edges (E, 4) of polygons, each (V, 2): x0, y0, x1, y1."""
    return np.concatenate([np.zeros((0, 4)), *(np.hstack((p, np.roll(p, -1, axis=0))) for p in polygons)])


def gap_to_shapes(points: Doubles, walls: Doubles, discs: Doubles, polygons: tuple[Doubles, ...]) -> Doubles:
    """Return the exact distance (N,) from points (N, 2) to the nearest shape; 0 inside a shape, infinite if there are none."""
    best: Doubles = np.empty(len(points))
    points = freeze(points)
    _gap_to_edges(points, freeze(walls), freeze(discs), best)
    for polygon in polygons:
        best[inside_all(polygon, points)] = 0.0
    return best


@lean
def _to_segment(x, y, x0, y0, x1, y1):
    """Distance from a point to a segment."""
    dx, dy = x1 - x0, y1 - y0
    t = min(max(((x - x0) * dx + (y - y0) * dy) / max(dx * dx + dy * dy, 1e-300), 0.0), 1.0)
    ex, ey = x - x0 - t * dx, y - y0 - t * dy
    return math.sqrt(ex * ex + ey * ey)


@lean
def _cross(ax, ay, bx, by, cx, cy, dx, dy):
    """Return whether segments ab and cd cross, i.e. the ends of each lie strictly on opposite sides of the other."""
    p = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    q = (bx - ax) * (dy - ay) - (by - ay) * (dx - ax)
    u = (dx - cx) * (ay - cy) - (dy - cy) * (ax - cx)
    v = (dx - cx) * (by - cy) - (dy - cy) * (bx - cx)
    return p * q < 0.0 and u * v < 0.0


@lean
def _outline_to_segment(outline, x0, y0, x1, y1, best):
    """Distance from a polygon (V, 2) to a segment, at most ``best``; 0 if they touch or an end of the segment is inside the
    polygon.
    """
    if inside(outline, x0, y0) or inside(outline, x1, y1):
        return 0.0
    j = len(outline) - 1
    for i in range(len(outline)):
        ax, ay, bx, by = outline[j, 0], outline[j, 1], outline[i, 0], outline[i, 1]
        if _cross(ax, ay, bx, by, x0, y0, x1, y1):
            return 0.0
        best = min(best, _to_segment(bx, by, x0, y0, x1, y1))
        best = min(best, min(_to_segment(x0, y0, ax, ay, bx, by), _to_segment(x1, y1, ax, ay, bx, by)))
        j = i
    return best


@spliced
def _box(outline):
    """Bounding box of a polygon (V, 2): left, right, bottom and top."""
    left, bottom = right, top = outline[0, 0], outline[0, 1]
    for i in range(1, len(outline)):
        left, right = min(left, outline[i, 0]), max(right, outline[i, 0])
        bottom, top = min(bottom, outline[i, 1]), max(top, outline[i, 1])
    return left, right, bottom, top


@lean
def _apart(box, x0, x1, y0, y1):
    """Distance between a box (left, right, bottom, top) and the box from (x0, y0) to (x1, y1)."""
    left, right, bottom, top = box
    dx, dy = max(max(left - x1, x0 - right), 0.0), max(max(bottom - y1, y0 - top), 0.0)
    return math.sqrt(dx * dx + dy * dy)


@lean_kernel
def gap_of_outlines(outlines, field, side, out):
    """Lower ``out`` (N,) to the distance from polygons (N, V, 2) to the squares of blocked cells, m; coordinates are relative to
    the origin.

    ``field`` is the `cell_distance` to the blocked cells, 0 in the blocked cells themselves.
    """
    rows, columns = field.shape
    for n in range(len(outlines)):
        outline, best = outlines[n], out[n]
        box = _box(outline)
        left, right, bottom, top = box
        first, last = int(math.floor((left - best) / side)), int(math.floor((right + best) / side))
        lowest, highest = int(math.floor((bottom - best) / side)), int(math.floor((top + best) / side))
        for row in range(max(lowest, 0), min(highest + 1, rows)):
            column, end = max(first, 0), min(last + 1, columns)
            while column < end:
                free = field[row, column]
                x0, y0 = column * side, row * side
                column += max(int(free / side), 1)  # no cell in between is blocked
                x1, y1 = x0 + side, y0 + side
                if free > _ZERO or _apart(box, x0, x1, y0, y1) >= best:
                    continue
                for i in range(len(outline)):  # a corner is inside the square
                    dx = max(max(x0 - outline[i, 0], outline[i, 0] - x1), 0.0)
                    dy = max(max(y0 - outline[i, 1], outline[i, 1] - y1), 0.0)
                    best = min(best, math.sqrt(dx * dx + dy * dy))
                best = _outline_to_segment(outline, x0, y0, x1, y0, best)
                best = _outline_to_segment(outline, x1, y0, x1, y1, best)
                best = _outline_to_segment(outline, x1, y1, x0, y1, best)
                best = _outline_to_segment(outline, x0, y1, x0, y0, best)
        out[n] = best


@lean_kernel
def gap_of_outlines_to_shapes(outlines, walls, discs, out):
    """Lower ``out`` (N,) to the distance from polygons (N, V, 2) to segments (S, 4) and discs (D, 3)."""
    for n in range(len(outlines)):
        outline, best = outlines[n], out[n]
        box = _box(outline)
        for k in range(len(walls)):
            x0, y0, x1, y1 = walls[k, 0], walls[k, 1], walls[k, 2], walls[k, 3]
            if _apart(box, min(x0, x1), max(x0, x1), min(y0, y1), max(y0, y1)) < best:
                best = _outline_to_segment(outline, x0, y0, x1, y1, best)
        for k in range(len(discs)):
            x, y, radius = discs[k, 0], discs[k, 1], discs[k, 2]
            if _apart(box, x, x, y, y) - radius >= best:
                continue
            if inside(outline, x, y):
                best = 0.0
            j = len(outline) - 1
            for i in range(len(outline)):
                gap = _to_segment(x, y, outline[j, 0], outline[j, 1], outline[i, 0], outline[i, 1]) - radius
                best = min(best, max(gap, 0.0))
                j = i
        out[n] = best
