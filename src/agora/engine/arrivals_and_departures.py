"""Arrivals and departures: a pedestrian enters the world at its scheduled time, or as soon as there is room, and leaves at its last
waypoint.

A pedestrian that has not entered yet, or has left, is inactive: it is not seen, touched or measured. If the entrance is occupied, a
pedestrian waits outside until there is room. A pedestrian also waits while people near its entrance are stuck. Everyone waits
outside while the place is full. It is full if at least three people, and more than one in 16 of the people inside, are stuck, step
back, or are still near the place where they were blocked (`agora.engine.standing_back`; a person in two of these states counts
twice). A pedestrian also waits if a robot would drive over the entrance within `LOOK` seconds. Pedestrians that enter later are in
later slots, which kernels skip until then.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import hidden, lean_kernel
from agora.core.scalar import ZERO
from agora.core.state import LEAVE
from agora.engine.occupied_waypoints import PATIENCE, ROOM
from agora.engine.progress import STALLED, WAITS

LOOK = np.float32(2.0)
"""Time for which a moving robot must stay clear of the entrance at its current velocity, s."""

_FULL = np.float32(4.0)
"""Distance around the entrance, m: no one enters while a person within this distance is blocked."""

_STUCK = np.float32(2.5)  # s, time without progress after which a pedestrian counts as stuck
_SOME, _SHARE = 3, 16  # minimum number of held-up people, and reciprocal of their minimum share
_OUT = np.float32(0.6)  # m, distance to the last waypoint at which a pedestrian always leaves
_CROWDED = np.float32(1.8)  # m, the same for a pedestrian that others block
_TINY = np.float32(1e-6)


@hidden
def _has_room(after, traits, robots, robot_traits, stalled, w, i):
    """Return whether the entrance of pedestrian i is free, and no robot will drive over it soon."""
    x, y, own = after.x[w, i], after.y[w, i], traits.radius[w, i] + ROOM
    for j in range(traits.count[w]):
        dx, dy, reach = after.x[w, j] - x, after.y[w, j] - y, own + traits.radius[w, j]
        reach = max(reach, _FULL) if stalled[w, j] > STALLED else reach
        if after.active[w, j] and j != i and dx * dx + dy * dy < reach * reach:
            return False
    for r in range(robots.x.shape[1]):
        vx, vy, reach = robots.world_vx[w, r], robots.world_vy[w, r], own + robot_traits.radius[w, r]
        dx, dy = robots.x[w, r] - x, robots.y[w, r] - y
        nearest = min(max(-(dx * vx + dy * vy) / max(vx * vx + vy * vy, _TINY), ZERO), LOOK)  # s, time until the robot is nearest
        dx, dy = dx + nearest * vx, dy + nearest * vy
        if robots.active[w, r] and dx * dx + dy * dy < reach * reach:
            return False
    return True


@hidden
def _is_full(after, traits, stalled, stuck, w):
    """Return whether the place is full, i.e. whether at least `_SOME` people, and more than one in `_SHARE`, are stuck or held up.

    Args:
        stuck: number of people who are held up.
    """
    there = 0
    for i in range(traits.count[w]):
        there += after.active[w, i]
        stuck += after.active[w, i] and stalled[w, i] > _STUCK
    return stuck >= _SOME and _SHARE * stuck > there


@hidden
def _admit(after, traits, waypoints, w, i):
    """Let pedestrian i enter at its preferred speed."""
    dx, dy = waypoints.list_x[w, i, 0] - after.x[w, i], waypoints.list_y[w, i, 0] - after.y[w, i]
    pace = traits.speed[w, i] / max(math.sqrt(dx * dx + dy * dy), _TINY)
    after.vx[w, i], after.vy[w, i] = dx * pace, dy * pace
    after.active[w, i], waypoints.enters[w, i] = True, ZERO


@hidden
def _has_left(after, waypoints, kept_off, stalled, w, i):
    """Return whether pedestrian i is at its exit (the last waypoint of a list at whose end it leaves), or as near to it as walls
    allow.
    """
    last = waypoints.count[w, i] - 1
    if waypoints.mode[w, i] != LEAVE or waypoints.index[w, i] < last:
        return False
    dx, dy = waypoints.list_x[w, i, last] - after.x[w, i], waypoints.list_y[w, i, last] - after.y[w, i]
    reach = max(waypoints.tolerance[w, i], _CROWDED if stalled[w, i] > WAITS else _OUT)
    return dx * dx + dy * dy <= reach * reach or kept_off[w, i] > PATIENCE


@lean_kernel
def enter_and_leave(
    dt, visits, now, after, traits, waypoints, robots, robot_traits, clock, kept_off, progress, waiting, first, last
):
    """Let pedestrians of worlds ``first <= w < last`` enter and leave at the end of a physics step.

    Args:
        dt: physics step, s.
        visits: (W,) whether any pedestrian enters or leaves the world.
        now: pedestrians at the beginning of the step.
        after: pedestrians at the end of the step.
        robots: robots at the beginning of the step.
        kept_off: (W, P) time for which walls have kept a pedestrian away from its waypoint, s (`agora.engine.occupied_waypoints`).
        progress: record `agora.engine.progress.Progress`.
        waiting: (W,) number of people who step back or are still blocked.
    """
    for w in range(first, last):
        if clock.done[w] or not visits[w]:
            continue
        time = np.float32(clock.step[w] + 1) * dt
        count = traits.count[w]
        while count < after.x.shape[1] and ZERO < waypoints.enters[w, count] <= time:
            count += 1
        traits.count[w] = count
        full = _is_full(after, traits, progress.stalled, waiting[w], w)
        for i in range(traits.count[w]):
            if after.active[w, i]:
                if _has_left(after, waypoints, kept_off, progress.stalled, w, i):
                    after.active[w, i], after.vx[w, i], after.vy[w, i] = False, ZERO, ZERO
            elif waypoints.enters[w, i] > ZERO:
                after.x[w, i], after.y[w, i] = now.x[w, i], now.y[w, i]
                after.vx[w, i], after.vy[w, i], after.heading[w, i] = ZERO, ZERO, now.heading[w, i]
                waits = full or time < waypoints.enters[w, i]
                if not waits and _has_room(after, traits, robots, robot_traits, progress.stalled, w, i):
                    _admit(after, traits, waypoints, w, i)
