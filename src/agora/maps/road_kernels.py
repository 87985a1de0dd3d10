"""The kernels that compute the roads of a map: compiled loops over its cells and places (`agora.maps.roads`)."""

from __future__ import annotations

import math

import numpy as np

from agora.core.field import distance_at, is_clear
from agora.core.jit import device, hidden
from agora.core.scalar import HALF, ONE, ZERO

SIGHT = np.float32(8.0)  # maximum distance at which a place sees a cell, m
_LONGEST = np.float32(12.0)  # maximum length of a road, m
_AMPLE = np.float32(0.3)  # m, clearance beyond the radius above which a road is not narrow
_NARROW = np.float32(3.0)  # factor by which a road is more expensive where the disc just fits
_STEP = np.float32(0.1)  # distance between two samples of a road's width, m
_PART = np.float32(0.3)  # of a step, so that no road between centres of cells has a length of a whole number of steps
_APART = np.float32(0.6)  # m, between two such places
_RINGS = np.float32(2.0), np.float32(4.0), SIGHT  # radii around a cell, m, examined one after another
_SLACK = np.float32(1e-3)  # greater than the rounding error of the distance field, m
_CENTIMETRES = np.float32(100.0)
_FARTHEST = np.int64(1 << 40)  # greater than the square of any distance on a map, in half cells
_SEEN = np.int64(-2)  # marks two places that see each other


@hidden
def _is_apart(point, chosen, count, cell):
    """Return whether a cell is not close to any chosen cell."""
    for k in range(count):
        dx, dy = point[chosen[k], 0] - point[cell, 0], point[chosen[k], 1] - point[cell, 1]
        if dx * dx + dy * dy < _APART * _APART - _SLACK:
            return False
    return True


@device
def cover(maps, point, rows, columns, order, rank, forced, least, reach, owner, chosen):
    """Choose the forced cells and, in the given order, cells that together see all others. Return the number of chosen cells. For
    each cell, write the first chosen cell that sees it, or the nearest one if several have the same rank.

    Cells of the same rank do not prevent each other from being chosen. ``owner`` is -2 for cells in which the disc does not fit,
    which cannot be seen from any cell, and -1 for other unseen cells.
    """
    count, before = 0, 0
    for k in range(rows * columns):
        owner[k] = -2 if distance_at(maps, 0, point[k, 0], point[k, 1]) < least - _SLACK else -1
    for n, start in enumerate(order):
        if n == 0 or rank[n] != rank[n - 1]:
            before = count
        if 0 <= owner[start] < before and not (forced[start] and _is_apart(point, chosen, before, start)):
            continue
        chosen[count] = start
        count += 1
        if 0 <= owner[start] < before:
            continue
        x, y = point[start, 0], point[start, 1]
        row, column = start // columns, start % columns
        for r in range(max(row - reach, 0), min(row + reach + 1, rows)):
            for k in range(r * columns + max(column - reach, 0), r * columns + min(column + reach + 1, columns)):
                dx, dy = point[k, 0] - x, point[k, 1] - y
                squared = dx * dx + dy * dy
                if squared > SIGHT * SIGHT or owner[k] == -2 or 0 <= owner[k] < before:
                    continue
                if owner[k] >= 0:
                    other = chosen[owner[k]]
                    ox, oy = point[k, 0] - point[other, 0], point[k, 1] - point[other, 1]
                    if ox * ox + oy * oy <= squared + _SLACK:
                        continue
                if is_clear(maps, 0, x, y, point[k, 0], point[k, 1], least):
                    owner[k] = count - 1
    return count


@hidden
def _see(maps, ax, ay, bx, by, least):
    """Return whether a straight road connects two points, in both directions."""
    dx, dy = ax - bx, ay - by
    if dx * dx + dy * dy > _LONGEST * _LONGEST:
        return False
    return is_clear(maps, 0, ax, ay, bx, by, least) and is_clear(maps, 0, bx, by, ax, ay, least)


