"""The motion of SocNavBench's robot under joystick commands (CMU-TBD/SocNavBench 2724ea85): commands are clipped and take effect
immediately.

Velocity commands move a unicycle in Euler steps (``systems/dubins_3d.py``); position commands set the pose
(``execute_position_cmds``). Poses are float32; values that SocNavBench computes in float64 with NumPy 1 are also float64 in this
module.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.state import Floats

TOLERANCE = 0.01
"""Amount by which a requested position may exceed the maximum speed, m/s (``clip_posn: epsilon``)."""


def clip_velocity(value: float, low: float, high: float) -> float:
    """Return a velocity rounded to 3 digits and clipped to its bounds (``agents/robot_utils.py: clip_vel``)."""
    return min(max(low, round(float(value), 3)), high)


def clip_position(dt: float, old: Floats, new: Floats, fastest: float) -> Floats:
    """Return the pose (3,) that the robot reaches when a pose is requested (``agents/robot_utils.py: clip_posn``).

    If the robot would need more than ``fastest`` m/s to reach the requested pose within ``dt`` seconds, the step is shortened, and
    the direction of the step becomes the heading.
    """
    dx, dy = new[0] - old[0], new[1] - old[1]
    if math.hypot(dx, dy) / dt <= fastest + TOLERANCE:
        return new
    heading = np.arctan2(dy, dx)
    reach = dt * fastest
    shortened = [reach * float(np.cos(heading)) + float(old[0]), reach * float(np.sin(heading)) + float(old[1]), heading]
    return np.array(shortened).astype(np.float32)


def follow(
    command: Floats, pose: Floats, dt: float, v: tuple[float, float], w: tuple[float, float]
) -> tuple[Floats, tuple[float, float, float], bool]:
    """Apply a command for one time step.

    Args:
        command: (2,) v and w, or (4,) x, y, heading and v; m, rad, m/s and rad/s.
        pose: (3,) pose of the robot, with an unwrapped heading.
        dt: time step, s.
        v: minimum and maximum speed, m/s.
        w: minimum and maximum turn rate, rad/s.

    Returns:
        The pose (3,) after the step, the twist in the robot's frame, m/s and rad/s, and whether the command was clipped.
    """
    if len(command) == 2:
        taken = np.array([clip_velocity(command[0], *v), clip_velocity(command[1], *w)], np.float32)
        rate = np.array([taken[0] * np.cos(pose[2]), taken[0] * np.sin(pose[2]), taken[1]], np.float32)
        asked = np.array([round(float(value), 3) for value in command], np.float32)
        return (pose + dt * rate).astype(np.float32), (float(taken[0]), 0.0, float(taken[1])), bool((asked != taken).any())
    asked = command[:3]
    after = clip_position(dt, pose, asked, v[1])
    vx, vy = ((float(after[k]) - float(pose[k])) / dt for k in range(2))
    s, c = math.sin(after[2]), math.cos(after[2])
    turn = math.remainder(float(after[2]) - float(pose[2]), math.tau) / dt
    return after, (c * vx + s * vy, c * vy - s * vx, turn), after is not asked
