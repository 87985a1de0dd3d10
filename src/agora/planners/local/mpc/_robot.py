"""One robot in the model predictive planner: its state, its limits, and the commands that it can follow.

Commands and limits are forward speed, turning rate and sideways speed, in this order.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.state import Array
from agora.planners.local.mpc._scene import Body

_LEAST = 1e-3  # m/s


class Robot(NamedTuple):
    """The current state of one robot.

    Attributes:
        pose: (3,) pose in the map's frame, m and rad.
        last: (3,) previous command, m/s and rad/s.
        most: (2, 3) minimum and maximum command.
        growth: (3,) maximum increase of a command per second.
        fall: (3,) maximum decrease of a command per second.
        hard: (3,) maximum change of a command per second that the robot is physically capable of.
        turning_radius: minimum radius of a curve, m; 0 if the robot can turn in place.
        holonomic: whether the robot can move sideways.
        model: shape used to measure distances.
        body: actual shape.
        outline: (V, 2) corners of its padded outline in the robot's frame, m.
    """

    pose: Array
    last: Array
    most: Array
    growth: Array
    fall: Array
    hard: Array
    turning_radius: float
    holonomic: bool
    model: Body
    body: Body
    outline: Array


def bodies_of(outline: Array, radius: float, is_disc: bool) -> dict[str, Body]:
    """Return the shapes of a robot by name, given the corners (V, 2) of its padded outline and the radius of its disc, m."""
    low, high = outline.min(axis=0), outline.max(axis=0)
    disc = Body(0.0, 0.0, 0.0, 0.0, radius)
    rectangle = disc if is_disc else Body._make((*(0.5 * (low + high)), *(0.5 * (high - low)), 0.0))
    return {"point": disc._replace(rounding=0.0), "circular": disc, "rectangle": rectangle}


def clip_command(command: Array, robot: Robot, dt: float) -> Array:
    """Return a command clipped to all bounds, because the solver respects the bounds only to within its tolerance."""
    made = np.clip(command, robot.last - robot.fall * dt, robot.last + robot.growth * dt)
    made = np.clip(made, robot.most[0], robot.most[1])
    made[[0, 2]] *= min(1.0, robot.most[1, 0] / max(math.hypot(made[0], made[2]), _LEAST))
    return _make_drivable(made, robot)


def brake(robot: Robot, falls: Array, dt: float) -> Array:
    """Return the command after braking for ``dt`` s, decelerating by at most ``falls`` (3,) per second."""
    return _make_drivable(np.sign(robot.last) * np.maximum(np.abs(robot.last) - falls * dt, 0.0), robot)


def _make_drivable(command: Array, robot: Robot) -> Array:
    """Return the command, limited to a curve that the robot can drive."""
    if robot.turning_radius > 0:
        command[1] = np.clip(command[1], -abs(command[0]) / robot.turning_radius, abs(command[0]) / robot.turning_radius)
    return command
