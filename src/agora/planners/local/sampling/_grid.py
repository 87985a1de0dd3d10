"""The waypoints of SocNavBench's sampling planner: a grid in the image from a camera on the robot, projected onto the floor.

The grid is uniform in the image, so it is dense near the robot and sparse far away. Based on SocNavBench (commit 2724ea85,
``ProjectedImageSpaceGrid``): its parameters limit x to the range from 0 to 2.5 m and y to +-2.5 m, but the class replaces these
bounds with the camera's field of view; only the bounds on the heading take effect.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from agora.core.state import Doubles

FOCAL = 0.01
"""Focal length of the camera, m; it cancels out except at the clipped edge."""

_EDGE = 0.01  # rad, by which the upper and the lower edge of the image are clipped


@functools.lru_cache(maxsize=16)
def waypoints(count: int, headings: int, height: float, tilt: float, half_view: float) -> Doubles:
    """Return the waypoints (K, 3), i.e. x, y and heading, in the robot's frame, m and rad; K is slightly more than ``count``, see
    `_sides`.

    Args:
        count: desired number of waypoints.
        headings: number of headings at each position, from one side of the image to the other, including straight up.
        height: height of the camera above the floor, m.
        tilt: tilt of the camera below the horizon, rad.
        half_view: half the camera's field of view, rad.
    """
    right = FOCAL * math.tan(half_view)
    lower = -right if tilt > half_view else -FOCAL * math.tan(tilt - _EDGE)
    upper = right if tilt + half_view < math.pi / 2 else FOCAL * math.tan(math.pi / 2 - tilt - _EDGE)
    columns, rows, angles = _sides(count, headings, 2.0 * right, upper - lower)
    across, up, angle = np.meshgrid(
        np.linspace(-right, right, columns), np.linspace(lower, upper, rows), np.linspace(-math.pi, 0.0, angles)
    )
    found = _project_to_floor(across.ravel(), up.ravel(), angle.ravel(), height, tilt)
    found.flags.writeable = False
    return found


def _sides(count: int, headings: int, width: float, height: float) -> tuple[int, int, int]:
    """Return the numbers of columns, rows and headings, all of them odd, for which the spacing is equal in both directions of the
    image.
    """
    places = math.ceil((count + 1) / headings)
    spacing = math.sqrt(width * height / places)
    columns, rows, angles = (
        number + (number + 1) % 2 for number in (math.ceil(width / spacing), math.ceil(height / spacing), headings)
    )
    return columns, rows, angles


def _project_to_floor(across: Doubles, up: Doubles, angle: Doubles, height: float, tilt: float) -> Doubles:
    """Project positions and directions in the image onto the floor (K, 3).

    With D = f sin(tilt) + up cos(tilt): x = h (f cos(tilt) - up sin(tilt)) / D, y = -across h / D. The heading is the direction of
    the derivative of (x, y) along the direction in the image, which the original approximates by a difference.
    """
    sine, cosine = math.sin(tilt), math.cos(tilt)
    depth = FOCAL * sine + up * cosine
    x, y = height * (FOCAL * cosine - up * sine) / depth, -across * height / depth
    along, upwards = (np.array([f(one) for one in angle]) for f in (math.cos, math.sin))
    dx = -height * FOCAL / depth**2 * upwards
    dy = -height / depth * along + across * height * cosine / depth**2 * upwards
    return np.column_stack((x, y, [math.atan2(v, u) for u, v in zip(dx, dy, strict=True)]))
