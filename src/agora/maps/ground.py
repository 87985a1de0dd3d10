"""Ground with steps and gaps, and the resulting map for a robot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from agora.core.state import Bools
from agora.maps import distance
from agora.maps.grid import Map

LEVEL = 0.02
"""Maximum height difference between two neighbouring cells that does not count as an edge for any robot, m."""


def met_by(map: Map, step: float, span: float) -> Map:
    """Return the map for a robot, without heights: it contains the obstacles and everything that the robot can neither step onto
    nor step over.

    The upper cell of an edge higher than ``step`` is an obstacle. The upper cells of lower edges, and the cells in a gap, offer no
    foothold: they are unknown, so that nothing is placed there. If the nearest cell with foothold is more than half of ``span``
    away, they are obstacles. So a gap as wide as ``span`` can be crossed anywhere, and a wider gap nowhere.

    Args:
        map: map with heights; a map without `Map.ground` is returned unchanged.
        step: maximum height of an edge that the robot can step onto, m; 0 for wheels.
        span: maximum width of a gap that the robot can step over, m; 0 for wheels.
    """
    if map.ground is None:
        return map
    if (step, span) not in map.met:
        map.met[step, span] = _met(map, step, span)
    return map.met[step, span]


def _met(map: Map, step: float, span: float) -> Map:
    assert map.ground is not None
    height = np.where(np.isneginf(map.ground), np.nan, map.ground.astype(np.float64))
    drop = np.zeros(map.shape)
    for axis in (0, 1):
        down = np.diff(height, axis=axis)
        rise, fall = ([(0, 0), (0, 0)] for _ in range(2))
        rise[axis], fall[axis] = (1, 0), (0, 1)
        drop = np.fmax(drop, np.fmax(np.pad(down, rise), np.pad(-down, fall)))
    footless: Bools = (np.isnan(height) | (drop > LEVEL + 1e-6)) & ~map.occupied
    blocked = (drop > max(step, LEVEL) + 1e-6) | _wide(footless, ~footless & ~map.occupied, map.resolution, span)
    unknown = footless & ~blocked if map.unknown is None else map.unknown | (footless & ~blocked)
    stages = tuple(_met(replace(stage, ground=map.ground), step, span) for stage in map.stages)
    return replace(map, occupied=map.occupied | blocked, unknown=unknown if unknown.any() else None, ground=None, stages=stages)


def _wide(footless: Bools, ground: Bools, resolution: float, span: float) -> Bools:
    """Return which cells (rows, columns) without foothold extend more than half of ``span`` away from the ground; distances are
    measured in half cells.
    """
    if span <= 0.0 or not ground.any():
        return footless
    away = distance.cell_distance(np.kron(ground, np.ones((2, 2), np.bool_)), 0.5 * resolution) > 0.5 * span + 1e-6
    return footless & away.reshape(ground.shape[0], 2, ground.shape[1], 2).any(axis=(1, 3))
