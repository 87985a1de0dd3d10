"""The cells around a point: code shared by the layers that add costs around pedestrians to costmaps."""

from __future__ import annotations

import numpy as np

from agora.core.jit import hidden
from agora.core.scalar import HALF


@hidden
def cells_around(x, y, reach, origin_x, origin_y, cell, rows, columns):
    """Return the range of cells whose centres may be within ``reach`` metres of a point, and the point's position in cells,
    relative to the centre of cell [0, 0].

    Returns:
        The first row and one after the last row, the first column and one after the last column, and the point's fractional column
        and row.
    """
    u, v = (x - origin_x) / cell - HALF, (y - origin_y) / cell - HALF
    wide = reach / cell
    low, high = max(np.int64(np.ceil(v - wide)), 0), min(np.int64(np.floor(v + wide)) + 1, rows)
    west, east = max(np.int64(np.ceil(u - wide)), 0), min(np.int64(np.floor(u + wide)) + 1, columns)
    return low, high, west, east, u, v
