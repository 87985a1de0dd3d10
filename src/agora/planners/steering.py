"""From a point to drive to, to a twist that the robot can drive: what planners that think in points share."""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import device
from agora.core.scalar import HALF, HALF_PI, ONE, TWO, ZERO, atan2

_EIGHT = np.float32(8.0)
_TINY = np.float32(1e-9)


@device
def stopping_speed(distance, deceleration, dt):
    """The speed from which braking by ``deceleration * dt`` a step ends exactly after ``distance``, in the least number of steps.

    With n steps left: distance = n v dt - deceleration dt^2 n (n - 1) / 2, and no step brakes harder than it may.

    Args:
        distance: what is left, m (or rad); below 0 as 0.
        deceleration: m/s2 (or rad/s2).
        dt: control period, s.
    """
    left = max(distance, ZERO)
    step = deceleration * dt
    n = max(np.ceil(HALF * (math.sqrt(ONE + _EIGHT * left / (step * dt)) - ONE)), ONE)
    return left / (n * dt) + HALF * step * (n - ONE)


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
