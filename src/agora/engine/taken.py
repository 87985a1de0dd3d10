"""Waypoints that are taken: nobody waits for a place on which somebody else stands.

Where a body stands so near to a waypoint that nobody else comes within its tolerance, whoever is a step away from that body goes on
to the next one.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import hidden, lean_kernel
from agora.engine.pedestrian_kernels import next_waypoint
from agora.pedestrians.neighbours import SEES_PEDESTRIANS, SEES_ROBOTS

STANDS = np.float32(0.1)
"""m/s, below which somebody stands."""

ROOM = np.float32(0.2)
"""m, that people leave between bodies."""

_STEP = np.float32(0.5)  # m
_NEAR = np.float32(3.0)  # m, from the waypoint: no body is so large that one is a step away from it farther off


@hidden
def _is_in_the_way(waypoints, w, i, x, y, reach, jx, jy):
    """Whether a body a step ahead, to which nobody comes nearer than ``reach``, m, keeps pedestrian i from its waypoint."""
    k = waypoints.index[w, i]
    dx, dy = jx - waypoints.list_x[w, i, k], jy - waypoints.list_y[w, i, k]
    ax, ay = jx - x, jy - y
    return (
        math.sqrt(dx * dx + dy * dy) + waypoints.tolerance[w, i] < reach
        and ax * ax + ay * ay < (reach + _STEP) * (reach + _STEP)
    )  # fmt: skip


@hidden
def _is_taken(sees, people, traits, waypoints, robots, robot_traits, w, i):
    """Whether somebody whom pedestrian i sees stands on its waypoint."""
    x, y, own = people.x[w, i], people.y[w, i], traits.radius[w, i] + ROOM
    for j in range(traits.count[w] if sees & SEES_PEDESTRIANS else 0):
        vx, vy = people.vx[w, j], people.vy[w, j]
        stands = j != i and people.active[w, j] and vx * vx + vy * vy < STANDS * STANDS
        if stands and _is_in_the_way(waypoints, w, i, x, y, own + traits.radius[w, j], people.x[w, j], people.y[w, j]):
            return True
    for r in range(robots.x.shape[1] if sees & SEES_ROBOTS else 0):
        vx, vy = robots.world_vx[w, r], robots.world_vy[w, r]
        stands = robots.active[w, r] and vx * vx + vy * vy < STANDS * STANDS
        if stands and _is_in_the_way(waypoints, w, i, x, y, own + robot_traits.radius[w, r], robots.x[w, r], robots.y[w, r]):
            return True
    return False


@lean_kernel
def pass_taken(substep, sees, people, traits, waypoints, robots, robot_traits, clock, first, last):
    """Make the next waypoint current where somebody stands on the current one.

    Args:
        substep: the last of the step, from 1.
        sees: bits as for crowd models (`agora.interfaces.CompiledCrowdModel`).
        people: at the end of the step. robots: at its beginning.
    """
    for w in range(first, last):
        if clock.done[w]:
            continue
        for i in range(traits.count[w]):
            k = waypoints.index[w, i]
            if waypoints.count[w, i] < 2 or not people.active[w, i]:
                continue
            dx, dy = waypoints.list_x[w, i, k] - people.x[w, i], waypoints.list_y[w, i, k] - people.y[w, i]
            near = dx * dx + dy * dy < _NEAR * _NEAR
            if near and _is_taken(sees, people, traits, waypoints, robots, robot_traits, w, i):
                next_waypoint(traits, waypoints, clock, w, i, substep)
