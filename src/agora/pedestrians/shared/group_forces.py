"""Sums over the members of walking groups, on which the group forces of Moussaid et al. 2010 are based."""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import part
from agora.core.scalar import ONE, ZERO

ROWS = 5
"""Number of rows that `group_sums` writes."""

_TINY = np.float32(1e-12)


@part
def group_sums(group, active, x, y, slots, count, near, sums):
    """For each of the first ``count`` pedestrians of a world, compute sums over the members of its group.

    Args:
        group: (P,) number of the walking group, below 0 if none.
        active: (P,) whether a slot is in use.
        x: (P,) x of the pedestrians, m.
        y: (P,) y of the pedestrians, m.
        slots: number of slots that are searched for members.
        count: number of pedestrians to sum for.
        near: distance within which members push each other, m.
        sums: (ROWS, P) float32, written: the number of members, including the pedestrian itself (0 without a group); x and y of the
            sum of the vectors to the members, m; x and y of the sum of the members' pushes, m, where a push is the difference of
            two positions within ``near`` metres (as in pedsim_ros, ``GroupRepulsionForce::getForce``, and PySocialForce).
    """
    number, way_x, way_y, push_x, push_y = sums[0], sums[1], sums[2], sums[3], sums[4]
    number[:count], way_x[:count], way_y[:count], push_x[:count], push_y[:count] = ZERO, ZERO, ZERO, ZERO, ZERO
    for j in range(slots):
        if active[j] and group[j] >= 0:
            xj, yj, its = x[j], y[j], group[j]
            for i in range(count):
                dx, dy = xj - x[i], yj - y[i]
                d = math.sqrt(dx * dx + dy * dy + _TINY)
                same = ONE if group[i] == its else ZERO
                push = same if d <= near else ZERO
                number[i] += same
                way_x[i] += same * dx
                way_y[i] += same * dy
                push_x[i] -= push * dx
                push_y[i] -= push * dy
