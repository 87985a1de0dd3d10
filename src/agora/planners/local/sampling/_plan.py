"""The kernels of SocNavBench's sampling planner: they compute the costs of splines, choose the best one, and drive along it; in
float32.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agora.core.jit import hidden, kernel, lean_kernel
from agora.core.scalar import HALF, ONE, TWO, ZERO, atan2, sincos
from agora.core.state import Floats
from agora.planners.local.sampling._field import CLOSED, write_goal_distances
from agora.planners.local.sampling._splines import evaluate_cubic, motion_at

_STEP_BACK = np.float32(1e-3)  # m
_MORE, _TINY = np.float32(1.000001), np.float32(1e-6)
_PART = np.float32(0.8)  # a blocked cell has a weight of at least 0.25 and thus adds more than 0.2 of its excess


@hidden
def _interpolate(field, column, row, a, b):
    """Return the bilinearly interpolated value of a field at a position, and its slope there along columns and rows, per cell."""
    low, right = field[row, column], field[row, column + 1] - field[row, column]
    above, across = field[row + 1, column], field[row + 1, column + 1] - field[row + 1, column]
    lower, upper = low + a * right, above + a * across
    return lower + b * (upper - lower), right + b * (across - right), upper - lower


@hidden
def obstacle_and_goal(p, goal, gap):
    """Return the cost of a position at given distances from the goal and from the nearest obstacle, m, without the constant term of
    `cost_of_spline`.
    """
    within = max(p.obstacle_margin - gap, ZERO) / p.obstacle_width
    return p.obstacle_cost * within * within * within + p.goal_cost * goal * goal


class RobotWindow(NamedTuple):
    """A robot in its window; positions are in cells from the centre of the first cell.

    Attributes:
        distance: (H, W) distances to the goal, m.
        gaps: (H, W) distances to the nearest obstacle, m.
        u: column of the robot, not rounded.
        v: row of the robot, not rounded.
        sine: sine of the robot's heading.
        cosine: cosine of the robot's heading.
        inverse: cells per metre.
        closed: goal distance at or above which a cell is treated as blocked, m.
        clear: distance to obstacles below which the robot may not move closer to them, m.
        touching: whether the robot touches an obstacle; if it does, it may not move closer to the obstacle for the time being.
    """

    distance: Floats
    gaps: Floats
    u: np.float32
    v: np.float32
    sine: np.float32
    cosine: np.float32
    inverse: np.float32
    closed: np.float32
    clear: np.float32
    touching: bool


@hidden
def _cell_of(scene, x, y):
    """Return the cell coordinates of a position in the robot's frame, and whether the position is in the window."""
    u = scene.u + (scene.cosine * x - scene.sine * y) * scene.inverse
    v = scene.v + (scene.sine * x + scene.cosine * y) * scene.inverse
    right, top = np.float32(scene.distance.shape[1] - 1), np.float32(scene.distance.shape[0] - 1)
    return u, v, u >= ZERO and v >= ZERO and u < right and v < top


@hidden
def _sum_of_places(p, x, y, way, time, scene, most):
    """Return the cost of the positions on a spline, without the angle term; infinite if the spline is discarded, or if the cost
    exceeds ``most``.
    """
    share, free, suspicious = p.step / time, p.obstacle_margin + TWO / scene.inverse, scene.closed - _PART * CLOSED
    total, first = ZERO, ZERO
    for k in range(np.int64(np.ceil(time / p.step))):
        gone, _ = evaluate_cubic(way[0], way[1], way[2], min(np.float32(k) * share, ONE))
        px, _ = evaluate_cubic(x[0], x[1], x[2], gone)
        py, _ = evaluate_cubic(y[0], y[1], y[2], gone)
        u, v, inside = _cell_of(scene, px, py)
        if not inside:
            return np.float32(np.inf)
        column, row, middle, line = np.uint32(u), np.uint32(v), np.uint32(u + HALF), np.uint32(v + HALF)
        a, b = u - np.float32(column), v - np.float32(row)
        goal, _, _ = _interpolate(scene.distance, column, row, a, b)
        # Interpolation blurs blocked cells, so the nearest cell decides; it is read only if the interpolated distance is large.
        if goal > suspicious and scene.distance[line, middle] >= scene.closed:
            return np.float32(np.inf)
        gap = scene.gaps[line, middle]
        # Interpolation matters only near the margin.
        if gap < free:
            gap, _, _ = _interpolate(scene.gaps, column, row, a, b)
        first = gap if k == 0 else first
        # A robot that is closer to obstacles than allowed must at least not move closer.
        if gap < min(first, scene.clear) - _STEP_BACK:
            return np.float32(np.inf)
        # A robot in contact may move closer only after the part of the spline that it drives before the next choice.
        if scene.touching and gap < first - _STEP_BACK and np.float32(k) * p.step <= p.control_horizon:
            return np.float32(np.inf)
        total += obstacle_and_goal(p, goal, gap)
        if total > most:
            return np.float32(np.inf)
    return total


