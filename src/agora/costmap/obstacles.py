"""The obstacle layer: obstacles seen by the robot's own lidar, in a grid that rolls with the window.

Source: costmap_2d of ROS navigation (obstacle_layer.cpp, costmap_2d.h, noetic-devel 9ad6441), with the parameter names used in
`Window`. For every scan, all beams first clear the cells along their length, up to ``raytrace_range``. Then the cells at the end
points nearer than ``obstacle_range`` are marked. They stay marked until a beam passes through them. A beam that hits nothing clears
cells only if ``inf_is_valid`` is set. The cells under the footprint are cleared at every update. Cells that have not been observed
are free.

Differences from the source: a beam that reads ``range_min`` or less is invalid. A scan without any valid beam makes the whole
window unknown, and planners do not drive through unknown cells. In the source, such beams mark the sensor's own cell, which is then
cleared with the footprint.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agora.core.jit import hidden, kernel, spliced
from agora.core.scalar import HALF, ONE, ZERO, sincos
from agora.core.state import Array, Bools, Floats, Ints
from agora.costmap.inflation import FREE, NO_INFORMATION, cost_at
from agora.costmap.line import aim_line, step_line, write_spans

_SEEN, _NOTHING = np.uint8(1), np.uint8(FREE)
_UNKNOWN = np.uint8(NO_INFORMATION)


class TrustedBeams(NamedTuple):
    """The lidar as used by the layer, with the ranges in which its readings are trusted.

    Attributes:
        dx: (B,) directions of the beams in the robot's frame, x.
        dy: (B,) directions of the beams in the robot's frame, y.
        x: position of the sensor on the robot, x, m.
        y: position of the sensor on the robot, y, m.
        range_min: minimum reading, m.
        range_max: maximum reading, m.
        obstacle_range: as in `agora.costmap.window.Window`.
        raytrace_range: as in `agora.costmap.window.Window`.
        inf_is_valid: as in `agora.costmap.window.Window`.
    """

    dx: Floats
    dy: Floats
    x: np.float32
    y: np.float32
    range_min: np.float32
    range_max: np.float32
    obstacle_range: np.float32
    raytrace_range: np.float32
    inf_is_valid: np.bool_


class Seen(NamedTuple):
    """The obstacles that N robots have seen.

    Attributes:
        grid: (N, H, H) uint8: 1 for an obstacle.
        corner: (N, 2) column and row of the grid's first cell on the map's lattice.
        ranges: (N, B) ranges of the last scan, m.
        pose: (N, 3) poses of the robots at the time of that scan.
        fresh: (N,) whether that scan has not been added to the grid yet.
        begun: (N,) whether the grid holds data from this episode.
        blind: (N,) whether no beam of the last scan was valid.
    """

    grid: Array
    corner: Ints
    ranges: Floats
    pose: Floats
    fresh: Bools
    begun: Bools
    blind: Bools

    @staticmethod
    def of(rows: int, cells: int, ranges: Floats) -> Seen:
        """Return empty records for ``rows`` robots and windows of ``cells`` cells per side; ``ranges`` (N, B) holds the scans."""
        flags = (np.zeros(rows, np.bool_) for _ in range(3))
        grid, corner = np.zeros((rows, cells, cells), np.uint8), np.zeros((rows, 2), np.int32)
        return Seen(grid, corner, ranges, np.zeros((rows, 3), np.float32), *flags)


@spliced
def _clear_line(grid, column, row, to_column, to_row, longest):
    """Clear the cells on a line, at most ``longest`` cells from its first one."""
    column, row = np.int64(column), np.int64(row)
    line = aim_line(column, row, to_column, to_row)
    away = np.sqrt(np.float32((to_column - column) * (to_column - column) + (to_row - row) * (to_row - row)))
    error = line[0] // 2
    grid[row, column] = _NOTHING
    for _ in range(line[0] if away <= longest else np.int32(np.float32(line[0]) * (longest / away))):
        column, row, error = step_line(column, row, error, line)
        grid[row, column] = _NOTHING


@spliced
def _roll_window(grid, right, up):
    """Move the window over the lattice by whole cells: cells that stay in the window keep their place on the map; new cells are
    free.
    """
    side = grid.shape[0]
    for i in range(side):
        row = i if up >= 0 else side - 1 - i
        for j in range(side):
            column = j if right >= 0 else side - 1 - j
            inside = 0 <= row + up < side and 0 <= column + right < side
            grid[row, column] = grid[row + up, column + right] if inside else _NOTHING


@hidden
def _add_scan(grid, origin_x, origin_y, inverse, beams, ranges, x, y, heading):
    """Add one scan to a grid; return whether any beam was valid."""
    side = np.float32(grid.shape[0])
    sine, cosine = sincos(heading)
    u = (x + cosine * beams.x - sine * beams.y - origin_x) * inverse
    v = (y + sine * beams.x + cosine * beams.y - origin_y) * inverse
    if not (ZERO <= u < side and ZERO <= v < side):
        return True
    column, row = np.int32(u), np.int32(v)
    far = np.ceil(beams.raytrace_range * inverse)
    said = False
    for b in range(ranges.size):
        length = ranges[b]
        if not length > beams.range_min:
            continue
        said = True
        if length >= beams.range_max and not beams.inf_is_valid:
            continue
        du = (cosine * beams.dx[b] - sine * beams.dy[b]) * length * inverse
        dv = (sine * beams.dx[b] + cosine * beams.dy[b]) * length * inverse
        share = ONE  # on the part of the beam inside the window
        share = min(share, (side - u) / du) if u + du > side else share
        share = min(share, -u / du) if u + du < ZERO else share
        share = min(share, (side - v) / dv) if v + dv > side else share
        share = min(share, -v / dv) if v + dv < ZERO else share
        end_column = min(max(np.int32(np.floor(u + share * du)), 0), grid.shape[0] - 1)
        end_row = min(max(np.int32(np.floor(v + share * dv)), 0), grid.shape[0] - 1)
        _clear_line(grid, column, row, end_column, end_row, far)
    for b in range(ranges.size):
        length = ranges[b]
        if length > beams.range_min and length < beams.range_max and length < beams.obstacle_range:
            hit_u = u + (cosine * beams.dx[b] - sine * beams.dy[b]) * length * inverse
            hit_v = v + (sine * beams.dx[b] + cosine * beams.dy[b]) * length * inverse
            if ZERO <= hit_u < side and ZERO <= hit_v < side:
                grid[np.int32(hit_v), np.int32(hit_u)] = _SEEN
    return said


@hidden
def _raise(grid, cost, stamp):
    """Raise a window's costs around all marked cells; ``stamp`` holds the costs around one cell."""
    side, reach = grid.shape[0], stamp.shape[0] // 2
    for i in range(side):
        for j in range(side):
            if grid[i, j] != _SEEN:
                continue
            west, east = max(j - reach, 0), min(j + reach + 1, side)
            for k in range(max(i - reach, 0), min(i + reach + 1, side)):
                line = cost[k, west:east]
                mark = stamp[k - i + reach, west - j + reach : east - j + reach]
                for c in range(line.size):
                    line[c] = max(line[c], mark[c])


