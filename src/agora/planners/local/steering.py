"""From a wanted velocity to a twist that the robot can drive."""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import kernel
from agora.core.scalar import ONE, ZERO, atan2, sincos
from agora.core.state import Floats
from agora.interfaces import Observation

_CRAWL = np.float32(0.3)


@kernel
def _steer(velocity, pose, holonomic, min_vx, max_vx, max_vy, max_omega, turning_radius, gain, out, first, last):
    for i in range(first, last):
        sine, cosine = sincos(pose[i, 2])
        forward = cosine * velocity[i, 0] + sine * velocity[i, 1]
        left = cosine * velocity[i, 1] - sine * velocity[i, 0]
        if holonomic[i] and min_vx[i] < ZERO:
            scale = ONE
            scale = min(scale, max_vx[i] / forward) if forward > max_vx[i] else scale
            scale = min(scale, min_vx[i] / forward) if forward < min_vx[i] else scale
            scale = min(scale, max_vy[i] / abs(left)) if abs(left) > max_vy[i] else scale
            out[i, 0], out[i, 1], out[i, 2] = scale * forward, scale * left, ZERO
            continue
        least = _CRAWL * math.sqrt(forward * forward + left * left) if turning_radius[i] > ZERO else ZERO
        speed = min(max(forward, least), max_vx[i])
        fastest = min(max_omega[i], speed / turning_radius[i]) if turning_radius[i] > ZERO else max_omega[i]
        out[i, 0], out[i, 1] = speed, ZERO
        out[i, 2] = min(max(gain * atan2(left, forward), -fastest), fastest)


def velocity_to_twist(velocity: Floats, observation: Observation, gain: float) -> Floats:
    """Turn wanted velocities into twists within the limits of the robots.

    A holonomic robot moves at once in the wanted direction, without turning; a velocity beyond its limits is scaled down as a
    whole. Any other robot (and a holonomic one that cannot reverse) turns with omega = gain * err, where err is the angle from its
    heading to the wanted velocity, and drives with |v| max(0, cos err). A robot with a turning radius does not turn in place: it
    drives with at least 0.3 |v| and as tight a curve as it can; where the wanted velocity grows from the robot's own, as in force
    models, that can leave it all but standing.

    Args:
        velocity: (N, 2) m/s, map frame.
        observation: pose, limits and dt of the N robots.
        gain: 1/s; at most 1 / dt is used, so that the heading does not swing over.

    Returns:
        Twists (N, 3).
    """
    limits = observation.limits
    out = np.zeros((len(velocity), 3), np.float32)
    bounds = (limits.min_vx, limits.max_vx, limits.max_vy, limits.max_omega, limits.turning_radius)
    slow = np.float32(min(gain, 1.0 / observation.dt))
    _steer(velocity, observation.pose, limits.holonomic, *bounds, slow, out, 0, len(velocity))
    return out
