"""The final turn to the goal heading, which the library adds to planners that only drive to a position.

A planner that plans poses declares ``turns_at_goal``, and the library adds nothing. For any other planner, the turn starts when the
task requires a heading and the robot, if it braked now, would stop within the goal tolerance. The robot then brakes and turns in
place, in the shorter direction. `dwa` and `trajectory_rollout` have their own final turn, which starts at their own tolerance. This
tolerance may be tighter than the task's, and the two planners may not get close enough to the goal to meet it.

A robot that is not a disc checks the local costmap first, if its planner reads one: it turns in the direction in which its outline
stays free of obstacles, and if neither direction is free, the planner stays in control. Car-like robots cannot turn in place: they
keep the heading at which they arrive, and only a planner that plans poses (`teb`) makes them arrive with the right heading.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import hidden, lean_kernel
from agora.core.scalar import HALF, ONE, PI, TWO, ZERO, sincos, wrap
from agora.core.state import Bools, Floats, freeze
from agora.costmap.walls import window_of
from agora.costmap.window import Window
from agora.interfaces import Observation
from agora.planners._rollouts.grids import footprint_cost
from agora.planners._rollouts.poses import step_towards
from agora.planners.steering import stopping_speed

_INSIDE = np.float32(0.95)
_STILL = np.float32(0.05)  # m/s
_STEP = np.float32(0.1)  # rad
_ONCE = TWO * PI


def turn_at_goal(observation: Observation, twists: Floats, rows: Bools) -> tuple[Floats, Bools]:
    """Return the twists (N, 3), float32, including the final turn, and which rows (N,) are making that turn.

    Args:
        observation: observation of N rows.
        twists: (N, 3) twists of the planner.
        rows: (N,) active rows.
    """
    o, turning = observation, np.zeros(len(twists), np.bool_)
    if o.heading_tolerance is None or o.goal_tolerance is None or not (rows & (o.heading_tolerance < PI)).any():
        return twists, turning
    m, made = o.limits, np.array(twists, np.float32)
    outline = Window().corners(o.footprint, o.radius) if o.footprint.shape[1] else np.zeros((len(made), 0, 2), np.float32)
    limits = (m.max_omega, m.max_ax, m.max_ay, m.max_alpha, m.turning_radius)
    given = (o.pose, o.twist, o.goal, o.goal_tolerance, o.heading_tolerance, *limits, outline)
    cost = window_of(o.costmap, len(made))
    _turn(tuple(freeze(array) for array in given), np.float32(o.dt), cost, freeze(rows), made, turning, 0, len(made))
    return made, turning


@hidden
def _is_turn_free(window, n, x, y, heading, angle, corners):
    """Return whether a robot's outline stays free of obstacles while it turns by an angle."""
    cost, origin, resolution = window
    steps = np.int64(np.ceil(abs(angle) / _STEP))
    for k in range(1, steps + 1):
        sine, cosine = sincos(wrap(heading + angle * np.float32(k) / np.float32(steps)))
        u, v, inverse = x - origin[n, 0], y - origin[n, 1], ONE / resolution
        if footprint_cost(cost[n], corners[n, :, 0], corners[n, :, 1], ONE, u, v, sine, cosine, inverse) < 0:
            return False
    return True


@lean_kernel
def _turn(given, dt, window, rows, twists, turning, first, last):
    """Write the twists of those rows in ``first <= n < last`` that turn, and mark these rows."""
    pose, twist, goal, tolerance, heading_tolerance, max_omega, max_ax, max_ay, max_alpha, turning_radius, corners = given
    for n in range(first, last):
        left = wrap(goal[n, 2] - pose[n, 2])
        if not rows[n] or turning_radius[n] > ZERO or abs(left) <= heading_tolerance[n]:
            continue
        vx, vy, omega = twist[n, 0], twist[n, 1], twist[n, 2]
        sine, cosine = sincos(pose[n, 2])
        ahead, aside = HALF * vx * abs(vx) / max_ax[n], HALF * vy * abs(vy) / max_ay[n]
        dx = goal[n, 0] - pose[n, 0] - ahead * cosine + aside * sine
        dy = goal[n, 1] - pose[n, 1] - ahead * sine - aside * cosine
        if dx * dx + dy * dy >= _INSIDE * tolerance[n] * _INSIDE * tolerance[n]:
            continue
        if (
            corners.shape[1] > 0
            and window[0].shape[1] > 0
            and not _is_turn_free(window, n, pose[n, 0], pose[n, 1], pose[n, 2], left, corners)
        ):
            left -= math.copysign(_ONCE, left)
            if not _is_turn_free(window, n, pose[n, 0], pose[n, 1], pose[n, 2], left, corners):
                continue
        wanted = ZERO
        if vx * vx + vy * vy <= _STILL * _STILL:
            wanted = math.copysign(min(max_omega[n], stopping_speed(abs(left), max_alpha[n], dt)), left)
        turning[n] = True
        twists[n, 0] = step_towards(ZERO, vx, max_ax[n] * dt)
        twists[n, 1] = step_towards(ZERO, vy, max_ay[n] * dt)
        twists[n, 2] = step_towards(wanted, omega, max_alpha[n] * dt)
