"""Wavefronts on the local costmap, footprint costs, and the part of the path within the costmap.

Based on ROS navigation (base_local_planner: MapGrid, CostmapModel, goal_functions). A distance grid is the flattened costmap with a
border of one wall cell, ``columns + 2`` wide, int32. Each cell holds either a distance (in cells), `WALL`, or a negative number if
it has not been reached.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import hidden, spliced
from agora.core.scalar import ONE, ZERO
from agora.costmap.line import aim_line, step_line, write_spans

WALL = np.int32(2**30)
_FAR, _NEAR = np.int32(-1), np.int32(-2)
_INSCRIBED, _LETHAL, _UNKNOWN = 253, 254, 255
_PRUNE = ONE


@hidden
def cell_of(x, y, inverse, cost):
    """Return the column and row of a point given in the window's frame, m; the column is -1 outside the window."""
    u, v = x * inverse, y * inverse
    inside = u >= ZERO and v >= ZERO and u < np.float32(cost.shape[1]) and v < np.float32(cost.shape[0])
    return (np.int32(u), np.int32(v)) if inside else (np.int32(-1), np.int32(-1))


@hidden
def reset_grid(cost, column, row, reach, grid):
    """Reset a grid to walls and unreached cells; return the number of free cells within ``reach`` cells of (column, row).

    Only these cells are read later, so a wave may stop once it has reached all of them.
    """
    rows, columns = cost.shape
    stride = columns + 2
    grid[:stride] = WALL
    grid[(rows + 1) * stride : (rows + 2) * stride] = WALL
    for r in range(rows):
        start = (r + 1) * stride
        grid[start] = WALL
        grid[start + columns + 1] = WALL
        for c in range(columns):
            grid[start + 1 + c] = WALL if cost[r, c] >= _INSCRIBED else _FAR
    wanted = 0
    for r in range(max(row - reach, 0), min(row + reach + 1, rows)):
        for k in range((r + 1) * stride + 1 + max(column - reach, 0), (r + 1) * stride + 1 + min(column + reach + 1, columns)):
            if grid[k] < 0:
                grid[k] = _NEAR
                wanted += 1
    return wanted


@hidden
def open_footprint(grid, cost, reach, column, row, corners_x, corners_y, x, y, sine, cosine, inverse, west, east):
    """Open the cells under a footprint for waves, regardless of their cost; return how many of them are within ``reach`` of
    (column, row).

    Args:
        grid: grid as `reset_grid` left it.
        cost: (rows, columns) costs of the window.
        reach: as in `reset_grid`.
        column: as in `reset_grid`.
        row: as in `reset_grid`.
        corners_x: as in `agora.costmap.line.write_spans`.
        corners_y: as in `agora.costmap.line.write_spans`.
        x: as in `agora.costmap.line.write_spans`.
        y: as in `agora.costmap.line.write_spans`.
        sine: as in `agora.costmap.line.write_spans`.
        cosine: as in `agora.costmap.line.write_spans`.
        inverse: as in `agora.costmap.line.write_spans`.
        west: as in `agora.costmap.line.write_spans`.
        east: as in `agora.costmap.line.write_spans`.
    """
    rows, columns = cost.shape
    wanted = 0
    low, high = write_spans(corners_x, corners_y, x, y, sine, cosine, inverse, rows, columns, west, east)
    for r in range(low, high + 1):
        for c in range(west[r], east[r] + 1):
            k = (r + 1) * (columns + 2) + 1 + c
            if grid[k] == WALL:
                near = abs(r - row) <= reach and abs(c - column) <= reach
                grid[k] = _NEAR if near else _FAR
                wanted += 1 if near else 0
    return wanted


@hidden
def seed(grid, stride, queue, count, wanted, column, row):
    """Start a wave in a cell, even in an obstacle; return the new length of the queue and the number of cells still to be
    reached.
    """
    k = (row + 1) * stride + 1 + column
    if grid[k] == 0:
        return count, wanted
    wanted = wanted - 1 if grid[k] == _NEAR else wanted
    grid[k] = 0
    queue[count] = k
    return count + 1, wanted


@hidden
def flood(grid, stride, queue, count, wanted):
    """Run the waves that were started: breadth first, to four neighbours, through all cells below the inscribed cost."""
    head = 0
    while head < count and wanted > 0:
        k = queue[head]
        head += 1
        distance = grid[k] + np.int32(1)
        for neighbour in (k - 1, k + 1, k - stride, k + stride):
            value = grid[neighbour]
            if value < 0:
                wanted += value + 1
                grid[neighbour] = distance
                queue[count] = neighbour
                count += 1


@hidden
def distance_at(grid, cost, column, row):
    """Return the distance of a cell, in cells, as used by critics: rows * columns in an obstacle, and one more in an unreached
    cell.
    """
    value = grid[(row + 1) * (cost.shape[1] + 2) + 1 + column]
    size = np.int32(cost.shape[0] * cost.shape[1])
    return np.float32(size + 1 if value < 0 else min(value, size))


@spliced
def _line_cost(cost, column, row, to_column, to_row):
    """Return the maximum cost on a line of cells, or -1 if the line meets a lethal or unknown cell."""
    column, row = np.int64(column), np.int64(row)
    line = aim_line(column, row, to_column, to_row)
    error = line[0] // 2
    worst = np.int32(0)
    for step in range(line[0] + 1):
        value = np.int32(cost[row, column])
        if value >= _LETHAL:
            return np.int32(-1)
        worst = max(worst, value)
        if step < line[0]:
            column, row, error = step_line(column, row, error, line)
    return worst


