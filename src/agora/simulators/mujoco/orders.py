"""Commands as setpoints of motors: late by the robot's delay, and within its limits of speed and acceleration."""

from __future__ import annotations

from agora.core.jit import hidden, lean_kernel
from agora.core.kinematics import next_twist
from agora.simulators.native import due_command

__all__ = ["set_points"]


@hidden
def _set(dt, traits, status, commands, points, w, r):
    command = due_command(traits, status, commands, w, r)
    twist = (points[w, r, 0], points[w, r, 1], points[w, r, 2])
    twist, steering = next_twist(traits, w, r, twist, command, points[w, r, 3], dt)
    points[w, r, 0], points[w, r, 1], points[w, r, 2], points[w, r, 3] = twist[0], twist[1], twist[2], steering


@lean_kernel
def set_points(dt, traits, status, commands, points, first, last):
    """Take the setpoints of the robots of worlds ``first <= w < last``, ``points`` (W, R, 4), one step on: twist, steering angle."""
    for w in range(first, last):
        if status.clock.done[w]:
            continue
        for r in range(points.shape[1]):
            _set(dt, traits, status, commands, points, w, r)
