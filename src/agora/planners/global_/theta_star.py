"""Theta*: plans any-angle paths over the cells of a map.

Source: K. Daniel, A. Nash, S. Koenig, A. Felner, Theta*: Any-Angle Path Planning on Grids, JAIR 39 (2010), the basic algorithm: A*
over 8-connected cells, in which a cell's parent is its predecessor's parent if there is a line of sight to it, and otherwise the
predecessor itself. The heuristic is the distance to the goal. As in the paper, a cell's path is final once the cell leaves the
queue, so a path may be slightly longer than the shortest one, and may turn at points that are not at obstacles.

Differences from the source:

- Vertices are the cell centres and the two exact ends of the path; in the paper they are cell corners.
- Cells whose clearance is not above the robot's radius are blocked. Two cells are in line of sight if the clearance, interpolated
  between cells and sampled twice per cell length, is above the radius all along the line.
- Lines across costly cells cost more: one cell length costs 1 + factor c / neutral, where c is the cost on costmap_2d's scale, from
  inflation or from layers. The cheaper of the two possible parents is used. With ``factor`` 0, paths are as in the paper.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from agora.core.heap import move_up, pop_item
from agora.core.jit import hidden, lean_kernel
from agora.core.scalar import HALF, TWO, ZERO
from agora.core.state import Array, Doubles, Floats
from agora.interfaces import PathRequest
from agora.planners.global_.search import NO_LAYER, cell_factors, centres, ends_of, resample
from agora.ranges import Checked, Distance, Length, NotNegative, Positive

__all__ = ["ThetaStar"]

_INFINITE, _NEAREST = np.float32(np.inf), np.float32(0.501)
_TIE = np.float32(1.00001)  # factor by which the path via the parent may be costlier, so that rounding does not decide ties
GAP, COST = 0, 1
LENGTH, KEY = 0, 1
PARENT, SLOT, CELL = 0, 1, 2


@hidden
def _interpolate_clearance(field, x, y):
    """Return the clearance interpolated between four cells."""
    column, row = min(np.int64(x), field.shape[1] - 2), min(np.int64(y), field.shape[0] - 2)
    a, b = x - np.float32(column), y - np.float32(row)
    lower = field[row, column, GAP] + a * (field[row, column + 1, GAP] - field[row, column, GAP])
    upper = field[row + 1, column, GAP] + a * (field[row + 1, column + 1, GAP] - field[row + 1, column, GAP])
    return lower + b * (upper - lower)


@hidden
def _line_cost(field, x0, y0, x1, y1, least, clear, most):
    """Return the cost of a line, in cells; infinite if the clearance does not stay above ``least`` m, or if the cost exceeds
    ``most``.
    """
    dx, dy = x1 - x0, y1 - y0
    count = max(np.int64(np.ceil(TWO * max(abs(dx), abs(dy)))), 1)
    long = math.sqrt(dx * dx + dy * dy) / np.float32(count)
    dx, dy = dx / np.float32(count), dy / np.float32(count)
    east, north = np.float32(field.shape[1] - 1), np.float32(field.shape[0] - 1)
    total = ZERO
    for i in range(count):
        x = min(max(x0 + (np.float32(i) + HALF) * dx, ZERO), east)
        y = min(max(y0 + (np.float32(i) + HALF) * dy, ZERO), north)
        row, column = np.int64(y + _NEAREST), np.int64(x + _NEAREST)
        total += field[row, column, COST]
        if not total * long <= most or (field[row, column, GAP] <= clear and not _interpolate_clearance(field, x, y) > least):
            return _INFINITE
    return total * long


@lean_kernel
def _search(field, ends, first, last, least, clear, costs, links):
    """Search from the first cell to the last; return whether there is a path. The parents that define the path are in ``links``.

    Args:
        field: (rows, columns, 2) GAP: clearance, m; COST: cost of one cell length, at least 1.
        ends: (2, 2) positions of the vertices of the first and the last cell, in cells.
        first: index of the first cell, row * columns + column.
        last: index of the last cell.
        least: clearance that must be exceeded, m.
        clear: clearance of a cell that guarantees ``least`` near its centre, m.
        costs: (cells, 2) LENGTH: cost of the path to a cell, initially infinite; KEY: LENGTH plus the distance to the goal.
        links: (cells, 3) PARENT: parent of a cell; SLOT: the cell's slot in the queue, which is a heap, initially -1, and -2 once
            it has left the queue; CELL: cell in a slot.
    """
    rows, columns = field.shape[0], field.shape[1]
    costs[first, LENGTH], costs[first, KEY] = ZERO, ZERO
    links[first, PARENT] = first
    keys, slots, cells = costs[:, KEY], links[:, SLOT], links[:, CELL]
    move_up(keys, cells, slots, first, 0)
    count = 1
    while count > 0:
        cell = pop_item(keys, cells, slots, count)
        count -= 1
        links[cell, SLOT] = -2
        if cell == last:
            return True
        row, column = cell // columns, cell % columns
        parent = links[cell, PARENT]
        x, y = _vertex(cell, columns, ends, first, last)
        px, py = _vertex(parent, columns, ends, first, last)
        for r in range(max(row - 1, 0), min(row + 2, rows)):
            for c in range(max(column - 1, 0), min(column + 2, columns)):
                other = r * columns + c
                if not field[r, c, GAP] > least or links[other, SLOT] == -2:
                    continue
                u, v = _vertex(other, columns, ends, first, last)
                best, source = costs[other, LENGTH], -1
                through = costs[cell, LENGTH] + _line_cost(field, x, y, u, v, least, clear, best - costs[cell, LENGTH])
                if through < best:
                    best, source = through, cell
                limit = best * _TIE if source == cell else best
                # Connect the neighbour to the parent of this cell. The straight-line distance is a lower bound that avoids most
                # line tests.
                if costs[parent, LENGTH] + _distance(px, py, u, v) < limit:
                    through = costs[parent, LENGTH] + _line_cost(field, px, py, u, v, least, clear, limit - costs[parent, LENGTH])
                    if through < limit:
                        best, source = through, parent
                if source < 0:
                    continue
                costs[other, LENGTH], links[other, PARENT] = best, source
                costs[other, KEY] = best + _distance(u, v, ends[1, 0], ends[1, 1])
                slot = links[other, SLOT]
                if slot < 0:
                    slot = count
                    count += 1
                move_up(keys, cells, slots, other, slot)
    return False


@hidden
def _distance(x, y, u, v):
    return math.sqrt((u - x) * (u - x) + (v - y) * (v - y))


@hidden
def _vertex(cell, columns, ends, first, last):
    """Return the position of a cell's vertex, in cells: the centre of the cell, or the path's end that lies in it."""
    if cell == first:
        return ends[0, 0], ends[0, 1]
    if cell == last:
        return ends[1, 0], ends[1, 1]
    return np.float32(cell % columns), np.float32(cell // columns)


@dataclass(frozen=True)
class ThetaStar(Checked):
    """Plans any-angle paths: like taut strings around obstacles at a distance of the robot's radius, or farther away where the cost
    makes this worthwhile.

    If the start is too close to an obstacle, the path first leads to the nearest free cell, around obstacles. Unknown cells count
    as free.

    Attributes:
        neutral: cost of crossing one cell when no obstacle is near.
        factor: weight of the inflated cost and of layer costs; 0 for the shortest path.
        inflation_radius: distance beyond which an obstacle has no cost, m.
        cost_scaling: rate at which the cost of an obstacle decays with distance, 1/m.
        spacing: distance between points of the path, m.
    """

    neutral: Positive = 50.0
    factor: NotNegative = 0.8
    inflation_radius: Distance = 1.0
    cost_scaling: NotNegative = 5.0
    spacing: Length = 0.1

    def path(self, request: PathRequest) -> Floats | None:
        """Return the path (K, 2) from the start to the goal, m; None if there is no path, or the start or goal is outside the
        map.
        """
        place, resolution = request.map, request.map.resolution
        corner = np.asarray(place.origin, np.float64) + 0.5 * resolution
        ends = (np.array([request.start[:2], request.goal[:2]], np.float64) - corner) / resolution
        layer = NO_LAYER if request.cost is None else np.ascontiguousarray(request.cost, np.uint8)
        clearance = np.ascontiguousarray(place.clearance_inside(request.radius), np.float32)
        least = max(request.radius, 0.5 * resolution)
        found = ends_of(clearance, resolution, ends, clearance > np.float32(least))
        if found is None:
            return None
        first, last, lead = found
        columns = clearance.shape[1]
        cost = (-1.0, request.radius, self.factor / self.neutral, self.inflation_radius, self.cost_scaling)
        factor = np.empty(clearance.shape, np.float32)
        cell_factors(clearance, layer, *(np.float32(v) for v in cost), factor)
        field = np.stack((clearance, factor), axis=2)
        middle, exact = centres(np.array((first, last)), columns), place.clearance_at(ends * resolution + corner) > least
        exact[0] &= not len(lead)
        for whole in (exact, np.array((False, False))):
            vertices = np.where(whole[:, None], ends, middle)
            numbers = _turns(field, vertices, first, last, least, resolution)
            if numbers is not None:
                begin = lead if len(lead) else ends[:1][~whole[:1]]
                points = np.vstack((begin, vertices[:1], centres(numbers, columns), vertices[1:], ends[1:][~whole[1:]]))
                return resample(points * resolution + corner, self.spacing).astype(np.float32)
        return None


def _turns(field: Floats, ends: Doubles, first: int, last: int, least: float, cell: float) -> Array | None:
    """Return the cells (K,) at which the path turns, excluding both ends, or None if there is no path; the arguments are those of
    the kernel, plus the length of a cell, m.
    """
    reach = np.float32(least), np.float32(least + cell)
    size = field.shape[0] * field.shape[1]
    costs, links = np.full((size, 2), np.inf, np.float32), np.full((size, 3), -1, np.int32)
    if not _search(field, ends.astype(np.float32), first, last, *reach, costs, links):
        return None
    turns, cell = [], int(links[last, PARENT])
    while cell != first:
        turns.append(cell)
        cell = int(links[cell, PARENT])
    return np.array(turns[::-1], np.int64)
