"""The discs that a world's pedestrians react to, and the number of lanes in loops over pedestrians."""

from __future__ import annotations

from agora.core.jit import part, spliced
from agora.core.state import PADDING

SEES_PEDESTRIANS, SEES_ROBOTS = 1, 2
"""Bits of the ``sees`` argument of `agora.interfaces.CompiledCrowdModel`."""

X, Y, VX, VY, RADIUS = 0, 1, 2, 3, 4
"""Rows of a list of discs: (5, P + R) float32, map frame, m and m/s."""


@part
def lanes(count):
    """Return the loop length for ``count`` pedestrians: the next multiple of `PADDING`, so that loops have no scalar tail."""
    return (count + PADDING - 1) // PADDING * PADDING


@part
def append_discs(active, count, x, y, vx, vy, radius, discs, n):
    """Append the active ones among the first ``count`` discs of a world to the ``n`` entries of ``discs``.

    Kernels list the pedestrians and then the visible robots, and loop over the list, which omits inactive slots. The list also
    contains the pedestrian itself, at distance 0. (The arguments are one world's rows instead of whole records, because a call
    copies its arguments.)

    Returns:
        The new number of discs.
    """
    for j in range(count):
        if active[j]:
            discs[X, n], discs[Y, n], discs[VX, n], discs[VY, n], discs[RADIUS, n] = x[j], y[j], vx[j], vy[j], radius[j]
            n += 1
    return n


@spliced
def append_people(crowd, w, discs, n):
    """Append the pedestrians of world w to the ``n`` discs (`append_discs`), if pedestrians see each other."""
    if crowd.sees & SEES_PEDESTRIANS:
        p, t = crowd.pedestrians, crowd.traits
        n = append_discs(p.active[w], t.count[w], p.x[w], p.y[w], p.vx[w], p.vy[w], t.radius[w], discs, n)
    return n


@spliced
def append_robots(crowd, w, discs, n):
    """Append the robots of world w to the ``n`` discs (`append_discs`), if pedestrians see robots."""
    if crowd.sees & SEES_ROBOTS:
        r, t = crowd.robots, crowd.robot_traits
        n = append_discs(r.active[w], r.x.shape[1], r.x[w], r.y[w], r.world_vx[w], r.world_vy[w], t.radius[w], discs, n)
    return n
