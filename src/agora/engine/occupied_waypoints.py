"""Unreachable waypoints: no one waits endlessly for a waypoint that another body occupies, or that is too close to a wall to be
reached.

If a body stands so near to a waypoint that no one else can come within the waypoint's tolerance, a pedestrian that is one step away
from the body continues to the next waypoint.

Most crowd models keep people some distance away from walls. Pedestrians come to rest in front of a waypoint near a wall, in
particular in a corner, and would wait there endlessly. A pedestrian that has stood near such a waypoint for a while continues to
the next one, or leaves if the waypoint is its exit. A pedestrian that has given up its waypoint (`agora.engine.progress`,
`agora.engine.standing_back`) continues to the next one. If the waypoint was its exit, the pedestrian takes another exit that lies
behind it.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.field import distance_at
from agora.core.jit import hidden, inlined, lean_inlined, lean_kernel
from agora.core.scalar import TWO, ZERO
from agora.core.state import LEAVE
from agora.engine.pedestrian_kernels import next_waypoint
from agora.pedestrians.shared.neighbours import SEES_PEDESTRIANS, SEES_ROBOTS, lanes

STANDS = np.float32(0.1)
"""Speed below which a person counts as stationary, m/s."""

ROOM = np.float32(0.2)
"""Gap that people leave between bodies, m."""

PATIENCE = np.float32(4.0)
"""Time for which a pedestrian stands near a waypoint at a wall before the waypoint counts as reached, s."""

_OTHER = np.float32(2.0)  # m, minimum distance to the other exit that a pedestrian takes
_EQUAL = np.float32(1e-3)  # m, tolerance for equal distances to exits
_INFINITE = np.float32(np.inf)
_STEP = np.float32(0.5)  # m
_NEAR = np.float32(3.0)  # m, maximum distance from the waypoint


@inlined
def _is_in_the_way(tx, ty, tolerance, x, y, reach, jx, jy):
    """Return whether a body at (jx, jy), one step away from (x, y), keeps people from coming within ``tolerance`` of (tx, ty),
    given that no one comes nearer to the body than ``reach`` metres.
    """
    dx, dy, ax, ay = jx - tx, jy - ty, jx - x, jy - y
    return (math.sqrt(dx * dx + dy * dy) + tolerance < reach) & (ax * ax + ay * ay < (reach + _STEP) * (reach + _STEP))


@lean_inlined
def _is_occupied(sees, people, traits, waypoints, robots, robot_traits, w, i):
    """Return whether a body that pedestrian i sees occupies its waypoint. (The loop over people vectorises.)"""
    k = waypoints.index[w, i]
    tx, ty, tolerance = waypoints.list_x[w, i, k], waypoints.list_y[w, i, k], waypoints.tolerance[w, i]
    x, y, vx, vy, radius, active = people.x[w], people.y[w], people.vx[w], people.vy[w], traits.radius[w], people.active[w]
    xi, yi, own, taken = x[i], y[i], radius[i] + ROOM, np.int32(0)
    for j in range(lanes(traits.count[w]) if sees & SEES_PEDESTRIANS else 0):
        stands = (j != i) & active[j] & (vx[j] * vx[j] + vy[j] * vy[j] < STANDS * STANDS)
        taken = np.int32(taken + np.int32(stands & _is_in_the_way(tx, ty, tolerance, xi, yi, own + radius[j], x[j], y[j])))
    for r in range(robots.x.shape[1] if sees & SEES_ROBOTS else 0):
        ux, uy = robots.world_vx[w, r], robots.world_vy[w, r]
        stands = robots.active[w, r] and ux * ux + uy * uy < STANDS * STANDS
        reach = own + robot_traits.radius[w, r]
        if stands and _is_in_the_way(tx, ty, tolerance, xi, yi, reach, robots.x[w, r], robots.y[w, r]):
            return True
    return taken > 0


@lean_inlined
def largest_radius(traits, robot_traits, w):
    """Return the radius of the largest body, m."""
    widest = ZERO
    for i in range(traits.count[w]):
        widest = max(widest, traits.radius[w, i])
    for r in range(robot_traits.radius.shape[1]):
        widest = max(widest, robot_traits.radius[w, r])
    return widest


@hidden
def _is_kept_off(maps, people, traits, waypoints, w, i):
    """Return whether pedestrian i stands in front of its waypoint because the waypoint is too close to a wall."""
    k = waypoints.index[w, i]
    tx, ty, room = waypoints.list_x[w, i, k], waypoints.list_y[w, i, k], traits.radius[w, i] + ROOM
    if waypoints.x[w, i] != tx or waypoints.y[w, i] != ty or not traits.speed[w, i] > ZERO:
        return False
    vx, vy, dx, dy = people.vx[w, i], people.vy[w, i], tx - people.x[w, i], ty - people.y[w, i]
    reach = waypoints.tolerance[w, i] + TWO * room
    if vx * vx + vy * vy >= STANDS * STANDS or dx * dx + dy * dy > reach * reach:
        return False
    return distance_at(maps, maps.index[w], tx, ty) < room


@hidden
def _turn_back(people, traits, waypoints, progress, w, i):
    """Give pedestrian i, who cannot reach its exit, the nearest exit behind it that another pedestrian uses.

    If the distances to two exits differ by less than the tolerance, the exit of the pedestrian with the smaller id is chosen.
    Without such an exit, nothing changes.
    """
    x, y, last = people.x[w, i], people.y[w, i], waypoints.count[w, i] - 1
    nearest, found = _INFINITE, -1
    for j in range(traits.count[w]):
        k = waypoints.count[w, j] - 1
        if waypoints.mode[w, j] != LEAVE or k < 0:
            continue
        dx, dy = waypoints.list_x[w, j, k] - x, waypoints.list_y[w, j, k] - y
        away = math.sqrt(dx * dx + dy * dy)
        if away < _OTHER or dx * progress.ahead_x[w, i] + dy * progress.ahead_y[w, i] >= ZERO:
            continue
        if away < nearest - _EQUAL or (away < nearest + _EQUAL and traits.id[w, j] < traits.id[w, found]):
            nearest, found = away, j
    if found >= 0:
        k = waypoints.count[w, found] - 1
        waypoints.list_x[w, i, last], waypoints.list_y[w, i, last] = waypoints.list_x[w, found, k], waypoints.list_y[w, found, k]


@lean_kernel
def pass_occupied(
    dt, substep, sees, maps, people, traits, waypoints, robots, robot_traits, clock, kept_off, progress, first, last
):  # fmt: skip
    """Make the next waypoint the current one if another body occupies the current waypoint, or if walls keep a pedestrian away from
    it.

    Args:
        dt: physics step, s.
        substep: number of the last substep of the step, counted from 1.
        sees: bit field of the bodies that pedestrians see (`agora.interfaces.CrowdRecord`).
        people: pedestrians at the end of the step.
        robots: robots at the beginning of the step.
        kept_off: (W, P) time for which walls have kept a pedestrian away from its waypoint, s.
        progress: record `agora.engine.progress.Progress`, whose fields ``stalled`` and ``hopeless`` are written.
    """
    for w in range(first, last):
        if clock.done[w]:
            continue
        widest = largest_radius(traits, robot_traits, w)
        for i in range(traits.count[w]):
            k = waypoints.index[w, i]
            if waypoints.count[w, i] < 1 or not people.active[w, i]:
                continue
            kept_off[w, i] = kept_off[w, i] + dt if _is_kept_off(maps, people, traits, waypoints, w, i) else ZERO
            leaves = waypoints.mode[w, i] == LEAVE and k == waypoints.count[w, i] - 1
            hopeless, progress.hopeless[w, i] = progress.hopeless[w, i], False
            if leaves and hopeless:
                progress.stalled[w, i] = ZERO
                _turn_back(people, traits, waypoints, progress, w, i)
            if waypoints.count[w, i] < 2:
                continue
            gives_up = kept_off[w, i] > PATIENCE or hopeless
            if gives_up and k < waypoints.count[w, i] - (waypoints.mode[w, i] == LEAVE):
                kept_off[w, i], progress.stalled[w, i] = ZERO, ZERO
                next_waypoint(traits, waypoints, clock, w, i, substep)
                continue
            dx, dy = waypoints.list_x[w, i, k] - people.x[w, i], waypoints.list_y[w, i, k] - people.y[w, i]
            far = min(TWO * (traits.radius[w, i] + ROOM + widest) + _STEP - waypoints.tolerance[w, i], _NEAR)
            if (
                far > ZERO
                and dx * dx + dy * dy < far * far
                and _is_occupied(sees, people, traits, waypoints, robots, robot_traits, w, i)
            ):
                next_waypoint(traits, waypoints, clock, w, i, substep)
