"""The map frame, and the frames of files, whose origin may be far away (for example, in UTM coordinates).

Kernels compute in float32, in which adjacent numbers are 0.5 m apart at 5,000 km. Therefore, code that reads files subtracts an
offset from all positions, and code that writes files, pictures and messages adds it again. Everything else, including ROS, uses the
map frame.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from agora.core.state import Doubles

__all__ = ["moved"]

FARTHEST = 10_000.0
"""Maximum distance of a map from the map frame's origin along an axis, m; at that distance, float32 numbers are 1 mm apart."""

_NEAR, _KILOMETRE, _DECIMALS = 500.0, 1000.0, 8


def offset_of(corner: Sequence[float]) -> tuple[float, float]:
    """Return the position of the map frame's origin in the frame of a file, m, chosen so that a map with the given lower-left
    corner lies near the origin.

    Along each axis, the offset is 0 if the corner is within 500 m of the origin, and otherwise a whole number of kilometres. So if
    a map is moved by whole kilometres, its positions in the map frame stay the same, bit for bit.
    """
    x, y = (0.0 if abs(v) <= _NEAR else _KILOMETRE * round(v / _KILOMETRE) for v in corner[:2])
    return x, y


def moved(points: ArrayLike, by: tuple[float, float]) -> Doubles:
    """Return points (..., 2 or more), whose first two values are x and y, shifted by an offset; all lengths are in metres.

    Shifted coordinates are rounded to 1e-8 m, so that 100003.2 shifted by -100000 is 3.2.
    """
    there = np.array(points, np.float64)
    for axis, far in enumerate(by):
        if far:
            there[..., axis] = np.round(there[..., axis] + far, _DECIMALS)
    return there
