"""With every crowd model, pedestrians that stay at a place stand still there until someone pushes them.

With models that slow pedestrians down before the last waypoint, pedestrians come to rest by themselves, and this module has no
effect. With other models, pedestrians overshoot and turn back endlessly, creep around, or press against a person who is already
standing at the place. If a pedestrian has been moving around its place for a while and no one is approaching, this module brings it
to rest. It stays at rest until someone with another destination approaches; then the crowd model moves it again.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import hidden, lean_inlined, lean_kernel
from agora.core.scalar import ONE, ZERO
from agora.core.state import STAY
from agora.engine.occupied_waypoints import ROOM, STANDS, largest_radius
from agora.pedestrians.shared.neighbours import SEES_PEDESTRIANS, SEES_ROBOTS, lanes

_STILL = np.float32(0.05)  # m/s, speed below which a pedestrian counts as at rest
_PATIENCE = np.float32(4.0)  # s of moving around the place; a pedestrian that slows down comes to rest within three seconds
_CALM = np.float32(0.5)  # fraction of that time that counts if a pedestrian creeps no faster than `_STILL`
_BRAKE = np.float32(3.0)  # m/s2
_SOON = np.float32(5.0)  # s, horizon within which an approaching person counts as pushing
_NEAR = np.float32(0.4)  # m, distance between the bodies that counts as near
_STEP = np.float32(0.5)  # m, distance between the bodies at which another person blocks the place
_FOR_GOOD = np.float32(np.inf)
_TINY = np.float32(1e-6)


@hidden
def _is_staying(waypoints, w, i):
    """Return whether pedestrian i is at, or walking to, a place where it will stay, and no behaviour leads it elsewhere."""
    k = waypoints.index[w, i]
    led = waypoints.x[w, i] != waypoints.list_x[w, i, k] or waypoints.y[w, i] != waypoints.list_y[w, i, k]
    return waypoints.mode[w, i] == STAY and k >= waypoints.count[w, i] - 1 and not led


@hidden
def _is_within(people, waypoints, w, i, reach):
    """Return whether pedestrian i is within ``reach`` metres of its waypoint."""
    dx, dy = waypoints.x[w, i] - people.x[w, i], waypoints.y[w, i] - people.y[w, i]
    return dx * dx + dy * dy <= reach * reach


@hidden
def _has_settled(people, traits, waypoints, w, i):
    """Return whether pedestrian i is at, or next to, the place where it stays."""
    beside = waypoints.tolerance[w, i] + traits.radius[w, i] + traits.radius[w, i]
    return _is_staying(waypoints, w, i) and _is_within(people, waypoints, w, i, beside)


@hidden
def _shares_place(waypoints, w, i, j, reach):
    """Return whether pedestrian j stays at the same place as pedestrian i, or within ``reach`` metres of that place."""
    dx, dy = waypoints.x[w, j] - waypoints.x[w, i], waypoints.y[w, j] - waypoints.y[w, i]
    return _is_staying(waypoints, w, j) and dx * dx + dy * dy <= reach * reach


@lean_inlined
def _is_anyone_near(people, traits, w, i):
    """Return whether another pedestrian's body is within `_STEP` metres of that of pedestrian i. (The loop vectorises.)"""
    x, y, radius, active, near = people.x[w], people.y[w], traits.radius[w], people.active[w], np.int32(0)
    xi, yi, own = x[i], y[i], radius[i]
    for j in range(lanes(traits.count[w])):
        dx, dy, reach = x[j] - xi, y[j] - yi, own + radius[j] + ROOM - ROOM + _STEP  # rounded as in `_is_there`
        near = np.int32(near + np.int32((j != i) & active[j] & (dx * dx + dy * dy < reach * reach)))
    return near > 0


@hidden
def _is_there(sees, people, traits, waypoints, robots, robot_traits, restless, widest, someone_stays, w, i):
    """Return whether pedestrian i is at the place where it stays, or as near to that place as other people allow.

    ``widest`` is the radius of the largest body, m. ``someone_stays`` is False if no pedestrian has been brought to rest: then only
    a body at the place itself counts.
    """
    if not _is_staying(waypoints, w, i):
        return False
    tolerance, own = waypoints.tolerance[w, i], traits.radius[w, i]
    if _is_within(people, waypoints, w, i, tolerance):
        return True
    if not someone_stays and not _is_within(people, waypoints, w, i, tolerance + (own + widest + ROOM)):
        return False
    x, y = people.x[w, i], people.y[w, i]
    others = sees & SEES_PEDESTRIANS and _is_anyone_near(people, traits, w, i)
    for j in range(traits.count[w] if others else 0):
        px, py, bodies = people.x[w, j] - x, people.y[w, j] - y, own + traits.radius[w, j] + ROOM
        reach = bodies - ROOM + _STEP
        if j != i and people.active[w, j] and px * px + py * py < reach * reach:
            if restless[w, j] == _FOR_GOOD and _shares_place(waypoints, w, i, j, bodies):
                return True
            stands = people.vx[w, j] * people.vx[w, j] + people.vy[w, j] * people.vy[w, j] < STANDS * STANDS
            if (stands or _has_settled(people, traits, waypoints, w, j)) and _is_within(
                people, waypoints, w, i, tolerance + bodies
            ):
                return True
    for r in range(robots.x.shape[1] if sees & SEES_ROBOTS else 0):
        px, py, bodies = robots.x[w, r] - x, robots.y[w, r] - y, own + robot_traits.radius[w, r] + ROOM
        reach = bodies - ROOM + _STEP
        if robots.active[w, r] and px * px + py * py < reach * reach:
            vx, vy = robots.world_vx[w, r], robots.world_vy[w, r]
            if vx * vx + vy * vy < STANDS * STANDS and _is_within(people, waypoints, w, i, tolerance + bodies):
                return True
    return False


