"""The path around all obstacles from one point of a map to another, given by the points at which the path bends."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from agora.core.state import Doubles
from agora.maps.grid import Map
from agora.maps.roads import Roads, radius_class, roads_of

_STEP = 0.1  # m


def way(map: Map, radius: float, start: ArrayLike, end: ArrayLike) -> Doubles | None:
    """Return the path (N, 2) of a walking disc from one point (2,) to another, including both points, m; None if there is no path.

    The path is straight if the straight line is free. Otherwise it follows the roads of the map (`agora.maps.roads`), as
    pedestrians do.

    Args:
        map: map of the surroundings.
        radius: radius of the disc, m.
        start: (2,) first point of the path, m.
        end: (2,) last point of the path, m.
    """
    ends = np.array([start, end], np.float64)
    roads = roads_of(map, radius_class(radius))
    if roads is None or _is_free(map, radius, *ends):
        return ends
    places = _places(roads, *ends)
    return None if places is None else np.vstack([ends[:1], places, ends[1:]])


def _is_free(map: Map, radius: float, start: Doubles, end: Doubles) -> bool:
    """Return whether a disc fits everywhere on a straight line."""
    count = 2 + int(np.hypot(*(end - start)) / _STEP)
    return bool((map.clearance_at(start + np.linspace(0.0, 1.0, count)[:, None] * (end - start)) >= radius).all())


def _places(roads: Roads, start: Doubles, end: Doubles) -> Doubles | None:
    """Return the places on the cheapest path between two points; None if there is no path."""
    cells = roads.cell_of(*start), roads.cell_of(*end)
    if min(cells) < 0:
        return None
    seen = [np.array([k for k in roads.seen.reshape(-1, roads.seen.shape[-1])[cell] if k >= 0], np.intp) for cell in cells]
    if not (len(seen[0]) and len(seen[1])):
        return None
    first, last = (np.hypot(*(roads.place[mine] - point).T) for mine, point in zip(seen, (start, end), strict=True))
    cost = first[:, None] + roads.cost[np.ix_(*seen)] + last[None]
    a, b = np.unravel_index(int(np.argmin(cost)), cost.shape)
    if not np.isfinite(cost[a, b]):
        return None
    here, there = int(seen[0][a]), int(seen[1][b])
    chain = [here]
    while here != there:
        here = int(roads.after[here, there])
        chain.append(here)
    return np.asarray(roads.place[chain], np.float64)


def length_of(points: Doubles) -> float:
    """Return the length of a path (N, 2), m."""
    return float(np.hypot(*np.diff(points, axis=0).T).sum())


def along(points: Doubles, distance: float) -> Doubles:
    """Return the point (2,) that lies ``distance`` metres along a path (N, 2), or the path's end if the path is shorter."""
    parts = np.hypot(*np.diff(points, axis=0).T)
    done = np.concatenate([[0.0], np.cumsum(parts)])
    return np.array([np.interp(distance, done, points[:, axis]) for axis in range(2)])