@hidden
def _sum_of_angles(p, x, y, way, time, scene):
    """Return the sum, over the positions on a spline, of the angle between the spline and the direction to the goal through free
    space, rad.
    """
    share, total = p.step / time, ZERO
    for k in range(np.int64(np.ceil(time / p.step))):
        px, py, dx, dy, _, _ = motion_at(x, y, way, min(np.float32(k) * share, ONE))
        u, v, _ = _cell_of(scene, px, py)
        column, row = np.uint32(u), np.uint32(v)
        _, right, up = _interpolate(scene.distance, column, row, u - np.float32(column), v - np.float32(row))
        # The direction to the goal is that of the negative gradient of the distance.
        hx, hy = scene.cosine * dx - scene.sine * dy, scene.sine * dx + scene.cosine * dy
        total += atan2(abs(hy * right - hx * up), -(hx * right + hy * up))
    return total


@hidden
def cost_of_spline(p, x, y, way, time, scene, limit):
    """Return the mean cost of the positions on a spline; infinite if the spline is discarded, or if the cost is certain to exceed
    ``limit``.

    Source: SocNavBench (commit 2724ea85), ``ObstacleAvoidance``, ``GoalDistance``, ``AngleDistance``, ``valid_mean``: the mean of
    obstacle_cost (max(0, margin - gap) / width)^3 + goal_cost (goal^2 - goal_margin^2) + angle_cost |angle| over the positions
    before the final time, where distance and direction to the goal are measured through free space.
    """
    count = np.float32(np.ceil(time / p.step))
    least = p.goal_cost * p.goal_margin * p.goal_margin
    total = _sum_of_places(p, x, y, way, time, scene, (limit + least) * count * _MORE)
    if total < np.float32(np.inf):
        total += p.angle_cost * _sum_of_angles(p, x, y, way, time, scene)
    return total / count - least


@kernel
def choose(p, of, bins, rows, cost, origin, cell, gaps, path, path_count, pose, clear, touching, chosen, least, first, last):
    """Write the index of the best spline (-1 if there is none) and its cost for the robots ``rows[i]``, ``first <= i < last``.

    Args:
        p: `agora.planners.local.sampling._planner.Parameters`.
        of: splines, `agora.planners.local.sampling._splines.Splines`.
        bins: (R,) indices of the start speeds.
        rows: (R,) rows of the robots.
        cost: (N, H, W) costs of the windows.
        origin: (N, 2) lower-left corners, m.
        cell: length of a cell, m.
        gaps: (R, H, W) distances to the nearest obstacle, m.
        path: (N, K, 2) paths, m.
        path_count: (N,) numbers of points of the paths.
        pose: (N, 3) poses, m and rad.
        clear: (R,) distances, m; see `RobotWindow`.
        touching: (R,) whether the robots touch an obstacle.
        chosen: out, (R,) int64.
        least: out, (R,) float32.
        first: first index into ``rows``.
        last: one past the last index.
    """
    distance, inverse = np.empty(cost.shape[1:], np.float32), ONE / cell
    for i in range(first, last):
        n = rows[i]
        x, y, left, bottom = pose[n, 0], pose[n, 1], origin[n, 0], origin[n, 1]
        closed = write_goal_distances(cost[n], left, bottom, cell, path[n], path_count[n], x, y, distance)
        sine, cosine = sincos(pose[n, 2])
        u, v = (x - left) * inverse - HALF, (y - bottom) * inverse - HALF
        scene = RobotWindow(distance, gaps[i], u, v, sine, cosine, inverse, closed, clear[i], touching[i])
        chosen[i], least[i] = -1, np.float32(np.inf)
        # The lowest cost so far is the limit, so that the evaluation of worse splines ends early. Of equally good splines, the
        # first is kept.
        for k in range(of.first[bins[i]], of.first[bins[i] + 1]):
            found = cost_of_spline(p, of.x[k], of.y[k], of.p[k], of.time[k], scene, least[i])
            if found < least[i]:
                chosen[i], least[i] = k, found


@lean_kernel
def drive(x, y, way, time, gone, dt, max_vx, max_omega, twist, first, last):
    """Write the twists of the robots ``first <= n < last`` for the middle of the next period, and the elapsed times on their
    splines.

    If a limit is lower than what the spline requires, the robot follows the spline more slowly.

    Args:
        x: (N, 3) coefficients of x.
        y: (N, 3) coefficients of y.
        way: (N, 3) coefficients of the progress along the spline.
        time: (N,) final times, s; 0 for no spline.
        gone: (N,) elapsed time on the spline, s, in and out.
        dt: period, s.
        max_vx: (N,) maximum speed, m/s.
        max_omega: (N,) maximum turning rate, rad/s.
        twist: out, (N, 3) twists, m/s and rad/s.
        first: first row.
        last: one past the last row.
    """
    for n in range(first, last):
        if time[n] <= ZERO:
            continue
        # The middle of the period, at which a constant twist fits the spline best
        _, _, _, _, v, w = motion_at(x[n], y[n], way[n], min((gone[n] + HALF * dt) / time[n], ONE))
        v, w = v / time[n], w / time[n]
        share = min(ONE, min(max_vx[n] / max(v, _TINY), max_omega[n] / max(abs(w), _TINY)))
        twist[n, 0], twist[n, 2] = share * max(v, ZERO), share * w
        gone[n] += share * dt
