"""The robots' state as kernels see it, and shared parts of planners that roll out twists: poses, costs, braking, and the turn at
the goal.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.jit import hidden
from agora.core.recording import Reason
from agora.core.scalar import ONE, TWO, ZERO, sincos, wrap
from agora.core.state import Array, Floats, Ints, freeze
from agora.costmap.window import Window
from agora.interfaces import Observation
from agora.planners._rollouts.grids import cell_of, footprint_cost

_SNAP = np.float32(1e-6)
DISCARDED = np.float32(-1.0)
"""The score of a roll-out that is discarded."""
GOES_ON, NO_PATH, BLOCKED = np.int8(Reason.NONE), np.int8(Reason.NO_PATH), np.int8(Reason.BLOCKED)
_IN_CONTACT = np.int8(Reason.START_IN_CONTACT)


class Observed(NamedTuple):
    """The arrays of an observation, and the robots' limits."""

    pose: Floats
    twist: Floats
    goal: Floats
    footprint_x: Floats
    footprint_y: Floats
    min_x: Floats
    max_x: Floats
    max_y: Floats
    max_theta: Floats
    acc_x: Floats
    acc_y: Floats
    acc_theta: Floats
    turning_radius: Floats
    path: Floats
    path_count: Ints
    cost: Array
    origin: Floats
    inverse: np.float32


def scene_of(o: Observation, window: Window) -> Observed:
    """Return the arrays that the kernels read from an observation, and the robots' limits."""
    assert o.path is not None and o.path_count is not None and o.costmap is not None
    m = o.limits
    corners = np.moveaxis(window.corners(o.footprint, o.radius), 2, 0)
    return Observed(
        pose=freeze(o.pose),
        twist=freeze(o.twist),
        goal=freeze(o.goal),
        footprint_x=freeze(corners[0]),
        footprint_y=freeze(corners[1]),
        min_x=freeze(m.min_vx),
        max_x=freeze(m.max_vx),
        max_y=freeze(np.where(m.holonomic, m.max_vy, np.float32(0.0))),
        max_theta=freeze(m.max_omega),
        acc_x=freeze(m.max_ax),
        acc_y=freeze(m.max_ay),
        acc_theta=freeze(m.max_alpha),
        turning_radius=freeze(m.turning_radius),
        path=freeze(o.path),
        path_count=freeze(o.path_count),
        cost=freeze(o.costmap.cost),
        origin=freeze(o.costmap.origin),
        inverse=np.float32(1.0 / o.costmap.resolution),
    )


def horizon(sim_time: float, speed: Floats, window: Window, nose: float) -> Floats:
    """Return the roll-out duration for each robot (N,), s: ``sim_time``, or less if the fastest roll-outs would leave the window.

    Args:
        sim_time: maximum duration of the roll-outs, s.
        speed: (N,) maximum speed, m/s.
        window: local costmap.
        nose: distance ahead of the robot's centre that the window must contain, m.
    """
    room = np.float32(0.5 * window.size - nose - 2.0 * window.resolution)
    longest: Floats = np.minimum(np.float32(sim_time), np.maximum(room, _SNAP) / np.maximum(speed, _SNAP))
    return longest


@hidden
def is_another(mark, path, count):
    """Return whether the path (K, 2) of ``count`` points differs from the path recorded in ``mark`` (3,), and record it there."""
    same = mark[0] == path[0, 0] and mark[1] == path[0, 1] and mark[2] == np.float32(count)
    mark[0], mark[1], mark[2] = path[0, 0], path[0, 1], np.float32(count)
    return not same


@hidden
def step_towards(target, now, most):
    """Return ``now``, moved by at most ``most`` towards ``target``."""
    return min(max(target, now - most), now + most)


