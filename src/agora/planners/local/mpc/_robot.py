"""One robot of the model predictive planner: where it is, what it may do, and the commands that it can follow.

Commands and limits are of forward speed, turning rate and sideways speed, in this order.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.state import Array
from agora.planners.local.mpc._scene import Body

_LEAST = 1e-3  # m/s


class Robot(NamedTuple):
    """One robot as it is now.

    Attributes:
        pose: (3,) pose in the map's frame, m and rad.
        last: (3,) command before this one, m/s and rad/s.
        most: (2, 3) least and largest command.
        growth: (3,) most that a command grows in 1 s.
        fall: (3,) most that it falls in 1 s.
        hard: (3,) most that the robot itself can change it in 1 s.
        turning_radius: smallest radius of a curve, m; 0 where it can turn in place.
        holonomic: whether it can move sideways.
        model: shape to which distances are measured.
        body: shape that it has.
        outline: (V, 2) corners of its padded outline in its frame, m.
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
    """Return the shapes of a robot by their names, from the corners (V, 2) of its padded outline and the radius of its disc, m."""
    low, high = outline.min(axis=0), outline.max(axis=0)
    disc = Body(0.0, 0.0, 0.0, 0.0, radius)
    rectangle = disc if is_disc else Body._make((*(0.5 * (low + high)), *(0.5 * (high - low)), 0.0))
    return {"point": disc._replace(rounding=0.0), "circular": disc, "rectangle": rectangle}


def within(command: Array, robot: Robot, dt: float) -> Array:
    """Return a command within all bounds, to the last bit of what the solver leaves."""
    made = np.clip(command, robot.last - robot.fall * dt, robot.last + robot.growth * dt)
    made = np.clip(made, robot.most[0], robot.most[1])
    made[[0, 2]] *= min(1.0, robot.most[1, 0] / max(math.hypot(made[0], made[2]), _LEAST))
    return _drivable(made, robot)


def braked(robot: Robot, falls: Array, dt: float) -> Array:
    """Return the command that brakes by as much as ``falls`` (3,) in 1 s."""
    return _drivable(np.sign(robot.last) * np.maximum(np.abs(robot.last) - falls * dt, 0.0), robot)


def _drivable(command: Array, robot: Robot) -> Array:
    """The command with no tighter a curve than the robot drives."""
    if robot.turning_radius > 0:
        command[1] = np.clip(command[1], -abs(command[0]) / robot.turning_radius, abs(command[0]) / robot.turning_radius)
    return command