@hidden
def footprint_cost(cost, corners_x, corners_y, scale, x, y, sine, cosine, inverse):
    """Return the maximum cost under the footprint's outline and centre; -1 if a cell there is lethal, unknown or outside.

    Args:
        cost: (rows, columns) costs of the window.
        corners_x: (V,) x of the corners in the robot's frame, m.
        corners_y: (V,) y of the corners in the robot's frame, m.
        scale: factor applied to the corners.
        x: x of the centre in the window's frame, m.
        y: y of the centre in the window's frame, m.
        sine: sine of the heading.
        cosine: cosine of the heading.
        inverse: number of cells per metre.
    """
    column, row = cell_of(x, y, inverse, cost)
    if column < 0:
        return np.int32(-1)
    worst = np.int32(cost[row, column])
    last = corners_x.size - 1
    a, b = scale * corners_x[last], scale * corners_y[last]
    from_column, from_row = cell_of(x + a * cosine - b * sine, y + a * sine + b * cosine, inverse, cost)
    for i in range(last + 1):
        a, b = scale * corners_x[i], scale * corners_y[i]
        column, row = cell_of(x + a * cosine - b * sine, y + a * sine + b * cosine, inverse, cost)
        if column < 0 or from_column < 0:
            return np.int32(-1)
        value = _line_cost(cost, from_column, from_row, column, row)
        if value < 0:
            return value
        worst = max(worst, value)
        from_column, from_row = column, row
    return worst


@hidden
def _next_point(path, segment, piece, resolution):
    """Return the point after piece ``piece`` of a segment; paths are traversed in pieces of at most one cell."""
    dx, dy = path[segment + 1, 0] - path[segment, 0], path[segment + 1, 1] - path[segment, 1]
    pieces = np.int32(max(np.ceil(math.sqrt(dx * dx + dy * dy) / resolution), ONE))
    if piece + 1 >= pieces:
        return segment + 1, np.int64(0), path[segment + 1, 0], path[segment + 1, 1]
    share = np.float32(piece + 1) / np.float32(pieces)
    return segment, piece + 1, path[segment, 0] + share * dx, path[segment, 1] + share * dy


@hidden
def prune_path(path, count, segment, piece, x, y, resolution):
    """Return where the path starts without the part behind the robot: at the first point within 1 m of the robot, or at the old
    start if there is no such point.
    """
    s, p = np.int64(segment), np.int64(piece)
    px, py = path[s, 0], path[s, 1]
    if p > 0:
        s, p, px, py = _next_point(path, s, p - 1, resolution)
    while (px - x) * (px - x) + (py - y) * (py - y) >= _PRUNE:
        if s + 1 >= count:
            return np.int64(segment), np.int64(piece)
        s, p, px, py = _next_point(path, s, p, resolution)
    return s, p


@hidden
def _better_goal(cost, column, row, goal):
    """Return the later of two cells on the path, unless it is an obstacle and the earlier one is not."""
    blocked = cost[row, column] >= _INSCRIBED and goal[0] >= 0 and cost[goal[1], goal[0]] < _INSCRIBED
    return goal if blocked else (column, row)


@hidden
def trace(path, count, segment, piece, x, y, reach, origin_x, origin_y, inverse, cost, grid, queue, wanted):
    """Mark the local path in a grid: from the first point within ``reach`` of the robot to the next point beyond it.

    Only the path's first continuous section of known cells inside the window is used.

    Returns:
        The length of the queue (0: no local path) and the number of cells still to be reached; the local goal, i.e. the column and
        row of the section's last free cell (or of its last cell if none is free); the end of the local path, m; whether the path
        leaves the window.
    """
    resolution = ONE / inverse
    stride = cost.shape[1] + 2
    length = np.int64(0)  # a Numba literal 0 has its own type, and would compile `seed` again
    goal = (np.int32(-1), np.int32(-1))
    left = False
    near = False
    s, p = np.int64(segment), np.int64(piece)
    px, py = path[s, 0], path[s, 1]
    if p > 0:
        s, p, px, py = _next_point(path, s, p - 1, resolution)
    end_x, end_y = px, py
    while True:
        inside = (px - x) * (px - x) + (py - y) * (py - y) <= reach * reach
        near = near or inside
        if near:
            end_x, end_y = px, py
            column, row = cell_of(px - origin_x, py - origin_y, inverse, cost)
            known = column >= 0 and cost[row, column] != _UNKNOWN
            left = left or (length > 0 and not known)
            if known and not left:
                length, wanted = seed(grid, stride, queue, length, wanted, column, row)
                goal = _better_goal(cost, column, row, goal)
            if not inside:
                break
        if s + 1 >= count:
            break
        s, p, px, py = _next_point(path, s, p, resolution)
    return length, wanted, goal, end_x, end_y, left


@hidden
def nose_goal(goal, end_x, end_y, x, y, distance, origin_x, origin_y, inverse, cost):
    """Return the local goal for the robot's nose: the path is extended by ``distance`` beyond its end, away from the robot."""
    dx, dy = end_x - x, end_y - y
    norm = math.sqrt(dx * dx + dy * dy)
    ux, uy = (dx / norm, dy / norm) if norm > ZERO else (ONE, ZERO)
    pieces = np.int32(max(np.ceil(distance * inverse), ONE))
    for i in range(1, pieces + 1):
        share = distance * np.float32(i) / np.float32(pieces)
        column, row = cell_of(end_x + share * ux - origin_x, end_y + share * uy - origin_y, inverse, cost)
        if column < 0 or cost[row, column] == _UNKNOWN:
            break
        goal = _better_goal(cost, column, row, goal)
    return goal
