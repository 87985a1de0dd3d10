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


def ways_made(crowd, progress, standing, w):
    """Return the points and speeds, by pedestrian, of people of world w who make way.

    Args:
        standing: (P,) whether a pedestrian stands on its feet.
    """
    people, traits, found = crowd.pedestrians, crowd.traits, {}
    places = np.stack([people.x[w], people.y[w]], -1).astype(float)
    there = [i for i in range(traits.count[w]) if people.active[w, i]]
    for i in there:
        asking = []
        for j in there:
            bodies = float(traits.radius[w, i] + traits.radius[w, j])
            ahead = np.array([progress.ahead_x[w, j], progress.ahead_y[w, j]], float)
            off = places[i] - places[j]
            along, across = off @ ahead, off[0] * ahead[1] - off[1] * ahead[0]
            stuck = j != i and progress.stalled[w, j] >= 2.5 and np.hypot(*off) - bodies <= 0.71
            if stuck and along > -0.5 * bodies and abs(across) < bodies + 0.15:
                asking.append((np.hypot(*off) - bodies, j, ahead, across))
        asking = [one for one in asking if one[0] < 0.7]
        if not standing[i] or not asking:
            continue
        _, j, (ux, uy), across = min(asking, key=lambda one: one[0])
        step, share, pace = STANDING
        side = step if across > -0.01 else -step
        for ax, ay in ((side * uy, -side * ux), (-side * uy, side * ux), (step * ux, step * uy)):
            point = places[i] + share * np.array([ax, ay])
            others = [k for k in there if k not in (i, j)]
            apart = [np.hypot(*(places[k] - point)) >= traits.radius[w, i] + traits.radius[w, k] for k in others]
            if all(apart) and clearance(crowd.maps, crowd.maps.index[w], *point)[0] >= traits.radius[w, i]:
                break
        found[i] = (*(places[i] + (ax, ay)), max(float(traits.speed[w, i]), pace))
    return found