@hidden
def stop_and_turn(p, scene, n, latch, max_theta, acceleration):
    """Return the command at the goal: brake, then turn in place to the goal heading; the caller checks that there is room to turn.

    Args:
        p: parameters of any planner that has ``period``, ``yaw_goal_tolerance``, ``trans_stopped_vel``, ``theta_stopped_vel`` and
            ``min_vel_theta``.
        scene: `Observed`.
        n: index of the row.
        latch: (2,) latch of the row; entry [1] is set once the robot has stopped and turns.
        max_theta: maximum turning rate, rad/s.
        acceleration: acceleration limits of the three axes, m/s2 and rad/s2.
    """
    still = (ZERO, ZERO, ZERO)
    left = wrap(scene.goal[n, 2] - scene.pose[n, 2])
    if abs(left) <= p.yaw_goal_tolerance:
        latch[1] = False
        return still
    vx, vy, omega = scene.twist[n, 0], scene.twist[n, 1], scene.twist[n, 2]
    moving = abs(vx) > p.trans_stopped_vel or abs(vy) > p.trans_stopped_vel or abs(omega) > p.theta_stopped_vel
    if moving and not latch[1]:
        return (
            step_towards(ZERO, vx, acceleration[0] * p.period),
            step_towards(ZERO, vy, acceleration[1] * p.period),
            step_towards(ZERO, omega, acceleration[2] * p.period),
        )
    if scene.turning_radius[n] > ZERO:
        return still
    latch[1] = True
    slowest = min(p.min_vel_theta, max_theta)
    turn = min(max_theta, max(slowest, abs(left)))
    turn = step_towards(turn, abs(omega), acceleration[2] * p.period)
    turn = min(turn, math.sqrt(TWO * acceleration[2] * abs(left)))
    return ZERO, ZERO, math.copysign(min(max_theta, max(slowest, turn)), left)


@hidden
def write_poses(x, y, heading, twist, target, acceleration, dt, count, points):
    """Write ``count`` poses, ``dt`` s apart, of a robot that changes from one twist to another; the first is the current pose."""
    vx, vy, omega = twist
    for i in range(count):
        sine, cosine = sincos(heading)
        points[i, 0], points[i, 1], points[i, 2], points[i, 3] = x, y, sine, cosine
        vx = step_towards(target[0], vx, acceleration[0] * dt)
        vy = step_towards(target[1], vy, acceleration[1] * dt)
        omega = step_towards(target[2], omega, acceleration[2] * dt)
        x += (vx * cosine - vy * sine) * dt
        y += (vx * sine + vy * cosine) * dt
        heading += omega * dt


@hidden
def least_of(scores, count):
    """Return the index of the lowest score, the first one in a tie; -1 if all samples are discarded."""
    least = np.int64(-1)
    for i in range(count):
        if scores[i] >= ZERO and (least < 0 or scores[i] < scores[least]):
            least = i
    return least


@hidden
def obstacle_cost(points, count, cost, inverse, corners_x, corners_y, scale, centre):
    """Return the maximum cost under the footprint along a roll-out, or, with ``centre``, only under the footprint's centre; -1 if
    the roll-out is discarded.
    """
    worst = np.int32(0)
    for i in range(count):
        value = footprint_cost(cost, corners_x, corners_y, scale, points[i, 0], points[i, 1], points[i, 2], points[i, 3], inverse)
        if value < 0:
            return DISCARDED
        if centre:
            column, row = cell_of(points[i, 0], points[i, 1], inverse, cost)
            value = np.int32(cost[row, column])
        worst = max(worst, value)
    return np.float32(worst)


@hidden
def reason_without_samples(scene, n):
    """Return the reason why no sample is left: the footprint meets an obstacle at the current pose, or during every motion."""
    x, y = scene.pose[n, 0] - scene.origin[n, 0], scene.pose[n, 1] - scene.origin[n, 1]
    sine, cosine = sincos(scene.pose[n, 2])
    cost = footprint_cost(scene.cost[n], scene.footprint_x[n], scene.footprint_y[n], ONE, x, y, sine, cosine, scene.inverse)
    return _IN_CONTACT if cost < 0 else BLOCKED
