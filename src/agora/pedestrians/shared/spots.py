"""Spots at which pedestrians use furniture; a spot inside the furniture is moved to the nearest free point."""

from __future__ import annotations

import functools
import math

import numpy as np

from agora.core.state import Doubles, Ints
from agora.maps.furniture import Furniture
from agora.maps.grid import Map

STAND, SIT, WORK, QUEUE = range(4)
USES = ("stand", "sit", "work", "queue")
"""Uses of a spot (`agora.maps.furniture.Spot`); in arrays, a use is an index into this list."""

_FARTHEST, _STEP, _DIRECTIONS = 2.0, 0.05, 24


@functools.lru_cache(maxsize=64)
def usable_spots(furniture: tuple[Furniture, ...], map: Map, radius: float) -> tuple[Doubles, Ints]:
    """Return the poses (S, 3) at which people use furniture, m and rad, and the use of each pose (S,), as an index into `USES`.

    A seat is inside its chair, where crowd models allow no disc, so a sitting pedestrian is placed at the chair's edge. Of the
    nearest free points, the one farthest along the spot's heading is chosen, because a sitting person faces away from the backrest.
    A spot with no free point within 2 m is left out.

    Args:
        furniture: furniture on the map.
        map: map with the furniture on it.
        radius: radius of the pedestrians, m.
    """
    poses, uses = [], []
    for piece in furniture:
        for spot, pose in piece.spots():
            point = _free_point(map, pose, radius)
            if point is not None:
                poses.append((*point, math.remainder(float(pose[2]), math.tau)))
                uses.append(USES.index(spot.use))
    return np.array(poses, np.float64).reshape(-1, 3), np.array(uses, np.int32)


def _free_point(map: Map, pose: Doubles, radius: float) -> Doubles | None:
    """Return the free point for a disc that is nearest to a pose, preferring points straight ahead."""
    turns = np.arange(_DIRECTIONS) * (2 * np.pi / _DIRECTIONS)
    turns = turns[np.argsort(np.minimum(turns, 2 * np.pi - turns), kind="stable")] + pose[2]
    rays = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    for distance in np.arange(0.0, _FARTHEST + _STEP, _STEP):
        points = pose[:2] + distance * rays
        free = (map.gap(points, limit=radius) >= radius) & map.contains(points)
        if free.any():
            nearest: Doubles = points[int(np.argmax(free))]
            return nearest
    return None