@hidden
def _worth_of(width, rows, columns, mine, theirs):
    """Return a score of two neighbouring cells as places: wider cells score higher, in steps of 1 cm, and among equally wide cells
    those nearer to the centre of the map.
    """
    far = np.int64(0)
    for k in (mine, theirs):
        row, column = 2 * (k // columns) + 1 - rows, 2 * (k % columns) + 1 - columns
        far += np.int64(row) * row + np.int64(column) * column
    return np.int64(round(min(width[mine], width[theirs]) * _CENTIMETRES)) * _FARTHEST - far


@device
def borders(maps, point, width, rows, columns, least, owner, chosen, best, met):
    """For each pair of chosen cells a < b that do not see each other, mark the widest pair of neighbouring cells of which one
    belongs to a and the other to b.
    """
    for turn in range(2):
        for k in range(rows * columns):
            a = owner[k]
            if a < 0:
                continue
            for side in range(2):
                if (side == 0 and k % columns == columns - 1) or (side == 1 and k >= (rows - 1) * columns):
                    continue
                other = k + 1 if side == 0 else k + columns
                b = owner[other]
                if b < 0 or b == a:
                    continue
                i, j = min(a, b), max(a, b)
                worth = _worth_of(width, rows, columns, k, other)
                if best[i, j] == _SEEN or worth < best[i, j] + 1 - turn:
                    continue
                if not _see(maps, point[k, 0], point[k, 1], point[other, 0], point[other, 1], least):
                    continue
                p, q = chosen[i], chosen[j]
                if best[i, j] == -1 and _see(maps, point[p, 0], point[p, 1], point[q, 0], point[q, 1], least):
                    best[i, j] = _SEEN
                elif turn == 0:
                    best[i, j] = worth
                else:
                    met[k] = met[other] = True


@hidden
def cell_near(roads, q, x, y):
    """Return the number of the nearest cell in which the disc of road network q fits, counted over the cells of all networks; -1 if
    the disc fits nowhere.
    """
    columns, rows = roads.columns[q], roads.rows[q]
    column = min(max(np.int32((x - roads.origin_x[q]) / roads.cell[q]), 0), columns - 1)
    row = min(max(np.int32((y - roads.origin_y[q]) / roads.cell[q]), 0), rows - 1)
    nearest = roads.nearest[roads.cell_start[q] + row * columns + column]
    return roads.cell_start[q] + nearest if nearest >= 0 else -1


@hidden
def road(maps, m, x0, y0, x1, y1, radius):
    """Return the cost of a straight road on map ``m`` for a disc, m: its length, plus a surcharge where it is narrow."""
    dx, dy = x1 - x0, y1 - y0
    length = math.sqrt(dx * dx + dy * dy)
    parts = max(int(length / _STEP + _PART), 1)
    dear = ZERO
    for k in range(parts):
        t = (np.float32(k) + HALF) / np.float32(parts)
        beyond = distance_at(maps, m, x0 + t * dx, y0 + t * dy) - radius
        dear += max(ONE - beyond / _AMPLE, ZERO)
    return length * (ONE + _NARROW * dear / np.float32(parts))


@device
def join(maps, place, least, cost):
    """Write the costs of the roads between places that see each other."""
    for a in range(len(place)):
        for b in range(a):
            if _see(maps, place[a, 0], place[a, 1], place[b, 0], place[b, 1], least):
                cost[a, b] = road(maps, 0, place[a, 0], place[a, 1], place[b, 0], place[b, 1], least)
                cost[b, a] = cost[a, b]


@device
def look(maps, point, free, place, least, near_start, near_place, columns, seen):
    """Write, for each free cell, the nearest places that are visible from the cell's point.

    The area is divided into squares with sides of `SIGHT`, in rows of ``columns``, starting at the point with the minimum
    coordinates. The places that may be within `SIGHT` of a point in square k are ``near_place[near_start[k]:near_start[k + 1]]``.
    """
    left, bottom = np.min(point[:, 0]), np.min(point[:, 1])
    near, distance = np.empty(len(place), np.int32), np.empty(len(place), np.float32)
    for k in free:
        square = int((point[k, 1] - bottom) / SIGHT) * columns + int((point[k, 0] - left) / SIGHT)
        found, inner = 0, -ONE
        for outer in _RINGS:
            count = 0
            for a in near_place[near_start[square] : near_start[square + 1]]:
                dx, dy = place[a, 0] - point[k, 0], place[a, 1] - point[k, 1]
                squared = dx * dx + dy * dy
                if squared > outer * outer or squared <= inner:
                    continue
                at = count
                while at > 0 and distance[at - 1] > squared + _SLACK:
                    distance[at], near[at] = distance[at - 1], near[at - 1]
                    at -= 1
                distance[at], near[at] = squared, a
                count += 1
            for n in range(count):
                if found == seen.shape[1]:
                    break
                a = near[n]
                if is_clear(maps, 0, point[k, 0], point[k, 1], place[a, 0], place[a, 1], least):
                    seen[k, found] = a
                    found += 1
            if found == seen.shape[1]:
                break
            inner = outer * outer
