"""The space that a group occupies: circle, convex hull and o-space, computed for many time steps at once.

Circle: TAGA (S. Sarker Roy et al. 2025, and its code). Hull: K. Katyal et al., "Learning a group-aware policy for robot
navigation", IROS 2022. O-space: A. Kendon, Conducting Interaction, 1990.

Only sums, products, quotients and square roots are used, so that metrics based on them are identical on every CPU.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from agora.core.state import Bools, Doubles

__all__ = ["circle", "hull", "hull_distance"]


def circle(position: Doubles, present: Bools) -> tuple[Doubles, Doubles]:
    """Return centres (..., 2), the mean of the members' positions, and radii (...), the distance to the farthest member, m.

    Args:
        position: (..., n, 2) positions of the members, m.
        present: (..., n) which members count; if none does, the centre is the origin and the radius is minus infinity.
    """
    weight = present / np.maximum(present.sum(-1, keepdims=True), 1)
    centre: Doubles = (np.where(present[..., None], position, 0.0) * weight[..., None]).sum(-2)
    away = position - centre[..., None, :]
    square = away[..., 0] * away[..., 0] + away[..., 1] * away[..., 1]
    radius = np.sqrt(np.max(np.where(present, square, 0.0), -1, initial=0.0))
    return centre, np.where(present.any(-1), radius, -np.inf)


def hull(points: Doubles) -> Doubles:
    """Return the corners (V, 2) of the convex hull of points (N, 2), counter-clockwise from the leftmost corner; V < 3 if the hull
    is degenerate.

    A. M. Andrew, "Another efficient algorithm for convex hulls in two dimensions", Information Processing Letters 9(5), 1979.
    """
    ordered = np.unique(np.asarray(points, np.float64).reshape(-1, 2), axis=0)
    if len(ordered) < 3:
        return ordered
    chains = []
    for side in (ordered, ordered[::-1]):
        chain: list[Doubles] = []
        for point in side:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], point) <= 0.0:
                chain.pop()
            chain.append(point)
        chains.append(chain[:-1])
    return np.array(chains[0] + chains[1])


def _turn(a: Doubles, b: Doubles, c: Doubles) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def hull_distance(position: Doubles, present: Bools, point: Doubles) -> Doubles:
    """Return the distances (...) from points to the convex hulls of groups, m; 0 inside, infinite for a group without members.

    The nearest point of a hull lies on a line segment between two members, and a point inside a hull lies inside a triangle of
    members. A point is inside a hull inflated by r if its distance is at most r.

    Args:
        position: (..., n, 2) positions of the members, m.
        present: (..., n) which members count.
        point: (..., 2) points, m.
    """
    x, y = position[..., 0] - point[..., 0, None], position[..., 1] - point[..., 1, None]
    nearest = np.min(np.where(present, x * x + y * y, np.inf), -1, initial=np.inf)
    for i, j in combinations(range(position.shape[-2]), 2):
        ex, ey = x[..., j] - x[..., i], y[..., j] - y[..., i]
        along = -(x[..., i] * ex + y[..., i] * ey) / np.maximum(ex * ex + ey * ey, 1e-300)
        share = np.clip(along, 0.0, 1.0)
        nx, ny = x[..., i] + share * ex, y[..., i] + share * ey
        both = present[..., i] & present[..., j]
        nearest = np.where(both, np.minimum(nearest, nx * nx + ny * ny), nearest)
    cross = x[..., :, None] * y[..., None, :] - y[..., :, None] * x[..., None, :]
    for i, j, k in combinations(range(position.shape[-2]), 3):
        turns = cross[..., i, j], cross[..., j, k], cross[..., k, i]
        left = (turns[0] >= 0.0) & (turns[1] >= 0.0) & (turns[2] >= 0.0)
        right = (turns[0] <= 0.0) & (turns[1] <= 0.0) & (turns[2] <= 0.0)
        area = np.abs(turns[0] + turns[1] + turns[2]) > 1e-12
        inside = (left | right) & area & present[..., i] & present[..., j] & present[..., k]
        nearest = np.where(inside, 0.0, nearest)
    distance: Doubles = np.sqrt(nearest)
    return distance


def o_space(position: Doubles, heading: Doubles, stride: float = 0.75) -> tuple[Doubles, float]:
    """Return the centre (2,) and the radius of the space that the members of a group look at, m.

    The centre is the mean of the points ``stride`` m ahead of each member; the radius is the distance to the nearest member. The
    p-space, where the members stand, is the ring between the distances to the nearest and to the farthest member.

    Args:
        position: (n, 2) positions, m.
        heading: (n,) headings, rad.
        stride: distance at which each member looks, m.
    """
    centre = (position + stride * np.stack((np.cos(heading), np.sin(heading)), -1)).mean(0)
    away = position - centre
    return centre, float(np.sqrt((away * away).sum(-1).min()))
