"""Converts commands to motor setpoints, delayed by the robot's command delay and within its speed and acceleration limits."""

from __future__ import annotations

import numpy as np

from agora.core.jit import bind, hidden, lean_kernel
from agora.core.kinematics import next_twist
from agora.core.state import Floats, RobotTraits
from agora.simulators.native import due_command
from agora.world.threads import Work
from agora.world.world import World

__all__ = ["set_points"]


@hidden
def _set(dt, traits, status, commands, points, w, r):
    command = due_command(traits, status, commands, w, r)
    twist = (points[w, r, 0], points[w, r, 1], points[w, r, 2])
    twist, steering = next_twist(traits, w, r, twist, command, points[w, r, 3], dt)
    points[w, r, 0], points[w, r, 1], points[w, r, 2], points[w, r, 3] = twist[0], twist[1], twist[2], steering


@lean_kernel
def _set_all(dt, traits, status, commands, points, first, last):
    for w in range(first, last):
        if status.clock.done[w]:
            continue
        for r in range(points.shape[1]):
            _set(dt, traits, status, commands, points, w, r)


def set_points(world: World, limits: RobotTraits, points: Floats) -> Work:
    """Return the work item that advances the setpoints in a range of worlds by one step.

    Args:
        world: world whose commands are followed.
        limits: limits of the robots.
        points: (W, R, 4) setpoints, which are written: twist, m/s and rad/s, and steering angle, rad.
    """
    return bind(_set_all, np.float32(world.dt), limits, world.status, world.commands, points)
