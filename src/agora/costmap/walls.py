"""The walls around a robot in its local costmap: the nearest lethal cells, one per 3 x 3 block.

Blocks are aligned with the robot's cell, so that a scene rotated by 90 degrees is divided into the same blocks. Unknown cells are
not walls.
"""

from __future__ import annotations

import numpy as np

from agora.core.cells import index_in, key_of, select_nearest
from agora.core.jit import hidden, spliced
from agora.core.scalar import HALF
from agora.core.state import PADDING, Array, Floats, freeze
from agora.costmap.inflation import LETHAL
from agora.interfaces import Costmap

_BLOCK = 3
_LETHAL = np.uint8(LETHAL)
_FAR = np.float32(3e38)


def window_of(costmap: Costmap | None, rows: int) -> tuple[Array, Floats, np.float32]:
    """Return costs, corners and resolution in the form that kernels read; without a costmap, the windows have no cells."""
    if costmap is None:
        return freeze(np.zeros((rows, 0, 0), np.uint8)), freeze(np.zeros((rows, 2), np.float32)), np.float32(1.0)
    return freeze(costmap.cost), freeze(costmap.origin), np.float32(costmap.resolution)


@spliced
def key_count(cells):
    """Return the number of keys needed for the walls in a window of ``cells`` cells per side."""
    return (2 * (cells // _BLOCK + 1) + 1) ** 2 + PADDING


@hidden
def _blocks(cost, origin_x, origin_y, resolution, x, y, reach, keys):
    """Write the key of the nearest lethal cell in every block, with cells numbered row by row; return the number of keys."""
    rows, columns = cost.shape
    own_row, own_column = np.int64(np.floor((y - origin_y) / resolution)), np.int64(np.floor((x - origin_x) / resolution))
    around = min(np.int64(reach / resolution) // _BLOCK + 1, np.int64(max(rows, columns) // _BLOCK + 1))
    left, bottom = origin_x + HALF * resolution - x, origin_y + HALF * resolution - y
    found = np.int64(0)  # a Numba literal 0 has its own type and would compile the kernel again
    for i in range(-around, around + 1):
        for j in range(-around, around + 1):
            least, index = _FAR, np.int64(-1)
            first = own_column + j * _BLOCK - 1
            for row in range(max(own_row + i * _BLOCK - 1, 0), min(own_row + i * _BLOCK - 1 + _BLOCK, rows)):
                for column in range(max(first, 0), min(first + _BLOCK, columns)):
                    if cost[row, column] == _LETHAL:
                        dx, dy = left + np.float32(column) * resolution, bottom + np.float32(row) * resolution
                        if dx * dx + dy * dy < least:
                            least, index = dx * dx + dy * dy, row * columns + column
            if index >= 0 and least < reach * reach:
                keys[found] = key_of(least, index)
                found += 1
    return found


@hidden
def _places(keys, count, columns, origin_x, origin_y, resolution, x, y, points):
    """Write the centres of the cells with the given keys, relative to (x, y)."""
    left, bottom = origin_x + HALF * resolution - x, origin_y + HALF * resolution - y
    for n in range(count):
        cell = index_in(keys[n])
        points[n, 0] = left + np.float32(cell % columns) * resolution
        points[n, 1] = bottom + np.float32(cell // columns) * resolution


@hidden
def walls_around(cost, origin_x, origin_y, resolution, x, y, reach, keys, points):
    """Write the centres of the nearest lethal cells of the blocks, relative to (x, y), in arbitrary order, and return their number.

    Args:
        cost: (rows, columns) uint8 costs of the window; a window without cells has no walls.
        origin_x: x of the window's lower-left corner, m.
        origin_y: y of the window's lower-left corner, m.
        resolution: length of a cell, m.
        x: x of the robot, m.
        y: y of the robot, m.
        reach: distance beyond which cells are ignored, m.
        keys: (room,) int64, out, the `agora.core.cells.key_of` of each cell: the nearest cell has the smallest key.
        points: (room, 2) out: centres, m.
    """
    found = _blocks(cost, origin_x, origin_y, resolution, x, y, reach, keys)
    _places(keys, found, cost.shape[1], origin_x, origin_y, resolution, x, y, points)
    return found


@hidden
def nearest_walls(cost, origin_x, origin_y, resolution, x, y, reach, keys, nearest, points):
    """Write the centres of the K nearest cells among those that `walls_around` finds, and return their number.

    Args:
        cost: (rows, columns) uint8 costs of the window; a window without cells has no walls.
        origin_x: x of the window's lower-left corner, m.
        origin_y: y of the window's lower-left corner, m.
        resolution: length of a cell, m.
        x: x of the robot, m.
        y: y of the robot, m.
        reach: distance beyond which cells are ignored, m.
        keys: (room,) int64, scratch.
        nearest: (K,) int64, scratch.
        points: (K, 2) out: centres, nearest first, m.
    """
    kept = select_nearest(keys, _blocks(cost, origin_x, origin_y, resolution, x, y, reach, keys), nearest)
    _places(nearest, kept, cost.shape[1], origin_x, origin_y, resolution, x, y, points)
    return kept