@kernel
def put_obstacles(filling, maps, map_index, pose, inscribed, corners_x, corners_y, beams, seen, cost, origin, first, last):
    """Update the obstacles seen by rows ``first <= n < last`` and add them to the windows.

    Args:
        filling: kernel settings of the `agora.costmap.window.Window` (its ``filling``).
        maps: `agora.core.state.Maps`, for the origins of the lattices.
        map_index: (N,) map of each row.
        pose: (N, 3) current poses of the robots.
        inscribed: (N,) radius of the disc inside the footprint, m.
        corners_x: (N, V) x of the footprints' corners in the robots' frames, m.
        corners_y: (N, V) y of the footprints' corners in the robots' frames, m.
        beams: `TrustedBeams`.
        seen: `Seen`, changed in place.
        cost: (N, H, H) uint8 costs, raised in place.
        origin: (N, 2) lower-left corners, m.
        first: first row.
        last: one after the last row.
    """
    cell, reach, scaling = filling.cell, filling.reach, filling.scaling
    touch, inverse = HALF * cell, ONE / cell
    side = cost.shape[1]
    west, east = np.empty(side, np.int32), np.empty(side, np.int32)
    for n in range(first, last):
        m = map_index[n]
        column = np.int32(np.floor((origin[n, 0] - maps.origin_x[m]) * inverse + HALF))
        row = np.int32(np.floor((origin[n, 1] - maps.origin_y[m]) * inverse + HALF))
        grid = seen.grid[n]
        if not seen.begun[n]:
            grid[:] = _NOTHING
            seen.begun[n] = True
        # The grid moves by whole cells of the map's lattice, so that marked cells keep their place on the map.
        elif column != seen.corner[n, 0] or row != seen.corner[n, 1]:
            _roll_window(grid, column - seen.corner[n, 0], row - seen.corner[n, 1])
        seen.corner[n, 0], seen.corner[n, 1] = column, row
        if seen.fresh[n]:
            x, y, heading = seen.pose[n, 0], seen.pose[n, 1], seen.pose[n, 2]
            seen.blind[n] = not _add_scan(grid, origin[n, 0], origin[n, 1], inverse, beams, seen.ranges[n], x, y, heading)
            seen.fresh[n] = False
        # Without a valid beam the whole window is unknown; obstacles seen before remain in the grid.
        if seen.blind[n]:
            cost[n] = _UNKNOWN
            continue
        # Clear the footprint at the current pose, which may be newer than the scan's.
        x, y = pose[n, 0] - origin[n, 0], pose[n, 1] - origin[n, 1]
        sine, cosine = sincos(pose[n, 2])
        low, high = write_spans(corners_x[n], corners_y[n], x, y, sine, cosine, inverse, side, side, west, east)
        for i in range(low, high + 1):
            grid[i, west[i] : east[i] + 1] = _NOTHING
        # The costs around all marked cells are the same, so compute them once per robot.
        wide = np.int32(max(reach, inscribed[n]) * inverse)
        stamp = np.empty((2 * wide + 1, 2 * wide + 1), np.uint8)
        for i in range(2 * wide + 1):
            for j in range(2 * wide + 1):
                dy, dx = np.float32(i - wide), np.float32(j - wide)
                distance = cell * np.sqrt(dx * dx + dy * dy)
                stamp[i, j] = np.uint8(np.int32(cost_at(distance, touch, inscribed[n], reach, scaling)))
        _raise(grid, cost[n], stamp)
