"""Plans of the model predictive planner: initial guesses, the previous plan shifted in time, and resampling.

Based on mpc_local_planner (controller.cpp, full_discretization_grid_base_se2.cpp). A plan is expressed in the robot's frame at
the time of planning.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agora.core.angles import wrap_below_pi
from agora.core.state import Array
from agora.planners.local.mpc._scene import SPACING, Body, Things, gap

_TINY = 1e-9
_ROOM = 0.05  # m
_ASIDE, _ASIDES = 0.1, 20  # m, number of offsets tried


class Plan(NamedTuple):
    """Poses at equal time intervals, and the commands between them.

    Attributes:
        poses: (n + 1, 3) poses, m and rad; headings are not wrapped.
        commands: (n, 3) forward speed, turning rate and sideways speed, m/s and rad/s.
        dt: time between two poses, s.
    """

    poses: Array
    commands: Array
    dt: float

    def resample(self, begin: float, steps: int, dt: float) -> Plan:
        """Return the plan from the time ``begin``, s, on, with ``steps`` steps of ``dt`` s; beyond the end of the original plan,
        the robot stands still.
        """
        at, old = begin + dt * np.arange(steps + 1), self.dt * np.arange(len(self.poses))
        held = np.minimum((at[:-1] / self.dt + _TINY).astype(np.int64), len(self.commands))
        return Plan(self.at(at, old), np.concatenate((self.commands, np.zeros((1, 3))))[held], dt)

    def at(self, times: Array, moments: Array | None = None) -> Array:
        """Return the plan's poses (K, 3) at the times (K,), s."""
        moments = self.dt * np.arange(len(self.poses)) if moments is None else moments
        return np.stack([np.interp(times, moments, self.poses[:, k]) for k in range(3)], -1)

    def resize(self, steps: int) -> Plan:
        """Return the plan with a different number of steps over the same time."""
        return self if steps == len(self.commands) else self.resample(0.0, steps, self.dt * len(self.commands) / steps)

    def adapt_steps(self, dt: float, ratio: float, least: int, most: int) -> Plan:
        """Return the plan with one step more or less if the duration of its steps deviates from ``dt`` by more than the fraction
        ``ratio``.
        """
        n = len(self.commands)
        if self.dt > dt * (1.0 + ratio) and n < most:
            return self.resize(n + 1)
        return self.resize(n - 1) if self.dt < dt * (1.0 - ratio) and n > least else self

    def skip_slow_start(self, least: float) -> Plan:
        """Return the plan without the initial steps whose commands are below ``least``; instead, the robot stands still at the end
        of the plan for the same time.
        """
        moves: Array = np.abs(self.commands).max(axis=1) >= least
        return self.resample(self.dt * int(np.argmax(moves)), len(self.commands), self.dt) if moves.any() and not moves[0] else self

    def is_like(self, other: Plan) -> bool:
        """Return whether another plan has the same number of steps, the same poses to within 1 cm and 0.01 rad, and the same ``dt``
        to within 1 %.
        """
        if len(self.commands) != len(other.commands):
            return False
        return bool(np.abs(self.poses - other.poses).max() < 0.01) and abs(self.dt - other.dt) < 0.01 * other.dt


def initial_plan(route: Array, heading: float, steps: int, dt: float, backwards: bool, most: Array) -> Plan:
    """Return the initial guess along a route (A, 2): every step covers the same distance, and the headings point along the route or
    against it.

    Args:
        route: (A, 2) points, m; the first point is the robot's position.
        heading: heading at the end of the route, rad.
        steps: number of steps.
        dt: duration of a step, s.
        backwards: whether the robot should back up if the end of the route is behind it.
        most: (2, 3) minimum and maximum command.
    """
    long = np.hypot(*np.diff(route, axis=0).T)
    ways = np.concatenate(([0.0], np.cumsum(long)))
    wanted = np.linspace(0.0, ways[-1], steps + 1)
    places = np.stack([np.interp(wanted, ways, route[:, k]) for k in range(2)], -1)
    step = np.diff(places, axis=0)
    headings = np.arctan2(step[:, 1], step[:, 0]) + (np.pi if backwards and route[-1, 0] < 0.0 else 0.0)
    headings[0] = 0.0
    headings = np.unwrap(np.concatenate((headings, [heading])))
    c, s = np.cos(headings[:-1]), np.sin(headings[:-1])
    commands = np.stack((c * step[:, 0] + s * step[:, 1], np.diff(headings), c * step[:, 1] - s * step[:, 0]), -1) / dt
    return Plan(np.column_stack((places, headings)), np.clip(commands, most[0], most[1]), dt)


