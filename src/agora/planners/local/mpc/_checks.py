"""Checks for the model predictive planner: which part of a path can be driven, and whether a plan is free of collisions.

Based on mpc_local_planner (controller.cpp: isPoseTrajectoryFeasible).
"""

from __future__ import annotations

import numpy as np

from agora.core.state import Array
from agora.interfaces import Costmap
from agora.planners.local.mpc._plan import Plan
from agora.planners.local.mpc._robot import Robot
from agora.planners.local.mpc._scene import Things, gap, on_wall, to_map

_LEAST = 1e-3  # m
_FINE, _TURN = 0.05, 0.1  # m, rad
_START = np.zeros((1, 3))
_NOW = np.zeros(1)
_MIDDLE = np.zeros((1, 2))
_SHARES = np.linspace(0.0, 1.0, 17)
_LEAST_POINTS = 4


def points_to_plan(
    costmap: Costmap, row: int, robot: Robot, route: Array, ends: bool, things: Things, wanted: Array, straight: bool
) -> int:
    """Return the number of points of a route to plan for.

    The route is kept up to the last point at which the robot fits. If that point is not the goal, the route is cut further, to the
    last point that is at the desired distance from obstacles, if there is such a point; if the robot fits at the last point of the
    route, only points in the second half are considered. If the cost attracts the robot straight to the end of the route, a free
    route is also cut at the first point that is hidden from the robot by a wall, but keeps at least 0.3 m; otherwise the robot
    would stop at the wall.

    Args:
        costmap: costmap of N rows.
        row: row of the costmap.
        robot: robot.
        route: (A, 2) points, m; the first point is the robot's position.
        ends: whether the last point is the goal.
        things: the obstacles.
        wanted: (P + M,) desired distances to the obstacles, m.
        straight: whether the cost attracts the robot straight to the end of the route.
    """
    steps, points = np.diff(route, axis=0), len(things.walls)
    headings = np.arctan2(steps[:, 1], steps[:, 0])
    poses = np.column_stack((route, np.append(headings, headings[-1])))
    hit = on_wall(costmap, row, to_map(poses, robot.pose), _MIDDLE)
    stand = np.append(np.ones(points, np.bool_), things.still)
    near = (gap(poses, things.at(_NOW)[0], robot.body) - things.radius)[:, stand]
    if straight and not hit.any():
        lines = _SHARES[:, None, None] * route
        free = ~on_wall(costmap, row, to_map(np.dstack((lines, np.zeros(lines.shape[:2]))).reshape(-1, 3), robot.pose), _MIDDLE)
        seen = free.reshape(len(_SHARES), -1).all(axis=0)
        if not seen.all():
            return max(int(np.argmin(seen)), min(_LEAST_POINTS, len(route)))
    hit |= (near[:, points:] < 0.0).any(axis=1)
    if ends and not hit[-1]:
        return len(route)
    roomy, reached = np.flatnonzero((near >= wanted[stand]).all(axis=1) & ~hit), np.flatnonzero(~hit)
    roomy = roomy if hit[-1] else roomy[roomy >= len(route) // 2]
    return int(roomy[-1]) + 1 if len(roomy) and roomy[-1] > 0 else int(reached[-1]) + 1 if len(reached) else 0


def is_free(costmap: Costmap, row: int, robot: Robot, plan: Plan, things: Things, dt: float, poses: int | None) -> bool:
    """Return whether a plan is free of collisions, at and between its poses, up to the time by which the robot can stop.

    No disc may penetrate the robot more deeply than it already does.

    Args:
        costmap: costmap of N rows.
        row: row of the costmap.
        robot: robot.
        plan: plan in the robot's frame.
        things: the obstacles.
        dt: control period, s.
        poses: minimum number of poses that are checked against walls.
    """
    soon = 2.0 * dt + float(np.abs(robot.last[0]) / robot.hard[0])
    until = min(plan.dt * len(plan.commands), max(soon, 0.0 if poses is None else plan.dt * poses))
    ends = plan.at(np.append(plan.dt * np.arange(int(until / plan.dt) + 1), until))
    way = float(np.hypot(*np.diff(ends[:, :2], axis=0).T).sum())
    count = int(np.ceil(max(way / _FINE, np.abs(np.diff(ends[:, 2])).sum() / _TURN, 1.0)))
    times = until * np.arange(1, count + 1) / count
    there = plan.at(times)
    if not np.isfinite(there).all() or on_wall(costmap, row, to_map(there, robot.pose), robot.outline).any():
        return False
    discs = things.discs
    then = gap(there[times <= soon], discs.at(times[times <= soon])[0], robot.body) - discs.radius
    now = gap(_START, discs.at(_NOW)[0], robot.body) - discs.radius
    return not bool((then < np.minimum(now, 0.0) - _LEAST * (now < 0.0)).any())
