"""The motion of SocNavBench's robot under a joystick's commands (CMU-TBD/SocNavBench 2724ea85): clipped, then executed at once.

Velocities move a unicycle by Euler steps (``systems/dubins_3d.py``); position commands set the pose (``execute_position_cmds``).
Poses are float32; values that SocNavBench computes in float64 under NumPy 1 are float64 here.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.state import Floats

TOLERANCE = 0.01
"""Excess speed of a requested position that is tolerated, m/s (``clip_posn: epsilon``)."""


def clip_velocity(value: float, low: float, high: float) -> float:
    """Return a velocity, rounded to 3 digits, within its bounds (``agents/robot_utils.py: clip_vel``)."""
    return min(max(low, round(float(value), 3)), high)


def clip_position(dt: float, old: Floats, new: Floats, fastest: float) -> Floats:
    """Return the pose (3,) that is reached for a requested pose (``agents/robot_utils.py: clip_posn``).

    If the requested pose is farther than ``fastest``, m/s, allows in ``dt``, s, the step is shortened along its direction, then its
    heading.
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
    """Apply a command for one step.

    Args:
        command: (2,) v and w, or (4,) x, y, heading and v.
        pose: (3,) pose of the robot; its heading counts turns.
        dt: step, s.
        v: lowest and highest speed, m/s.
        w: lowest and highest turn rate, rad/s.

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
