"""Free lines of sight on a map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agora.core.state import Bools, Doubles
from agora.metrics.quantities.arithmetic import norm

if TYPE_CHECKING:
    from agora.maps.grid import Map

_BLOCKED, _STEP = 0.75, 0.5
"""Clearance below which a line of sight is blocked, and minimum step along the line, both in cells. The clearance is measured
between cell centres, so it is half a cell between two cells that touch at a corner. Larger steps are half the clearance, because
the clearance is accurate only to a cell, and a step as long as the clearance could skip a thin wall.
"""


def _clip_rays(chart: Map, begin: Doubles, step: Doubles, distance: Doubles) -> tuple[Doubles, Doubles]:
    """Return the points (N, 2) at which rays enter a map, and the lengths (N,) of the rays inside the map, m. Outside the map,
    nothing blocks the view.

    Args:
        chart: map to which the rays are clipped.
        begin: (N, 2) start points of the rays, m.
        step: (N, 2) unit vectors along the rays.
        distance: (N,) lengths of the rays, m.
    """
    size, offset = np.asarray(chart.size), begin - chart.origin
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        sides = np.sort(np.stack((-offset / step, (size - offset) / step)), axis=0)  # NaN if the ray runs along a side
    enters = np.fmax(np.fmax(*sides[0].T), 0.0)
    leaves = np.fmin(np.fmin(*sides[1].T), distance)
    with np.errstate(invalid="ignore"):
        return begin + enters[:, None] * step, np.fmin(leaves - enters, np.hypot(*size))


def is_free(chart: Map | None, begin: Doubles, offset: Doubles) -> Bools:
    """Return whether each of N straight lines is free of walls (N,).

    Args:
        chart: map; None for an empty plane.
        begin: (N, 2) start points of the lines, m.
        offset: (N, 2) vectors from the start points to the end points, m.
    """
    if chart is None:
        return np.ones(len(begin), np.bool_)
    distance = norm(offset)
    step = offset / np.maximum(distance, 1e-9)[:, None]
    begin, distance = _clip_rays(chart, begin, step, distance)
    travelled, free = np.zeros(len(begin)), ~(distance > 0.0)
    rays = np.flatnonzero(~free)
    while len(rays):
        clearance = np.asarray(chart.clearance_at(begin[rays] + travelled[rays, None] * step[rays]), np.float64)
        travelled[rays] += np.maximum(0.5 * clearance, _STEP * chart.resolution)
        arrived = travelled[rays] >= distance[rays]
        free[rays[arrived]] = True
        rays = rays[~arrived & (clearance >= _BLOCKED * chart.resolution)]
    return free