def standing_plan(steps: int, dt: float) -> Plan:
    """Return a plan in which the robot stands still."""
    return Plan(np.zeros((steps + 1, 3)), np.zeros((steps, 3)), dt)


def nearest_turn(plan: Plan) -> Plan:
    """Return the plan with all headings shifted by full turns, so that the first is within half a turn of 0."""
    shift = plan.poses[0, 2] - wrap_below_pi(plan.poses[0, 2])
    return plan._replace(poses=plan.poses - (0.0, 0.0, shift))


def is_clear(plan: Plan, things: Things, body: Body) -> bool:
    """Return whether a body is free of obstacles at all poses of a plan."""
    times = plan.dt * np.arange(len(plan.poses))
    return bool((gap(plan.poses, things.at(times)[0], body) > things.radius).all())


def bend_route(route: Array, time: float, things: Things, body: Body, side: float) -> Array | None:
    """Return a route (A, 2) in which points where the body would touch something are moved sideways until it touches nothing.

    Neighbouring points are moved as well, by 1 m less per metre along the route.

    Args:
        route: (A, 2) points, m; the first point is the robot's position.
        time: travel time of the route, s.
        things: the obstacles.
        body: shape of the robot.
        side: 1 to move the points to the left, -1 to the right.

    Returns:
        The route; None if there is no room within 2 m.
    """
    steps = np.diff(route, axis=0)
    headings = np.arctan2(steps[:, 1], steps[:, 0])
    headings = np.append(headings, headings[-1])
    ways = np.concatenate(([0.0], np.cumsum(np.hypot(steps[:, 0], steps[:, 1]))))
    places = things.at(time * ways / max(ways[-1], _TINY))[0]
    normals = side * np.stack((-np.sin(headings), np.cos(headings)), -1)
    needed = np.full(len(route), np.inf)
    for k in range(_ASIDES, -1, -1):
        poses = np.column_stack((route + k * _ASIDE * normals, headings))
        free = (gap(poses, places, body) > things.radius + _ROOM).all(axis=1)
        needed[free] = k * _ASIDE
    needed[0] = 0.0
    if not np.isfinite(needed).all():
        return None
    shift = (needed - np.abs(ways[:, None] - ways)).max(axis=1)
    shift[0] = 0.0
    moved: Array = route + np.maximum(shift, 0.0)[:, None] * normals
    return moved


def via_points(route: Array, apart: float, poses: Array, weight: float) -> Array:
    """Return the mean position and the total weight (3, K) of the via points of each pose (K, 3); a via point belongs to the pose
    nearest to it.

    The first pose has no via points, and those of the last pose are assigned to the previous pose.

    Args:
        route: points, `SPACING` apart, m.
        apart: distance between via points, m.
        poses: (K, 3) poses.
        weight: weight of each via point.
    """
    via, every = np.zeros((3, len(poses))), max(round(apart / SPACING), 1)
    for point in route[every::every] if weight > 0.0 else ():
        k = min(int(np.argmin(((poses[:, :2] - point) ** 2).sum(axis=1))), len(poses) - 2)
        if k > 0:
            via[:2, k] = (via[2, k] * via[:2, k] + weight * point) / (via[2, k] + weight)
            via[2, k] += weight
    return via
