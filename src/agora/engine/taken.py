"""Waypoints that are taken: nobody waits for a place on which somebody else stands.

Where a body stands so near to a waypoint that nobody else comes within its tolerance, whoever is a step away from that body goes on
to the next one.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import inlined, lean_inlined, lean_kernel
from agora.core.scalar import TWO, ZERO
from agora.engine.pedestrian_kernels import next_waypoint
from agora.pedestrians.neighbours import SEES_PEDESTRIANS, SEES_ROBOTS, lanes

STANDS = np.float32(0.1)
"""m/s, below which somebody stands."""

ROOM = np.float32(0.2)
"""m, that people leave between bodies."""

_STEP = np.float32(0.5)  # m
_NEAR = np.float32(3.0)  # m, at most, from the waypoint


@inlined
def _is_in_the_way(tx, ty, tolerance, x, y, reach, jx, jy):
    """Return whether a body a step ahead of (x, y) bars the way to (tx, ty); nobody comes nearer to it than ``reach``, m."""
    dx, dy, ax, ay = jx - tx, jy - ty, jx - x, jy - y
    return (math.sqrt(dx * dx + dy * dy) + tolerance < reach) & (ax * ax + ay * ay < (reach + _STEP) * (reach + _STEP))


@lean_inlined
def _is_taken(sees, people, traits, waypoints, robots, robot_traits, w, i):
    """Return whether somebody whom pedestrian i sees stands on its waypoint. (The loop over people vectorises.)"""
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
def _widest(traits, robot_traits, w):
    """Radius of the largest body, m."""
    widest = ZERO
    for i in range(traits.count[w]):
        widest = max(widest, traits.radius[w, i])
    for r in range(robot_traits.radius.shape[1]):
        widest = max(widest, robot_traits.radius[w, r])
    return widest


@lean_kernel
def pass_taken(substep, sees, people, traits, waypoints, robots, robot_traits, clock, first, last):
    """Make the next waypoint current where somebody stands on the current one.

    Args:
        substep: the last substep of the step, from 1.
        sees: bits as for crowd models (`agora.interfaces.CompiledCrowdModel`).
        people: pedestrians at the end of the step.
        robots: robots at its beginning.
    """
    for w in range(first, last):
        if clock.done[w]:
            continue
        widest = _widest(traits, robot_traits, w)
        for i in range(traits.count[w]):
            k = waypoints.index[w, i]
            if waypoints.count[w, i] < 2 or not people.active[w, i]:
                continue
            dx, dy = waypoints.list_x[w, i, k] - people.x[w, i], waypoints.list_y[w, i, k] - people.y[w, i]
            far = min(TWO * (traits.radius[w, i] + ROOM + widest) + _STEP - waypoints.tolerance[w, i], _NEAR)
            if (
                far > ZERO
                and dx * dx + dy * dy < far * far
                and _is_taken(sees, people, traits, waypoints, robots, robot_traits, w, i)
            ):
                next_waypoint(traits, waypoints, clock, w, i, substep)
