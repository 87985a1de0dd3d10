"""Making way: people who stand alone or in a group step aside for a pedestrian that they block.

A pedestrian that wants to stand (because it waits, talks, or is at its place) steps aside if it blocks the path of another
pedestrian that has been stuck for `WAITS`. It steps to the nearer side of the path, or to the right if it stands in the middle. If
a wall blocks that side, it steps to the other side, or else ahead along the path. A pedestrian that wants to step back but has no
room (`agora.engine.standing_back`) makes the people behind it step aside in the same way. A pedestrian that has stepped aside stops
when the other pedestrian has passed. People who are sitting or working keep their places.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.field import distance_at
from agora.core.jit import hidden, lean_kernel
from agora.core.scalar import HALF, ONE, ZERO
from agora.core.state import SOCIAL_STATES
from agora.engine.progress import AT_PLACE, WAITS
from agora.pedestrians.shared.neighbours import SEES_PEDESTRIANS

_NEAR = np.float32(0.7)  # m, gap between the bodies within which a pedestrian makes way
_PACE = np.float32(0.5)  # m/s
_STEP = np.float32(0.8)  # m, distance that a pedestrian steps aside at a time
_SHARE = np.float32(0.4)  # fraction of the step for which there must be room
_LANE = np.float32(0.15)  # m, margin of a path on each side, beyond the radii of the bodies
_MIDDLE = np.float32(0.01)  # m, distance from the middle of the path within which a pedestrian counts as in the middle
_SITTING, _WORKING = SOCIAL_STATES.index("sitting"), SOCIAL_STATES.index("working")
_TINY = np.float32(1e-6)


@hidden
def _wants_to_stand(people, traits, waypoints, minds, w, i):
    """Return whether pedestrian i wants to stand still, on its feet."""
    if minds.state[w, i] == _SITTING or minds.state[w, i] == _WORKING:
        return False
    dx, dy = waypoints.x[w, i] - people.x[w, i], waypoints.y[w, i] - people.y[w, i]
    return traits.speed[w, i] == ZERO or dx * dx + dy * dy < AT_PLACE * AT_PLACE


@hidden
def _way_of(progress, asks, w, j):
    """Return the direction in which pedestrian j wants to go, which is backwards if it asks the people behind it for room."""
    sign = -ONE if asks[w, j] else ONE
    return sign * progress.ahead_x[w, j], sign * progress.ahead_y[w, j]


@hidden
def _stopped_by(people, traits, progress, asks, w, i):
    """Return the slot of the nearest stuck pedestrian whose path is blocked by pedestrian i; -1 if there is none.

    Of two equally near pedestrians, the one with the smaller id is chosen.
    """
    best, found = _NEAR, -1
    for j in range(traits.count[w]):
        if j == i or not people.active[w, j] or progress.stalled[w, j] < WAITS:
            continue
        dx, dy = people.x[w, i] - people.x[w, j], people.y[w, i] - people.y[w, j]
        bodies = traits.radius[w, i] + traits.radius[w, j]
        apart = math.sqrt(dx * dx + dy * dy) - bodies
        if apart > best + _MIDDLE or (found >= 0 and apart > best - _MIDDLE and traits.id[w, j] > traits.id[w, found]):
            continue
        ux, uy = _way_of(progress, asks, w, j)
        along, across = dx * ux + dy * uy, dx * uy - dy * ux
        if along > -bodies * HALF and abs(across) < bodies + _LANE:
            best, found = min(best, apart), j
    return found


@hidden
def _has_room(maps, m, people, traits, w, i, j, x, y):
    """Return whether pedestrian i can stand at a point without touching walls or people.

    If pedestrian i already touches pedestrian j, for whom it makes way, it may stay in contact but must not come nearer.
    """
    if distance_at(maps, m, x, y) < traits.radius[w, i]:
        return False
    for k in range(traits.count[w]):
        if k == i or not people.active[w, k]:
            continue
        dx, dy, reach = people.x[w, k] - x, people.y[w, k] - y, traits.radius[w, i] + traits.radius[w, k]
        if k == j:
            bx, by = people.x[w, k] - people.x[w, i], people.y[w, k] - people.y[w, i]
            reach = min(reach, math.sqrt(bx * bx + by * by) - _MIDDLE)
        if dx * dx + dy * dy < reach * reach:
            return False
    return True


@lean_kernel
def make_way(sees, maps, people, traits, waypoints, minds, clock, progress, asks, first, last):
    """Make people who stand in another pedestrian's path step aside, by changing their current waypoints and speeds (W, P).

    Args:
        sees: bit field of the bodies that pedestrians see (`agora.interfaces.CrowdRecord`).
        progress: record `agora.engine.progress.Progress`.
        asks: (W, P) whether a pedestrian wants to step back but has no room.
    """
    for w in range(first, last):
        if clock.done[w] or not sees & SEES_PEDESTRIANS or progress.stopped[w] == 0:
            continue
        m = maps.index[w]
        for i in range(traits.count[w]):
            if not people.active[w, i] or not _wants_to_stand(people, traits, waypoints, minds, w, i):
                continue
            j = _stopped_by(people, traits, progress, asks, w, i)
            if j < 0:
                continue
            ux, uy = _way_of(progress, asks, w, j)
            x, y = people.x[w, i], people.y[w, i]
            across = (x - people.x[w, j]) * uy - (y - people.y[w, j]) * ux
            side = _STEP if across > -_MIDDLE else -_STEP
            traits.speed[w, i] = max(traits.speed[w, i], _PACE)
            for ax, ay in ((side * uy, -side * ux), (-side * uy, side * ux), (_STEP * ux, _STEP * uy)):
                waypoints.x[w, i], waypoints.y[w, i] = x + ax, y + ay
                if _has_room(maps, m, people, traits, w, i, j, x + _SHARE * ax, y + _SHARE * ay):
                    break
