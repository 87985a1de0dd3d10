"""The map frame, and the frames of files, whose zero may be far away, as that of UTM coordinates is.

Kernels compute with float32, whose numbers are 0.5 m apart at 5,000 km. So what reads files takes an offset off all places, and
what writes files, pictures and messages puts it back. In between, and in ROS, everything is in the map frame.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from agora.core.state import Doubles

__all__ = ["moved"]

FARTHEST = 10_000.0
"""Farthest that a map may lie from the map frame's zero along an axis, m: float32 numbers are 1 mm apart there."""

_NEAR, _KILOMETRE, _DECIMALS = 500.0, 1000.0, 8


def offset_of(corner: Sequence[float]) -> tuple[float, float]:
    """Return where the map frame's zero lies in the frame of a file, m, so that a map with this lower-left corner is near it.

    It is 0 along an axis where the corner is within 500 m of zero, and a whole number of kilometres elsewhere: a map that is moved
    by kilometres keeps its places in the map frame, bit for bit.
    """
    x, y = (0.0 if abs(v) <= _NEAR else _KILOMETRE * round(v / _KILOMETRE) for v in corner[:2])
    return x, y


def moved(points: ArrayLike, by: tuple[float, float]) -> Doubles:
    """Return points (..., 2 or more), x and y first, moved by an offset, m.

    What is moved is rounded to 1e-8 m, so that 100003.2 moved by -100000 is 3.2.
    """
    there = np.array(points, np.float64)
    for axis, far in enumerate(by):
        if far:
            there[..., axis] = np.round(there[..., axis] + far, _DECIMALS)
    return there
