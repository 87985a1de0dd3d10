"""The straight wall edges around a robot in its local costmap: the sides between lethal cells and other cells.

Consecutive sides of cells in a straight line form one edge, as in ``init_obstacle_map`` of SocNavBench's joysticks
(CMU-TBD/SocNavBench-baselines 3ac5b7d5, ``joystick_py/joystick_remote.py``). Nothing is known beyond the window, so the window's
own sides are not edges.
"""

from __future__ import annotations

import numpy as np

from agora.core.cells import key_of, select_nearest
from agora.core.jit import hidden, spliced
from agora.core.scalar import ZERO
from agora.core.state import PADDING
from agora.costmap.inflation import LETHAL

_LETHAL = np.uint8(LETHAL)


@spliced
def most_edges(cells):
    """Return the maximum number of edges in a window of ``cells`` cells per side: at most every other cell side on a line is an
    edge.
    """
    return 2 * max(cells - 1, 0) * ((cells + 1) // 2) + PADDING


@hidden
def _append_edges(cost, across, corner, side, resolution, near, far, reach, keys, edges, found):
    """Append the edges on the lines ``near <= i < far`` between rows i - 1 and i of cells; return the new number of edges.

    Args:
        cost: (rows, columns) uint8 costs of the window; transposed for the edges along y.
        across: direction of the edges: 0 for edges along x, 1 for edges along y.
        corner: coordinate of the window's corner along the edges, relative to the robot, m.
        side: coordinate of the window's corner across the edges, relative to the robot, m.
        resolution: length of a cell, m.
        near: first line.
        far: one after the last line.
        reach: distance beyond which edges are ignored, m.
        keys: (room,) int64, out: the `agora.core.cells.key_of` of each edge.
        edges: (room, 4) out: ends x0, y0, x1, y1 of each edge, m.
        found: number of edges so far.
    """
    columns = cost.shape[1]
    for i in range(near, far):
        level = side + np.float32(i) * resolution
        j = np.int64(0)
        while j < columns:
            begin = j
            while j < columns and (cost[i - 1, j] == _LETHAL) != (cost[i, j] == _LETHAL):
                j += 1
            if j > begin:
                low, high = corner + np.float32(begin) * resolution, corner + np.float32(j) * resolution
                beside = max(max(low, -high), ZERO)
                squared = beside * beside + level * level
                if squared < reach * reach:
                    edges[found, across], edges[found, 1 - across] = low, level
                    edges[found, 2 + across], edges[found, 3 - across] = high, level
                    keys[found] = key_of(squared, found)
                    found += 1
            j += 1
    return found


@hidden
def nearest_edges(cost, origin_x, origin_y, resolution, x, y, reach, keys, nearest, edges):
    """Write the straight edges of lethal cells, relative to (x, y), and return their number.

    Args:
        cost: (rows, columns) uint8 costs of the window; a window without cells has no edges.
        origin_x: x of the window's lower-left corner, m.
        origin_y: y of the window's lower-left corner, m.
        resolution: length of a cell, m.
        x: x of the robot, m.
        y: y of the robot, m.
        reach: distance beyond which edges are ignored, m.
        keys: (most_edges,) int64, scratch.
        nearest: (most_edges,) int64, out: ``index_in`` of the leading entries gives rows of ``edges``, nearest first.
        edges: (most_edges, 4) out: ends x0, y0, x1, y1 of each edge, m.
    """
    rows, columns = cost.shape
    left, bottom = origin_x - x, origin_y - y
    found = np.int64(0)  # a Numba literal 0 has its own type and would compile the kernel again
    low, high = np.int64(np.floor((-reach - bottom) / resolution)), np.int64(np.ceil((reach - bottom) / resolution)) + 1
    found = _append_edges(cost, 0, left, bottom, resolution, max(low, 1), min(high, rows), reach, keys, edges, found)
    low, high = np.int64(np.floor((-reach - left) / resolution)), np.int64(np.ceil((reach - left) / resolution)) + 1
    found = _append_edges(cost.T, 1, bottom, left, resolution, max(low, 1), min(high, columns), reach, keys, edges, found)
    return select_nearest(keys, found, nearest)
