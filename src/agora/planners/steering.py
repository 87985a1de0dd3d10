"""Steering: the twist of a robot towards a point, or for a velocity; shared by planners that answer with points or velocities."""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import hidden, lean, lean_kernel
from agora.core.scalar import HALF, HALF_PI, ONE, TWO, ZERO, atan2, sincos
from agora.core.state import Bools, Floats, frozen
from agora.costmap.inflation import LETHAL
from agora.costmap.walls import window_of
from agora.interfaces import Observation

_EIGHT = np.float32(8.0)
_TINY = np.float32(1e-9)
_CRAWL = np.float32(0.3)
_STILL = np.float32(1e-3)
CORNER = np.float32(math.sqrt(2.0))
"""How far the corner of a cell is from its middle, in half cells."""
_LETHAL = np.uint8(LETHAL)


@lean
def stopping_speed(distance, deceleration, dt):
    """Return the speed from which braking by ``deceleration * dt`` a step ends exactly after ``distance``, in the least number of
    steps.

    With n steps left: distance = n v dt - deceleration dt^2 n (n - 1) / 2, and no step brakes harder than it may.

    Args:
        distance: distance that is left, m (or rad); below 0 as 0.
        deceleration: deceleration, m/s2 (or rad/s2).
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


@hidden
def room_ahead(cost, origin_x, origin_y, resolution, x, y, cosine, sine, radius, reach, least):
    """Return the distance that a disc at (x, y) gets in the direction (cosine, sine) before it touches a cell of ``least`` cost or
    more, m.

    ``reach`` at most; unknown cells cost 255. A cell is the disc about its corners.
    """
    gap = CORNER * HALF * resolution
    wide, room = radius + gap, reach
    inverse = ONE / resolution
    u, v, cells = (x - origin_x) * inverse, (y - origin_y) * inverse, (wide + gap + reach) * inverse
    for row in range(max(np.int64(v - cells), 0), min(np.int64(v + cells) + 2, cost.shape[0])):
        for column in range(max(np.int64(u - cells), 0), min(np.int64(u + cells) + 2, cost.shape[1])):
            if cost[row, column] < least:
                continue
            dx, dy = (np.float32(column) + HALF - u) * resolution, (np.float32(row) + HALF - v) * resolution
            ahead, aside = dx * cosine + dy * sine, dy * cosine - dx * sine
            if ahead > ZERO and abs(aside) < wide:
                room = min(room, max(ahead - math.sqrt(wide * wide - aside * aside) - gap, ZERO))
    return room


@lean_kernel
def _drive(velocity, pose, radius, limits, touched, window, gain, dt, out, first, last):
    holonomic, min_vx, max_vx, max_vy, max_ax, max_omega, max_alpha, turning_radius = limits
    cost, origin, resolution = window
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
        error = atan2(left, forward)
        turn = math.copysign(min(gain * abs(error), stopping_speed(abs(error), max_alpha[i], dt), fastest), error)
        if cost.shape[1] > 0 and turning_radius[i] <= ZERO and speed > ZERO:
            x, y, reach = pose[i, 0], pose[i, 1], speed * dt + HALF * speed * speed / max_ax[i]
            seen = (cost[i], origin[i, 0], origin[i, 1], resolution, x, y)
            room = room_ahead(*seen, cosine, sine, radius[i], reach, _LETHAL)
            sine, cosine = sincos(pose[i, 2] + HALF * turn * dt)
            room = min(room, room_ahead(*seen, cosine, sine, radius[i], reach, _LETHAL))
            speed = min(speed, stopping_speed(room, max_ax[i], dt))
        out[i, 0], out[i, 2] = speed, turn


def velocity_to_twist(velocity: Floats, observation: Observation, gain: float | None) -> Floats:
    """Turn wanted velocities into twists within the limits of the robots.

    A holonomic robot moves at once in the wanted direction, without turning; a velocity beyond its limits is scaled down as a
    whole, so that it does not point off the path. Any other robot (and a holonomic one that cannot reverse) turns with
    omega = gain * err, where err is the angle from its heading to the wanted velocity. It turns no faster than it can stop turning
    after err, drives with |v| max(0, cos err), and stands below 1 mm/s. A robot with a turning radius does not turn in place: it
    drives with at least 0.3 |v| and as tight a curve as it can; where the wanted velocity grows from the robot's own, as in force
    models, that can leave it all but standing. One that somebody or a wall touches, and that wants to go back, goes straight back.

    A robot that turns in place comes about late, and until then it drives where nobody wanted it to: where the planner has a local
    costmap, it goes no faster than lets it stop before a wall ahead of it.

    Args:
        velocity: (N, 2) m/s, map frame.
        observation: pose, radius, limits and dt of the N robots, and what is about them.
        gain: 1/s; at most 1 / dt is used, so that the heading does not swing over. None for 1 / dt: as fast as the robot can.

    Returns:
        Twists (N, 3).
    """
    out = np.zeros((len(velocity), 3), np.float32)
    m = observation.limits
    bounds = (m.holonomic, m.min_vx, m.max_vx, m.max_vy, m.max_ax, m.max_omega, m.max_alpha, m.turning_radius)
    slow = np.float32(1.0 / observation.dt if gain is None else min(gain, 1.0 / observation.dt))
    given = (frozen(velocity), frozen(observation.pose), frozen(observation.radius), tuple(frozen(bound) for bound in bounds))
    window = window_of(observation.costmap, len(velocity))
    _drive(*given, frozen(_touched(observation)), window, slow, np.float32(observation.dt), out, 0, len(velocity))
    return out


def _touched(o: Observation) -> Bools:
    """Return which robots (N,) with a turning radius touch somebody or a lethal cell of the costmap."""
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
