"""The shape of a robot for a timed elastic band: the distance from the robot at a pose to a disc, and its derivatives.

Based on teb_local_planner (robot_footprint_model.h, distance_calculations.h). Derivatives are ours. Inside a polygon, the
distance is negative; upstream uses the unsigned distance to the nearest edge, which grows towards the inside.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.jit import hidden
from agora.core.scalar import ONE, ZERO
from agora.core.state import Array, Floats
from agora.planners._bands import edges

ROUND, TWO_DISCS, OUTLINE = 0, 1, 2
KINDS = {"point": ROUND, "circular": ROUND, "two_circles": TWO_DISCS, "line": OUTLINE, "polygon": OUTLINE}
_FAR, _TINY = np.float32(3e38), np.float32(1e-12)


class Shape(NamedTuple):
    """A disc around the robot's centre, discs around two points, or an outline given by points; in the robot's frame, m.

    The radius of these discs is included in the ``reach`` of the other disc.
    """

    kind: int
    x: Floats
    y: Floats


def points_of(model: str, outlines: Array, radius: Floats) -> tuple[Floats, Floats]:
    """Return the points (N, V, 2) of a footprint model, and the radii (N,) around them, m.

    A line ends half the robot's width short of the robot's front and rear. The centres of two circles, which are as wide as the
    robot, are at the same positions.

    Args:
        model: name of the footprint model, from `KINDS`.
        outlines: (N, V, 2) corners of the footprints, m.
        radius: (N,) radii of the robots, m.
    """
    none = np.zeros_like(radius)
    if model == "polygon":
        return np.asarray(outlines, np.float32), none
    if KINDS[model] == ROUND:
        return np.zeros((len(radius), 1, 2), np.float32), radius if model == "circular" else none
    half = np.abs(outlines[..., 1]).max(axis=1)
    stern, bow = outlines[..., 0].min(axis=1) + half, outlines[..., 0].max(axis=1) - half
    middle = 0.5 * (stern + bow)
    along = np.stack((np.minimum(stern, middle), np.maximum(bow, middle)), -1)
    points = np.stack((along, 0.0 * along), -1).astype(np.float32)
    return points, half.astype(np.float32) if model == "two_circles" else none


@hidden
def _signed_distance(shape, x, y):
    """Return the signed distance from a point to the shape, both in the robot's frame, and its derivatives with respect to the
    point's coordinates.
    """
    last = shape.x.size - 1
    best, by_x, by_y, inside = _FAR, ONE, ZERO, False
    for k in range(last + 1):
        ax, ay = shape.x[k], shape.y[k]
        dx, dy = ZERO * ax, ZERO * ax
        if shape.kind == OUTLINE:
            before = last if k == 0 else k - 1
            dx, dy = shape.x[before] - ax, shape.y[before] - ay
            if (ay > y) != (ay + dy > y) and x < ax + (y - ay) * dx / dy:
                inside = not inside
        t = min(max(((x - ax) * dx + (y - ay) * dy) / max(dx * dx + dy * dy, _TINY), ZERO), ONE)
        far, far_x, far_y = edges.length(x - ax - t * dx, y - ay - t * dy)
        if far < best:
            best, by_x, by_y = far, far_x, far_y
    if inside:
        return -best, -by_x, -by_y
    return best, by_x, by_y


@hidden
def gap(shape, x, y, cosine, sine, other_x, other_y, reach):
    """Return the distance from a robot at a pose to a disc of radius ``reach``, and its derivatives with respect to x, y and
    heading.
    """
    if shape.kind == ROUND:
        far, by_x, by_y = edges.length(x - other_x, y - other_y)
        return far - reach, by_x, by_y, ZERO * far
    dx, dy = other_x - x, other_y - y
    ahead, aside = cosine * dx + sine * dy, cosine * dy - sine * dx
    far, by_ahead, by_aside = _signed_distance(shape, ahead, aside)
    by_x, by_y = sine * by_aside - cosine * by_ahead, -sine * by_ahead - cosine * by_aside
    return far - reach, by_x, by_y, by_ahead * aside - by_aside * ahead


@hidden
def circumscribed_radius(shape):
    """Return the distance from the robot's centre to the farthest point of the shape."""
    squared = ZERO * shape.x[0]
    for k in range(shape.x.size):
        squared = max(squared, shape.x[k] * shape.x[k] + shape.y[k] * shape.y[k])
    return math.sqrt(squared)