@hidden
def _is_approaching(px, py, vx, vy, bodies):
    """Return whether a moving body will soon come near a stationary one; (px, py) is its position relative to the stationary body,
    m, and (vx, vy) its velocity, m/s.
    """
    speed2 = vx * vx + vy * vy
    if speed2 < STANDS * STANDS:
        return False
    t = min(max(-(px * vx + py * vy) / speed2, ZERO), _SOON)
    nx, ny, near = px + t * vx, py + t * vy, bodies + _NEAR
    return nx * nx + ny * ny < near * near


@hidden
def _is_pushed(sees, people, traits, waypoints, robots, robot_traits, w, i):
    """Return whether a visible person with another destination is approaching pedestrian i."""
    x, y, own = people.x[w, i], people.y[w, i], traits.radius[w, i]
    for j in range(traits.count[w] if sees & SEES_PEDESTRIANS else 0):
        if j == i or not people.active[w, j]:
            continue
        px, py, bodies = people.x[w, j] - x, people.y[w, j] - y, own + traits.radius[w, j]
        if not _is_approaching(px, py, people.vx[w, j], people.vy[w, j], bodies):  # checked first: it is the cheapest check
            continue
        if not _has_settled(people, traits, waypoints, w, j) and not _shares_place(waypoints, w, i, j, bodies + ROOM):
            return True
    for r in range(robots.x.shape[1] if sees & SEES_ROBOTS else 0):
        if robots.active[w, r]:
            px, py, bodies = robots.x[w, r] - x, robots.y[w, r] - y, own + robot_traits.radius[w, r]
            if _is_approaching(px, py, robots.world_vx[w, r], robots.world_vy[w, r], bodies):
                return True
    return False


@lean_kernel
def stop_arrived(
    dt, substeps, sees, people, traits, waypoints, replay, robots, robot_traits, clock, forced, restless, out_x, out_y, first, last
):  # fmt: skip
    """Bring arrived pedestrians that keep moving around their places to rest, by changing the chosen velocities (W, P).

    Args:
        dt: physics step, s.
        substeps: number of equal parts of the step.
        sees: bit field of the bodies that pedestrians see (`agora.interfaces.CrowdRecord`).
        people: pedestrians at the beginning of the substep.
        robots: robots at the beginning of the step.
        forced: (W, P) nonzero if an external force acts on the pedestrian (`agora.world.records.Fed`).
        restless: (W, P) time for which a pedestrian has moved around its place, s; infinite once it has been brought to rest.
    """
    h = dt / np.float32(substeps)
    for w in range(first, last):
        if clock.done[w]:
            continue
        widest, someone_stays = largest_radius(traits, robot_traits, w), False
        for i in range(traits.count[w]):
            someone_stays |= restless[w, i] == _FOR_GOOD
        for i in range(traits.count[w]):
            vx, vy = out_x[w, i], out_y[w, i]
            stands = restless[w, i] == _FOR_GOOD
            speed2 = vx * vx + vy * vy
            if not people.active[w, i] or not (stands or speed2 > ZERO):
                continue
            if replay.last[w, i] >= replay.first[w, i]:
                continue
            there = forced[w, i] == 0 and _is_there(
                sees, people, traits, waypoints, robots, robot_traits, restless, widest, someone_stays, w, i
            )
            if there and _is_pushed(sees, people, traits, waypoints, robots, robot_traits, w, i):
                restless[w, i] = ZERO
                continue
            if not there:
                restless[w, i] = ZERO if stands else max(restless[w, i] - h, ZERO)
                continue
            restless[w, i] += h if speed2 > _STILL * _STILL else _CALM * h
            if restless[w, i] > _PATIENCE:
                restless[w, i], someone_stays = _FOR_GOOD, True
                ux, uy = people.vx[w, i], people.vy[w, i]
                speed = math.sqrt(ux * ux + uy * uy + _TINY * _TINY)
                share = max(ONE - _BRAKE * h / speed, ZERO)
                out_x[w, i], out_y[w, i] = share * ux, share * uy
