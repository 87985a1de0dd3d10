"""From a point to drive to, or a velocity to have, to a twist that the robot can drive: what planners that think in them share."""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import lean, lean_kernel
from agora.core.scalar import HALF, HALF_PI, ONE, TWO, ZERO, atan2, sincos
from agora.core.state import Bools, Floats, frozen
from agora.costmap.inflation import LETHAL
from agora.interfaces import Observation

_EIGHT = np.float32(8.0)
_TINY = np.float32(1e-9)
_CRAWL = np.float32(0.3)
_STILL = np.float32(1e-3)


@lean
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


@lean
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


@lean_kernel
def _drive(velocity, pose, holonomic, min_vx, max_vx, max_vy, max_omega, turning_radius, touched, gain, out, first, last):
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
        wanted = math.sqrt(forward * forward + left * left)
        if wanted < _STILL:
            continue
        if touched[i] and forward <= ZERO:
            out[i, 0] = max(forward, min(min_vx[i], ZERO))
            continue
        least = _CRAWL * wanted if turning_radius[i] > ZERO else ZERO
        speed = min(max(forward, least), max_vx[i])
        fastest = min(max_omega[i], speed / turning_radius[i]) if turning_radius[i] > ZERO else max_omega[i]
        out[i, 0], out[i, 2] = speed, min(max(gain * atan2(left, forward), -fastest), fastest)


def velocity_to_twist(velocity: Floats, observation: Observation, gain: float) -> Floats:
    """Turn wanted velocities into twists within the limits of the robots.

    A holonomic robot moves at once in the wanted direction, without turning; a velocity beyond its limits is scaled down as a
    whole, so that it does not point off the path. Any other robot (and a holonomic one that cannot reverse) turns with
    omega = gain * err, where err is the angle from its heading to the wanted velocity, and drives with |v| max(0, cos err); below
    1 mm/s it stands. A robot with a turning radius does not turn in place: it drives with at least 0.3 |v| and as tight a curve as
    it can; where the wanted velocity grows from the robot's own, as in force models, that can leave it all but standing. One that
    somebody or a wall touches, and that wants to go back, goes straight back.

    Args:
        velocity: (N, 2) m/s, map frame.
        observation: pose, radius, limits and dt of the N robots, and what is about them.
        gain: 1/s; at most 1 / dt is used, so that the heading does not swing over.

    Returns:
        Twists (N, 3).
    """
    limits = observation.limits
    out = np.zeros((len(velocity), 3), np.float32)
    bounds = (limits.holonomic, limits.min_vx, limits.max_vx, limits.max_vy, limits.max_omega, limits.turning_radius)
    slow = np.float32(min(gain, 1.0 / observation.dt))
    given = (frozen(array) for array in (velocity, observation.pose, *bounds, _touched(observation)))
    _drive(*given, slow, out, 0, len(velocity))
    return out


def _touched(o: Observation) -> Bools:
    """Which robots (N,) with a turning radius somebody touches, or a lethal cell of the costmap."""
    cars, touched = o.limits.turning_radius > 0, np.zeros(len(o.pose), np.bool_)
    for seen in (o.pedestrians, o.robots) if cars.any() else ():
        if seen is not None:
            dx, dy = seen.position[..., 0] - o.pose[:, None, 0], seen.position[..., 1] - o.pose[:, None, 1]
            reach = seen.radius + o.radius[:, None]
            touched |= (seen.present & (dx * dx + dy * dy <= reach * reach)).any(axis=1)
    if cars.any() and o.costmap is not None:
        c = o.costmap
        dy, dx = (
            (np.arange(c.cost.shape[k + 1]) + 0.5) * c.resolution + (c.origin - o.pose[:, :2])[:, 1 - k, None] for k in (0, 1)
        )
        inside = dx[:, None, :] ** 2 + dy[:, :, None] ** 2 <= o.radius[:, None, None] ** 2
        touched |= (inside & (c.cost == LETHAL)).any(axis=(1, 2))
    return touched & cars
