"""Steering: computes the twist that takes a robot towards a point or realises a velocity; shared by planners that output points or
velocities.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import hidden, lean, lean_kernel
from agora.core.scalar import HALF, HALF_PI, ONE, TWO, ZERO, atan2, sincos
from agora.core.state import Bools, Floats, freeze
from agora.costmap.inflation import LETHAL
from agora.costmap.walls import window_of
from agora.interfaces import Observation

_EIGHT = np.float32(8.0)
_TINY = np.float32(1e-9)
_CRAWL = np.float32(0.3)
_STILL = np.float32(1e-3)
_MARGIN = np.float32(1e-3)  # m; when moving along a wall, rounding of the direction may bring the robot this much closer to it
_BRAKES = np.float32(math.sqrt(0.5))  # minimum fraction of the acceleration used for braking in a turn by up to 90 degrees
CORNER = np.float32(math.sqrt(2.0))
"""Distance of the corner of a cell from its centre, in half cells."""
_LETHAL = np.uint8(LETHAL)


@lean
def stopping_speed(distance, deceleration, dt):
    """Return the speed from which a robot that brakes by ``deceleration * dt`` per step stops after exactly ``distance``, in the
    fewest steps.

    With n steps left, distance = n v dt - deceleration dt^2 n (n - 1) / 2, and braking never exceeds the limit.

    Args:
        distance: remaining distance, m (or rad); a negative distance counts as 0.
        deceleration: deceleration, m/s2 (or rad/s2).
        dt: control period, s.
    """
    left = max(distance, ZERO)
    step = deceleration * dt
    n = max(np.ceil(HALF * (math.sqrt(ONE + _EIGHT * left / (step * dt)) - ONE)), ONE)
    return left / (n * dt) + HALF * step * (n - ONE)


@lean
def steer(x, y, speed, holonomic, min_vx, max_vx, max_vy, max_omega, max_alpha, turning_radius, dt):
    """Return the twist (vx, vy, omega) towards the point (x, y) in the robot's frame, no faster than ``speed`` and within the
    limits.

    Holonomic robots move straight to the point and turn to face it. Other robots drive the arc through the point (curvature 2 y /
    d^2), and first turn in place if the point lies behind them. Car-like robots respect their turning radius.
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
    """Return the distance, m, that a disc at (x, y) can move along (cosine, sine) before it touches a cell with a cost of at least
    ``least``.

    The distance is at most ``reach``. Unknown cells have the cost 255. A cell is represented by the disc through its corners.
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


@hidden
def _wall_distance(cost, origin_x, origin_y, resolution, x, y, reach):
    """Return the distance from (x, y) to the centre of the nearest lethal cell, m, at most ``reach``."""
    inverse, least = ONE / resolution, reach * reach
    u, v, cells = (x - origin_x) * inverse, (y - origin_y) * inverse, reach * inverse
    for row in range(max(np.int64(v - cells), 0), min(np.int64(v + cells) + 2, cost.shape[0])):
        for column in range(max(np.int64(u - cells), 0), min(np.int64(u + cells) + 2, cost.shape[1])):
            if cost[row, column] == _LETHAL:
                dx, dy = (np.float32(column) + HALF - u) * resolution, (np.float32(row) + HALF - v) * resolution
                least = min(least, dx * dx + dy * dy)
    return math.sqrt(least)


@hidden
def _free_distance(seen, cosine, sine, radius, reach):
    """Return the distance that a disc can move in a direction before it touches a wall, m, at most ``reach``.

    A disc that touches a wall may move along it, but no closer to it.
    """
    gap = CORNER * HALF * seen[3]
    free = _wall_distance(*seen, radius + gap + _MARGIN) - gap - _MARGIN
    return room_ahead(*seen, cosine, sine, min(radius, max(free, ZERO)), reach, _LETHAL)


@hidden
def _stopping_speed(vx, vy, brake, sine, cosine, seen, radius, dt):
    """Return the maximum speed in the direction of a velocity (vx, vy), in the robot's frame, from which the robot can stop before
    a wall.

    If no wall is near enough, this is the speed of the given velocity. The result is never lower than the speed from which the
    robot stops within one period.
    """
    speed = math.sqrt(vx * vx + vy * vy)
    if seen[0].shape[1] == 0 or speed <= brake * dt:
        return speed
    lag = HALF * speed * dt  # the velocity changes over a period, not at its beginning
    ahead, aside, reach = vx / speed, vy / speed, speed * dt + HALF * speed * speed / brake + lag
    room = _free_distance(seen, cosine * ahead - sine * aside, sine * ahead + cosine * aside, radius, reach)
    return min(speed, max(stopping_speed(room - lag, brake, dt), brake * dt)) if room < reach else speed


@hidden
def _move_sideways(velocity, twist, sine, cosine, seen, radius, limits, dt):
    """Return the twist of a robot that can move sideways: the velocity (forward, left), as fast as its limits and the walls allow.

    If the robot is slower in that direction than straight ahead, it turns to face that direction. Its speed stays low enough to
    stop within its window.

    A robot that has to brake before a wall changes its velocity along a straight line. If each component of the velocity changed as
    fast as possible, the robot might only change direction without slowing down.
    """
    forward, left, error = velocity
    min_vx, max_vx, max_vy, max_ax, max_ay, max_omega, max_alpha = limits
    scale = ONE
    scale = min(scale, max_vx / forward) if forward > max_vx else scale
    scale = min(scale, min_vx / forward) if forward < min_vx else scale
    scale = min(scale, max_vy / abs(left)) if abs(left) > max_vy else scale
    slower = (forward < min_vx and -min_vx < max_vx) or (abs(left) > max_vy and max_vy < max_vx)
    turn = math.copysign(min(max_omega, stopping_speed(abs(error), max_alpha, dt)), error) if slower else ZERO
    brake, forward, left = _BRAKES * min(max_ax, max_ay), scale * forward, scale * left
    speed, now = math.sqrt(forward * forward + left * left), math.sqrt(twist[0] * twist[0] + twist[1] * twist[1])
    allowed = _stopping_speed(forward, left, brake, sine, cosine, seen, radius, dt)
    if seen[0].shape[1] > 0:  # straight ahead, the robot must be able to stop within the area that it sees
        sight = HALF * seen[3] * np.float32(min(seen[0].shape)) - radius - HALF * speed * dt
        allowed = min(allowed, max(stopping_speed(sight, min(max_ax, max_ay), dt), brake * dt))
    if allowed < speed:
        forward, left = forward * allowed / speed, left * allowed / speed
    if _stopping_speed(twist[0], twist[1], brake, sine, cosine, seen, radius, dt) < now:
        dx, dy = forward - twist[0], left - twist[1]
        share = min(ONE, max_ax * dt / max(abs(dx), _TINY), max_ay * dt / max(abs(dy), _TINY))
        forward, left = twist[0] + share * dx, twist[1] + share * dy
    return forward, left, turn


@hidden
def _turn_car(error, turn, speed, sine, cosine, seen, radius, limits, vx, dt):
    """Return the speed and the turning rate of a car that turns towards a velocity, within the free space between walls.

    A car without enough room to turn by ``error`` backs up, steering the other way, until the free space ahead equals its turning
    radius.
    """
    min_vx, max_ax, turning_radius = limits
    need = turning_radius if vx < ZERO else ZERO
    room = _free_distance(seen, cosine, sine, radius, max(speed * dt + HALF * speed * speed / max_ax, need + seen[3]))
    behind = min(-min_vx, speed)
    if room <= need and behind > ZERO and abs(error) * turning_radius > speed * dt:
        back = _free_distance(seen, -cosine, -sine, radius, behind * dt + HALF * behind * behind / max_ax)
        behind = min(behind, stopping_speed(back, max_ax, dt))
        if behind > ZERO:
            return -behind, math.copysign(min(abs(turn), behind / turning_radius), turn)
    speed = min(speed, stopping_speed(room, max_ax, dt))
    return speed, math.copysign(min(abs(turn), speed / turning_radius), turn)


@lean_kernel
def _drive(velocity, pose, twist, radius, limits, touched, window, gain, dt, out, first, last):
    holonomic, min_vx, max_vx, max_vy, max_ax, max_ay, max_omega, max_alpha, turning_radius = limits
    cost, origin, resolution = window
    for i in range(first, last):
        sine, cosine = sincos(pose[i, 2])
        forward = cosine * velocity[i, 0] + sine * velocity[i, 1]
        left = cosine * velocity[i, 1] - sine * velocity[i, 0]
        error = atan2(left, forward)
        seen = (cost[i], origin[i, 0], origin[i, 1], resolution, pose[i, 0], pose[i, 1])
        if holonomic[i] and min_vx[i] < ZERO:
            bounds = (min_vx[i], max_vx[i], max_vy[i], max_ax[i], max_ay[i], max_omega[i], max_alpha[i])
            out[i] = _move_sideways((forward, left, error), twist[i], sine, cosine, seen, radius[i], bounds, dt)
            continue
        wanted = math.sqrt(forward * forward + left * left)
        if wanted < _STILL:
            continue
        if touched[i] and forward <= ZERO:
            back = min(-forward, max(-min_vx[i], ZERO))
            if cost.shape[1] > 0 and back > ZERO:
                room = _free_distance(seen, -cosine, -sine, radius[i], back * dt + HALF * back * back / max_ax[i])
                back = min(back, stopping_speed(room, max_ax[i], dt))
            out[i, 0] = ZERO - back  # never -0.0
            continue
        least = _CRAWL * wanted if turning_radius[i] > ZERO else ZERO
        speed = min(max(forward, least), max_vx[i])
        fastest = min(max_omega[i], speed / turning_radius[i]) if turning_radius[i] > ZERO else max_omega[i]
        turn = math.copysign(min(gain * abs(error), stopping_speed(abs(error), max_alpha[i], dt), fastest), error)
        if cost.shape[1] > 0 and turning_radius[i] > ZERO:
            bounds = (min_vx[i], max_ax[i], turning_radius[i])
            speed, turn = _turn_car(error, turn, speed, sine, cosine, seen, radius[i], bounds, twist[i, 0], dt)
        elif cost.shape[1] > 0 and speed > ZERO:
            reach = speed * dt + HALF * speed * speed / max_ax[i]
            room = room_ahead(*seen, cosine, sine, radius[i], reach, _LETHAL)
            sine, cosine = sincos(pose[i, 2] + HALF * turn * dt)
            room = min(room, room_ahead(*seen, cosine, sine, radius[i], reach, _LETHAL))
            speed = min(speed, stopping_speed(room, max_ax[i], dt))
        out[i, 0], out[i, 2] = speed, turn


def velocity_to_twist(velocity: Floats, observation: Observation, gain: float | None) -> Floats:
    """Convert desired velocities into twists within the robots' limits.

    A holonomic robot moves directly in the desired direction; a velocity beyond its limits is scaled down as a whole, so that its
    direction does not change. It turns to face a direction only if it is slower in that direction than straight ahead.

    Any other robot (including a holonomic robot that cannot reverse) turns with omega = gain * err, where err is the angle from its
    heading to the desired velocity. Its turning rate is low enough to stop turning within err, its speed is |v| max(0, cos err),
    and it stands still if this speed is below 1 mm/s.

    A robot with a turning radius does not turn in place: it drives at no less than 0.3 |v|, along as tight a curve as it can. If
    the desired velocity is built up from the robot's current velocity, as in force models, this can bring the robot almost to a
    stop. If a robot touches a person or a wall and its desired velocity points backwards, it drives straight back, as far as there
    is room.

    If the planner has a local costmap, the speed is limited so that the robot can stop before a wall ahead, because until it
    reaches the desired velocity it moves in a different direction. A robot with a turning radius that has no room to turn backs up,
    steering the other way, until the free space ahead equals its turning radius.

    Args:
        velocity: (N, 2) desired velocities, m/s, in the map frame.
        observation: observation of the N robots, with pose, radius, limits, dt and surroundings.
        gain: turning gain, 1/s; at most 1 / dt is used, so that the heading does not overshoot. None for 1 / dt, the fastest.

    Returns:
        Twists (N, 3).
    """
    out = np.zeros((len(velocity), 3), np.float32)
    m = observation.limits
    bounds = (m.holonomic, m.min_vx, m.max_vx, m.max_vy, m.max_ax, m.max_ay, m.max_omega, m.max_alpha, m.turning_radius)
    slow = np.float32(1.0 / observation.dt if gain is None else min(gain, 1.0 / observation.dt))
    robot = (freeze(observation.pose), freeze(observation.twist), freeze(observation.radius))
    given = (freeze(velocity), *robot, tuple(freeze(bound) for bound in bounds))
    window = window_of(observation.costmap, len(velocity))
    _drive(*given, freeze(_touching_rows(observation)), window, slow, np.float32(observation.dt), out, 0, len(velocity))
    return out


def _touching_rows(o: Observation) -> Bools:
    """Return which robots (N,) with a turning radius touch another body or a lethal cell of the costmap."""
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
