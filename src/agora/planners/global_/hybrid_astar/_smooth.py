"""Shortens a car's path by replacing parts of it with the cheapest curves between their ends, if these curves are free and
cheaper.
"""

from __future__ import annotations

import numpy as np

from agora.core.jit import hidden, lean_kernel
from agora.planners.global_._curves import SEGMENTS, cheapest_curve, copy_curve
from agora.planners.global_._ground import curve_cost

_LONGEST = 128
_GAIN = 1e-6


@hidden
def _first_direction(curve):
    """Return the direction of motion in which a curve starts; 0 for a curve of length 0."""
    for i in range(SEGMENTS):
        if abs(curve[i, 0]) > 1e-9:
            return 1 if curve[i, 0] > 0.0 else -1
    return 0


@lean_kernel
def shorten(ground, price, radius, poses, curves, follow, costs, ways, trial):
    """Replace parts of a path with cheaper curves, trying long parts first.

    Args:
        ground: `agora.planners.global_._ground.Ground`.
        price: `agora.planners.global_._curves.Price`.
        radius: radius of the tightest curve, m.
        poses: (K, 3) poses, m and rad.
        curves: (K, 5, 2) curve from each pose to the next one, in and out.
        follow: (K,) index of the next pose, in and out.
        costs: (K,) scratch.
        ways: (K,) int8, scratch.
        trial: (5, 2), scratch.
    """
    last = len(poses) - 1
    for i in range(last):
        costs[i], ways[i] = curve_cost(ground, price, poses[i, 0], poses[i, 1], poses[i, 2], curves[i], 0, 0.0)
    hop = _LONGEST
    while hop >= 2:
        i, before = 0, 0
        while i < last:
            j, old, way = i, 0.0, before
            for _ in range(hop):
                if j == last:
                    break
                old += costs[j] + (price.change if way * _first_direction(curves[j]) < 0 else 0.0)
                way, j = ways[j], follow[j]
            onward = _first_direction(curves[j]) if j < last else 0
            old += price.change if way * onward < 0 else 0.0
            if j != follow[i]:
                x, y, heading = poses[i, 0], poses[i, 1], poses[i, 2]
                dx, dy, cosine, sine = poses[j, 0] - x, poses[j, 1] - y, np.cos(heading), np.sin(heading)
                turn = poses[j, 2] - heading
                least = cheapest_curve(cosine * dx + sine * dy, cosine * dy - sine * dx, turn, radius, price, before, trial)
                if least < old - _GAIN:
                    new, way = curve_cost(ground, price, x, y, heading, trial, before, 0.0)
                    if new + (price.change if way * onward < 0 else 0.0) < old - _GAIN:
                        copy_curve(trial, curves[i])
                        follow[i], ways[i] = j, way
                        costs[i] = new - (price.change if before * _first_direction(trial) < 0 else 0.0)
            for _ in range(max(hop // 8, 1)):
                if i < last:
                    before, i = ways[i], follow[i]
        hop //= 2
