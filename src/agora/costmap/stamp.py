"""The cells around a point: the common part of the layers that add costs of pedestrians to costmaps."""

from __future__ import annotations

import numpy as np

from agora.core.jit import hidden
from agora.core.scalar import HALF


@hidden
def cells_around(x, y, reach, origin_x, origin_y, cell, rows, columns):
    """Return the cells whose centres may be within ``reach`` of a point, m, and the point in cells from the centre of cell [0, 0].

    Returns:
        First and one after the last row, first and one after the last column, and the point's column and row as real numbers.
    """
    u, v = (x - origin_x) / cell - HALF, (y - origin_y) / cell - HALF
    wide = reach / cell
    low, high = max(np.int64(np.ceil(v - wide)), 0), min(np.int64(np.floor(v + wide)) + 1, rows)
    west, east = max(np.int64(np.ceil(u - wide)), 0), min(np.int64(np.floor(u + wide)) + 1, columns)
    return low, high, west, east, u, v
