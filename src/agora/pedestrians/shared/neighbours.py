"""The discs that the pedestrians of a world react to, and how far the loops over pedestrians run."""

from __future__ import annotations

from agora.core.jit import part, spliced
from agora.core.state import PADDING

SEES_PEDESTRIANS, SEES_ROBOTS = 1, 2
"""Bits of ``sees`` of `agora.interfaces.CompiledCrowdModel`."""

X, Y, VX, VY, RADIUS = 0, 1, 2, 3, 4
"""Rows of a list of discs: (5, P + R) float32, map frame, m and m/s."""


@part
def lanes(count):
    """The slots that a loop over ``count`` pedestrians runs through: the next multiple of `PADDING`, so that no loop has a tail."""
    return (count + PADDING - 1) // PADDING * PADDING


@part
def append(active, count, x, y, vx, vy, radius, discs, n):
    """Write those of the first ``count`` discs of a world that are active behind the ``n`` that ``discs`` holds already.

    Kernels list the pedestrians and then the robots that are seen, and loop over the list: who is not active leaves no trace. A
    pedestrian meets itself there, at distance 0. (Rows of one world, not whole records, because a call copies what it is given.)

    Returns:
        How many discs there are now.
    """
    for j in range(count):
        if active[j]:
            discs[X, n], discs[Y, n], discs[VX, n], discs[VY, n], discs[RADIUS, n] = x[j], y[j], vx[j], vy[j], radius[j]
            n += 1
    return n


@spliced
def append_people(crowd, w, discs, n):
    """Write the pedestrians of world w behind the ``n`` discs (`append`), where the crowd model sees any."""
    if crowd.sees & SEES_PEDESTRIANS:
        p, t = crowd.pedestrians, crowd.traits
        n = append(p.active[w], t.count[w], p.x[w], p.y[w], p.vx[w], p.vy[w], t.radius[w], discs, n)
    return n


@spliced
def append_robots(crowd, w, discs, n):
    """Write the robots of world w behind the ``n`` discs (`append`), where the crowd model sees any."""
    if crowd.sees & SEES_ROBOTS:
        r, t = crowd.robots, crowd.robot_traits
        n = append(r.active[w], r.x.shape[1], r.x[w], r.y[w], r.world_vx[w], r.world_vy[w], t.radius[w], discs, n)
    return n
