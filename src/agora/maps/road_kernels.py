"""The kernels that make the roads of a map: compiled loops over its cells and places (`agora.maps.roads`)."""

from __future__ import annotations

import math

import numpy as np

from agora.core.field import distance_at, is_clear
from agora.core.jit import device, hidden
from agora.core.scalar import HALF, ONE, ZERO

SIGHT = np.float32(8.0)  # m, how far from a place its surroundings may reach
_LONGEST = np.float32(12.0)  # m, of a road
_AMPLE = np.float32(0.3)  # m, clearance beyond the radius above which a road is not narrow
_NARROW = np.float32(3.0)  # how much dearer a road is where the disc just fits
_STEP = np.float32(0.1)  # m, between two readings of a road's width
_APART = np.float32(0.6)  # m, between two such places
_RINGS = np.float32(2.0), np.float32(4.0), SIGHT  # m, round a cell, whose places are looked at one after the other
_SLACK = np.float32(1e-3)  # m, more than the distance field's error in arithmetic


@hidden
def _is_apart(point, chosen, count, cell):
    """Return whether a cell is not close to a chosen one."""
    for k in range(count):
        dx, dy = point[chosen[k], 0] - point[cell, 0], point[chosen[k], 1] - point[cell, 1]
        if dx * dx + dy * dy < _APART * _APART:
            return False
    return True


@device
def cover(maps, point, rows, columns, order, forced, least, reach, owner, chosen):
    """Choose the forced cells and, in an order, cells that see all others; return their number, and write the first seer of each
    cell.

    ``owner`` is -2 for cells that nobody can see, in which the disc does not fit, and -1 for others that nobody sees.
    """
    count = 0
    for k in range(rows * columns):
        owner[k] = -2 if distance_at(maps, 0, point[k, 0], point[k, 1]) < least - _SLACK else -1
    for start in order:
        if owner[start] >= 0:
            if forced[start] and _is_apart(point, chosen, count, start):
                chosen[count] = start
                count += 1
            continue
        x, y = point[start, 0], point[start, 1]
        row, column = start // columns, start % columns
        for r in range(max(row - reach, 0), min(row + reach + 1, rows)):
            for k in range(r * columns + max(column - reach, 0), r * columns + min(column + reach + 1, columns)):
                dx, dy = point[k, 0] - x, point[k, 1] - y
                if owner[k] != -1 or dx * dx + dy * dy > SIGHT * SIGHT:
                    continue
                if is_clear(maps, 0, x, y, point[k, 0], point[k, 1], least):
                    owner[k] = count
        chosen[count] = start
        count += 1
    return count


@device
def borders(maps, point, width, rows, columns, least, owner, chosen, first, second):
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
    """Return the cost of a straight road on map ``m`` for a disc, m: its length, and more where it is narrow."""
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
def join(maps, place, least, cost):
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
def look(maps, point, free, place, least, near_start, near_place, columns, seen):
    """Write for each free cell the nearest places in sight of its point.

    The places within `SIGHT` of anywhere in square k of `SIGHT` are ``near_place[near_start[k]:near_start[k + 1]]``; squares lie in
    rows of ``columns`` from the point of the smallest coordinates on.
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
                while at > 0 and distance[at - 1] > squared:
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
