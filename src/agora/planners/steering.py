"""From a point to drive to, to a twist that the robot can drive: what planners that think in points share."""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import device
from agora.core.scalar import HALF_PI, ONE, TWO, ZERO, atan2

_FOUR, _EIGHT = np.float32(4.0), np.float32(8.0)
_TINY = np.float32(1e-9)


@device
def stopping_speed(distance, deceleration, dt):
    """The largest speed from which braking in steps of ``dt`` ends in time: v^2 / 2a + v dt / 2 = distance, and v dt <= distance.

    Args:
        distance: what is left, m (or rad).
        deceleration: m/s2 (or rad/s2).
        dt: control period, s.
    """
    left = max(distance, ZERO)
    step = deceleration * dt
    speed = _FOUR * deceleration * left / (step + math.sqrt(step * step + _EIGHT * deceleration * left) + _TINY)
    return min(speed, left / dt)


@device
def steer(x, y, speed, holonomic, min_vx, max_vx, max_vy, max_omega, max_alpha, turning_radius, dt):
    """The twist (vx, vy, omega) towards the point (x, y) of the robot's frame, at most at ``speed`` and within the limits.

    Holonomic robots move straight to it and turn to face it; the others drive the arc through it (curvature 2 y / d^2), turning in
    place first where it lies behind them; car-like ones turn no tighter than their turning radius.
    """
    distance = math.sqrt(x * x + y * y) + _TINY
    bearing = atan2(y, x)
    turn = math.copysign(min(max_omega, stopping_speed(abs(bearing), max_alpha, dt)), bearing)
    if holonomic:
        along, across = x / distance, y / distance
        forward = max_vx if along > ZERO else -min_vx
        fastest = min(speed, forward / max(abs(along), _TINY), max_vy / max(abs(across), _TINY))
        return fastest * along, fastest * across, turn
    if turning_radius <= ZERO and abs(bearing) > HALF_PI:
        return ZERO * speed, ZERO * speed, turn
    curvature = TWO * y / (distance * distance)
    if turning_radius > ZERO:
        tightest = ONE / turning_radius
        curvature = math.copysign(tightest, y) if x < ZERO else min(max(curvature, -tightest), tightest)
    forward = min(speed, max_vx, max_omega / max(abs(curvature), _TINY))
    return forward, ZERO * forward, forward * curvature
