"""Giving way: pedestrians let each other pass in narrow places.

If two people cannot pass each other in a narrow place, the one who is nearer to the place goes first, and the other waits in front
of it, a step to the side. If two people meet inside the narrow place, the one with the larger id steps back. This module reads and
writes `agora.engine.routes.Routes`.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.field import clearance_at, distance_at
from agora.core.jit import hidden
from agora.core.scalar import HALF, ONE, TWO, ZERO

REACHED = np.float32(0.3)
"""Distance to the next point on the path at which the point counts as reached, m."""

_DOUBLE = np.float32(2.1)  # clearance, in radii, below which two people cannot pass each other
_SHARE = np.float32(0.98)
_AHEAD = np.float32(2.4)  # m, distance ahead that is searched for narrow places
_STRIDE = np.float32(0.3)  # m, distance between two samples on the path
_CELLS = np.float32(2.0)  # more than the error of the distance field between the centres of cells
_ROOM = np.float32(1.2)  # m, distance from a narrow place that is left free for people coming out of it
_OPPOSED = np.float32(-0.2)  # cosine of the angle between opposed directions
_LANE = np.float32(1.0)  # m, to the side of the path
_FAR = np.float32(6.0)  # m, distance up to which a person in a narrow place is seen
_EQUAL = np.float32(0.01)  # m, tolerance for two equally near people
_SQUEEZED = np.float32(0.95)  # fraction of the radius that a person needs next to a body
_STANDS = np.float32(0.15)  # m/s, speed below which a robot counts as standing
_INSIDE = np.float32(0.8)  # m, distance from the narrow place within which a person is in it
_IMPATIENCE = np.float32(1.0)  # m/s, distance by which a pedestrian counts as nearer, per second of being stuck beyond `_LONG`
_LONG = np.float32(3.0)  # s
_TINY = np.float32(1e-6)


@hidden
def gap(ax, ay, bx, by):
    """Return the distance between two points."""
    dx, dy = bx - ax, by - ay
    return math.sqrt(dx * dx + dy * dy)


@hidden
def _is_narrow(maps, m, x, y, ux, uy, radius):
    """Return whether a person at (x, y) who walks in direction (ux, uy) leaves no room for another person on the left, on the
    right, or on the side away from the wall.
    """
    double = _DOUBLE * radius
    free, nx, ny = clearance_at(maps, m, x, y)
    if free >= double:
        return False
    aside, enough = double - free, _SHARE * double
    return (
        distance_at(maps, m, x - aside * uy, y + aside * ux) < enough
        and distance_at(maps, m, x + aside * uy, y - aside * ux) < enough
        and distance_at(maps, m, x + aside * nx, y + aside * ny) < enough
    )


@hidden
def _find_narrow_place(maps, m, routes, w, i, x, y, radius):
    """Record the first place on the path where two people cannot pass each other."""
    length = gap(x, y, routes.x[w, i], routes.y[w, i])
    ux, uy = (routes.x[w, i] - x) / max(length, _TINY), (routes.y[w, i] - y) / max(length, _TINY)
    t, wide = ZERO, ZERO
    routes.narrow[w, i] = False
    while t < min(length, _AHEAD):
        if wide <= ZERO:
            px, py = x + t * ux, y + t * uy
            wide = distance_at(maps, m, px, py) - _DOUBLE * radius
            if wide < ZERO and _is_narrow(maps, m, px, py, ux, uy, radius):
                routes.narrow[w, i], routes.narrow_x[w, i], routes.narrow_y[w, i] = True, px, py
                return
            wide -= _CELLS * maps.resolution[m]
        t += _STRIDE
        wide -= _STRIDE


@hidden
def _leaves_one_lane(maps, m, x, y, ux, uy, body, radius):
    """Return whether a body at (x, y), for people walking in direction (ux, uy), leaves room for at most one person next to it."""
    lanes = 0
    for side in (ONE, -ONE):
        nx, ny = -side * uy, side * ux
        for count in (ONE, TWO):
            off = body + count * radius
            lanes += distance_at(maps, m, x + off * nx, y + off * ny) >= _SQUEEZED * count * radius
    return lanes <= 1


@hidden
def _find_standing_robot(maps, m, robots, robot_traits, routes, w, i, x, y, radius):
    """Record the nearest stationary robot on the path that leaves no room for two people, unless a narrow place is nearer."""
    length = gap(x, y, routes.x[w, i], routes.y[w, i])
    ux, uy = (routes.x[w, i] - x) / max(length, _TINY), (routes.y[w, i] - y) / max(length, _TINY)
    nearest = gap(x, y, routes.narrow_x[w, i], routes.narrow_y[w, i]) if routes.narrow[w, i] else _AHEAD
    for r in range(robots.x.shape[1]):
        px, py, vx, vy = robots.x[w, r], robots.y[w, r], robots.world_vx[w, r], robots.world_vy[w, r]
        along, across = (px - x) * ux + (py - y) * uy, (py - y) * ux - (px - x) * uy
        stands = robots.active[w, r] and vx * vx + vy * vy < _STANDS * _STANDS
        if not stands or along <= ZERO or along >= min(nearest, length + _ROOM) or abs(across) > _ROOM:
            continue
        if _leaves_one_lane(maps, m, px, py, ux, uy, robot_traits.radius[w, r], radius):
            nearest = along
            routes.narrow[w, i], routes.narrow_x[w, i], routes.narrow_y[w, i] = True, px, py


@hidden
def _is_robot(robots, w, x, y):
    """Return whether a robot stands at a point."""
    for r in range(robots.x.shape[1]):  # noqa: SIM110 - a kernel
        if robots.active[w, r] and robots.x[w, r] == x and robots.y[w, r] == y:
            return True
    return False


@hidden
def _find_oncoming(people, traits, routes, maps, m, w, i, ux, uy):
    """Return the slot of the pedestrian that pedestrian i, walking in direction (ux, uy), meets in a narrow place and steps back
    for; -1 if there is none.

    The pedestrian with the smaller id goes first.
    """
    x, y = people.x[w, i], people.y[w, i]
    for j in range(traits.count[w]):
        dx, dy = people.x[w, j] - x, people.y[w, j] - y
        if j == i or not people.active[w, j] or dx * dx + dy * dy > _ROOM * _ROOM or dx * ux + dy * uy <= ZERO:
            continue
        vx, vy = routes.route_x[w, j] - people.x[w, j], routes.route_y[w, j] - people.y[w, j]
        speed = max(math.sqrt(vx * vx + vy * vy), _TINY)
        if routes.roads[w, j] < 0 or vx * ux + vy * uy >= _OPPOSED * speed or traits.id[w, j] > traits.id[w, i]:
            continue
        if traits.speed[w, j] == ZERO:  # it stays there and does not want to pass
            continue
        if _is_narrow(maps, m, people.x[w, j], people.y[w, j], vx / speed, vy / speed, traits.radius[w, j]):
            return j
    return -1


@hidden
def _must_wait(people, traits, routes, robots, sees_robots, rounds, progress, maps, m, w, i, ux, uy):
    """Return whether an oncoming person may go first through the narrow place ahead of pedestrian i, who walks in direction (ux,
    uy).

    A pedestrian that has been stuck for some time counts as nearer. People who want to stand are ignored if pedestrian i walks
    around stationary bodies.
    """
    x, y, nx, ny = people.x[w, i], people.y[w, i], routes.narrow_x[w, i], routes.narrow_y[w, i]
    aware, near = progress.aware[w, i] > ZERO, gap(x, y, nx, ny)
    beside = rounds and _is_robot(robots, w, nx, ny)
    mine = near - _IMPATIENCE * max(progress.stalled[w, i] - _LONG, ZERO)
    for j in range(traits.count[w]):
        if j == i or not people.active[w, j] or (aware and traits.speed[w, j] == ZERO):
            continue
        px, py = people.x[w, j], people.y[w, j]
        along, across = (px - x) * ux + (py - y) * uy, (py - y) * ux - (px - x) * uy
        if along <= ZERO or along > _FAR or abs(across) > _LANE:
            continue
        vx, vy = routes.route_x[w, j] - px, routes.route_y[w, j] - py
        if routes.roads[w, j] < 0:
            vx, vy = people.vx[w, j], people.vy[w, j]
        speed = math.sqrt(vx * vx + vy * vy)
        if speed < _TINY or (vx * ux + vy * uy) > _OPPOSED * speed:
            continue
        inside = beside and gap(px, py, nx, ny) < _INSIDE <= near
        if inside or _is_narrow(maps, m, px, py, vx / speed, vy / speed, traits.radius[w, j]):
            return True
        theirs = gap(px, py, nx, ny) - _IMPATIENCE * max(progress.stalled[w, j] - _LONG, ZERO)
        same = routes.narrow[w, j] and gap(routes.narrow_x[w, j], routes.narrow_y[w, j], nx, ny) < _LANE
        if same and theirs < mine + (_EQUAL if traits.id[w, j] < traits.id[w, i] else -_EQUAL):
            return True
    if sees_robots:
        for r in range(robots.x.shape[1]):
            meets = robots.active[w, r] and gap(robots.x[w, r], robots.y[w, r], nx, ny) < min(_ROOM, near)
            if meets and robots.world_vx[w, r] * ux + robots.world_vy[w, r] * uy < ZERO:
                return True
    return False


@hidden
def look_ahead(maps, people, traits, robots, robot_traits, sees_robots, rounds, progress, routes, m, w, i):
    """Record whether there is a narrow place on the path of pedestrian i, and whether the pedestrian must wait in front of it."""
    x, y, radius = people.x[w, i], people.y[w, i], traits.radius[w, i]
    routes.waits[w, i] = False
    _find_narrow_place(maps, m, routes, w, i, x, y, radius)
    if rounds and sees_robots:
        _find_standing_robot(maps, m, robots, robot_traits, routes, w, i, x, y, radius)
    if not routes.narrow[w, i]:
        return
    away = gap(x, y, routes.x[w, i], routes.y[w, i])
    ux, uy = (routes.x[w, i] - x) / max(away, _TINY), (routes.y[w, i] - y) / max(away, _TINY)
    if away <= REACHED:
        return
    if _is_narrow(maps, m, x, y, ux, uy, radius):
        j = _find_oncoming(people, traits, routes, maps, m, w, i, ux, uy)
        if j >= 0:
            routes.waits[w, i] = True
            routes.narrow_x[w, i], routes.narrow_y[w, i] = people.x[w, j], people.y[w, j]
    else:
        routes.waits[w, i] = _must_wait(people, traits, routes, robots, sees_robots, rounds, progress, maps, m, w, i, ux, uy)


@hidden
def waiting_place(routes, w, i, x, y):
    """Return the point at which pedestrian i waits: at a distance from the narrow place, or from the person that it meets there,
    and a step to the side.
    """
    bx, by = x - routes.narrow_x[w, i], y - routes.narrow_y[w, i]
    mine = max(math.sqrt(bx * bx + by * by), _TINY)
    back = max(_ROOM - mine, ZERO) / mine
    return x + back * (bx - HALF * by), y + back * (by + HALF * bx)
