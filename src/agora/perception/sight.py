"""The pedestrians in a robot's sight: true discs that at least one beam of its lidar reaches."""

from __future__ import annotations

import math

from agora.core.jit import lean_kernel
from agora.core.scalar import ZERO, sincos


@lean_kernel
def see(beams, slack, ranges, pose, due, position, radius, present, seen, first, last):
    """Write which discs rows ``first <= n < last`` have in sight: those that at least one beam reaches, within range and view.

    Args:
        beams: `agora.sensors.lidar.Beams`.
        slack: length that a beam may be short by, m: noise.
        ranges: (N, B) ranges, m.
        pose: (N, 3) poses of the robots.
        due: (N,) whether a row has a new scan; the others are left as they are.
        position: (N, Q, 2) positions of the discs, m.
        radius: (N, Q) radii of the discs, m.
        present: (N, Q) whether a slot holds a disc.
        seen: (N, Q) whether a disc is in sight, out.
        first: first row.
        last: one more than the last row.
    """
    total = ranges.shape[1]
    for n in range(first, last):
        if not due[n]:
            continue
        sine, cosine = sincos(pose[n, 2])
        x0 = pose[n, 0] + cosine * beams.x - sine * beams.y
        y0 = pose[n, 1] + sine * beams.x + cosine * beams.y
        for q in range(present.shape[1]):
            seen[n, q] = False
            if not present[n, q]:
                continue
            wx, wy = position[n, q, 0] - x0, position[n, q, 1] - y0
            x, y = cosine * wx + sine * wy, cosine * wy - sine * wx
            r = radius[n, q]
            if x * x + y * y <= r * r:
                seen[n, q] = True
                continue
            for b in range(total):
                along, aside = x * beams.dx[b] + y * beams.dy[b], x * beams.dy[b] - y * beams.dx[b]
                if along > ZERO and abs(aside) < r:
                    entry = along - math.sqrt((r - aside) * (r + aside))
                    if entry < beams.range_max and ranges[n, b] >= entry - slack:
                        seen[n, q] = True
                        break
