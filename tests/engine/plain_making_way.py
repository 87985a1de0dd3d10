"""Plain twins of the kernels that note progress and have people make way: one pedestrian after the other, in double precision."""

from __future__ import annotations

import numpy as np
from tests.pedestrians.twins import clearance

STANDING = 0.8, 0.4, 0.5  # m of a step, share of it that must be free, m/s


def progress_after(before, h, at, speed, active, left):
    """Return the place from which a pedestrian must move away, the time without progress, and the time for which it is aware of
    bodies, after ``h`` seconds.

    Args:
        before: the same four numbers before: x, y, stalled, aware.
    """
    x, y, stalled, aware = before
    if speed <= 0.0 or left <= 0.6 or not active:
        return (*at, 0.0, 0.0)
    if np.hypot(at[0] - x, at[1] - y) > 0.4 * min(speed, 1.0):
        x, y, stalled = *at, 0.0
    else:
        stalled += h
    return x, y, stalled, 6.0 if stalled > 1.5 else max(aware - h, 0.0)


def _across(off, ahead):
    return off[0] * ahead[1] - off[1] * ahead[0]


def ways_made(crowd, progress, asking, standing, w):
    """Return the points and speeds, by pedestrian, of people of world w who make way.

    Args:
        asking: (W, P) whether a pedestrian asks the people behind it.
        standing: (P,) whether a pedestrian stands on its feet.
    """
    people, traits, found = crowd.pedestrians, crowd.traits, {}
    places = np.stack([people.x[w], people.y[w]], -1).astype(float)
    ahead = np.stack([progress.ahead_x[w], progress.ahead_y[w]], -1).astype(float)
    ahead[asking[w]] *= -1.0
    there = [i for i in range(traits.count[w]) if people.active[w, i]]
    for i in there:
        if not standing[i]:
            continue
        near, asks = 0.7, None
        for j in there:
            bodies = float(traits.radius[w, i] + traits.radius[w, j])
            off = places[i] - places[j]
            apart = np.hypot(*off) - bodies
            later = asks is not None and apart > near - 0.01 and traits.id[w, j] > traits.id[w, asks]
            if j == i or progress.stalled[w, j] < 1.5 or apart > near + 0.01 or later:
                continue
            if off @ ahead[j] > -0.5 * bodies and abs(_across(off, ahead[j])) < bodies + 0.15:
                near, asks = min(near, apart), j
        if asks is None:
            continue
        j, (ux, uy), across = asks, ahead[asks], _across(places[i] - places[asks], ahead[asks])
        step, share, pace = STANDING
        side = step if across > -0.01 else -step
        for ax, ay in ((side * uy, -side * ux), (-side * uy, side * ux), (step * ux, step * uy)):
            point = places[i] + share * np.array([ax, ay])
            others = [k for k in there if k != i]
            reach = {k: float(traits.radius[w, i] + traits.radius[w, k]) for k in others}
            reach[j] = min(reach[j], np.hypot(*(places[j] - places[i])) - 0.01)
            apart = [np.hypot(*(places[k] - point)) >= reach[k] for k in others]
            if all(apart) and clearance(crowd.maps, crowd.maps.index[w], *point)[0] >= traits.radius[w, i]:
                break
        found[i] = (*(places[i] + (ax, ay)), max(float(traits.speed[w, i]), pace))
    return found
