"""The common part of navfn and global_planner: a wave over the request's costmap, and the path that descends its potential."""

from __future__ import annotations

import numpy as np

from agora.core.state import Array, Bools, Doubles, Floats
from agora.costmap.inflation import INSCRIBED, LETHAL, NO_INFORMATION, inflate
from agora.interfaces import PathRequest
from agora.planners.global_._descent import descend
from agora.planners.global_.potential import EDGE, UNREACHED, Wave, spread
from agora.planners.global_.search import centres, path_to_free_cell


def price_list(neutral: float, factor: float, blocked: int, most: float, allow_unknown: bool) -> Floats:
    """Return the cost (256,) of moving by one cell, for each costmap value c: the integer part of neutral + factor c, at most
    ``most``; infinite for values of ``blocked`` and above. Unknown cells have the cost ``most``.
    """
    cost = np.arange(256)
    prices = np.where(cost < blocked, np.minimum(np.floor(neutral + factor * cost), most), np.inf)
    prices[NO_INFORMATION] = most if allow_unknown else np.inf
    return prices.astype(np.float32)


def wave_path(
    request: PathRequest, wave: Wave, inflation_radius: float, cost_scaling: float, tolerance: float, grid: bool = False
) -> Floats | None:
    """Return the path (K, 2) from the start to the goal, m; None if there is no path, or the start is outside the map.

    From a start in a blocked cell, the path first leads to the nearest free cell, around obstacles.

    Args:
        request: the planning request.
        wave: parameters of the wave.
        inflation_radius: distance beyond which an obstacle has no cost, m.
        cost_scaling: rate at which the cost of an obstacle decays with distance, 1/m.
        tolerance: if the goal cannot be reached, the path ends at the centre of the nearest reachable cell, at most this far from
            the goal along each axis, m.
        grid: whether the path moves from cell to cell instead of along the gradient.
    """
    place, resolution = request.map, request.map.resolution
    costs = inflate(place, request.radius, inflation_radius, cost_scaling)
    inside = place.clearance_inside(request.radius)
    costs[(inside < place.clearance) & (costs != LETHAL)] = INSCRIBED
    if request.cost is not None:
        costs = np.maximum(costs, np.asarray(request.cost, np.uint8))
    corner = np.asarray(place.origin, np.float64) + 0.5 * resolution
    start, goal = (np.array([request.start[:2], request.goal[:2]], np.float64) - corner) / resolution
    first, last = _cell(start, costs), _cell(goal, costs)
    if first is None or (last is None and tolerance <= 0):
        return None
    escape = np.zeros((0, 2))
    free: Bools = np.isfinite(wave.prices)[costs]
    if not free[first]:
        numbers = path_to_free_cell(inside, resolution, first[0] * costs.shape[1] + first[1], free)
        if numbers is None:
            return None
        way = centres(numbers, costs.shape[1])
        escape, start = np.vstack((start, way[1:-1])), way[-1]
    potential = spread(costs, wave, start, last)
    reached: Bools = potential[EDGE:-EDGE, EDGE:-EDGE] < UNREACHED
    if last is None or not reached[last]:
        near = _nearest(reached, goal, tolerance / resolution)
        if near is None:
            return None
        goal = near
    ends = (goal, start) if wave.exact else (np.floor(goal + 0.5), np.floor(start + 0.5))
    points = descend(potential, *ends, grid)
    if points is None:
        return None
    points = np.vstack((escape, start, points[-2:0:-1], goal))
    return (points * resolution + corner).astype(np.float32)


def _cell(point: Doubles, costs: Array) -> tuple[int, int] | None:
    """Return the row and column of a point given in cells; None outside the map."""
    column, row = (int(v) for v in np.floor(point + 0.5))
    return (row, column) if 0 <= row < costs.shape[0] and 0 <= column < costs.shape[1] else None


def _nearest(reached: Bools, goal: Doubles, tolerance: float) -> Doubles | None:
    """Return the centre of the reached cell nearest to the goal, x and y in cells, or None if no reached cell is within the
    tolerance.
    """
    places = np.argwhere(reached)[:, ::-1].astype(np.float64)
    places = places[(np.abs(places - goal) <= tolerance).all(axis=1)]
    return places[np.argmin(np.hypot(*(places - goal).T))] if len(places) else None
