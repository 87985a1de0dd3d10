"""Ranges of a multi-ring lidar, read from depth images that are rendered towards the lidar's four sides.

If the pixels around a beam show the same surface, the range is the distance to the plane through these pixels, on which the
reciprocal of the depth is linear in the pixel coordinates. Otherwise the beam takes the value of the nearest pixel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from agora.core.angles import wrap_below_pi
from agora.core.jit import hidden, kernel
from agora.core.state import Doubles, Floats
from agora.optics.camera import Camera
from agora.rendering.view import Eye, View

__all__ = ["Sweep"]

_SIDES = 4
_SAME = 1.5  # maximum ratio between the depths of neighbouring pixels on the same surface
_FINE, _LEAST = 1.5, 115.0  # minimum number of pixels between two beams, and per radian
_EDGE = 2  # margin beyond the outermost beams, px


@dataclass(frozen=True)
class Sweep:
    """The beam directions of a lidar: rings at several elevations, each with beams all around.

    Attributes:
        rings: number of rings.
        beams: number of beams per ring.
        lowest: elevation of the first ring, rad.
        highest: elevation of the last ring, rad.
    """

    rings: int
    beams: int
    lowest: float
    highest: float

    @property
    def elevations(self) -> Doubles:
        """The elevation of each ring (rings,), rad."""
        return np.linspace(self.lowest, self.highest, self.rings)

    @property
    def azimuths(self) -> Doubles:
        """The azimuth of each beam (beams,), rad, counter-clockwise, starting at -pi."""
        return np.asarray(-math.pi + 2.0 * math.pi / self.beams * np.arange(self.beams), np.float64)

    @cached_property
    def _image(self) -> tuple[float, float, int, int, float]:
        """Focal lengths along rows and columns, width and height of the image towards a side, px, and the row of the horizon."""
        fx = max(_FINE * self.beams / (2.0 * math.pi), _LEAST)
        step = (self.highest - self.lowest) / max(self.rings - 1, 1)
        fy = max(_FINE / max(step, 0.003), _LEAST)
        across = math.sqrt(2.0)  # at the corner of an image, where the same elevation is farther from the horizon
        above, below = (fy * max(across * math.tan(angle), math.tan(angle)) for angle in (self.highest, -self.lowest))
        width = 2 * (math.ceil(fx) + _EDGE) + 1
        top, bottom = math.ceil(max(above, 0.0)) + _EDGE, math.ceil(max(below, 0.0)) + _EDGE
        return fx, fy, width, top + bottom + 1, float(top)

    def measure(self, view: View, mount: Camera, pose: Doubles, hidden: int, ranges: Floats) -> None:
        """Write the ranges (rings, beams) in a scene, m: infinite where nothing is hit, and all 0 if the lidar is inside something
        solid.

        Args:
            view: view of the scene.
            mount: position and yaw of the lidar on the robot.
            pose: (3,) pose of the robot, m and rad.
            hidden: number of the robot that is not rendered, -1 if none.
            ranges: output array.
        """
        fx, fy, width, height, horizon = self._image
        depth = np.empty((height, width), np.float32)
        for side in range(_SIDES):
            yaw = (side - _SIDES // 2) * 0.5 * math.pi
            camera = Camera(fx, fy, 0.5 * (width - 1), horizon, mount.x, mount.y, mount.z, yaw=mount.yaw + yaw)
            eye = Eye.on(camera, width, height, pose)
            view.look(eye, hidden)
            number = view.numbers(eye, depth)
            turned = wrap_below_pi(self.azimuths - yaw)
            beams = np.flatnonzero((turned >= -0.25 * math.pi) & (turned < 0.25 * math.pi))
            _sweep(number, depth, fx, fy, camera.cx, horizon, turned[beams], self.elevations, beams, ranges, 0, self.rings)


@hidden
def _at(number, depth, u, v):
    """Return the depth at a position between pixels, m; infinite where there is nothing."""
    column, row = int(math.floor(u)), int(math.floor(v))
    right, below = u - column, v - row
    nearest = (row + (1 if below >= 0.5 else 0), column + (1 if right >= 0.5 else 0))
    if number[nearest] == 0:
        return np.inf if depth[nearest] > 0.0 else 0.0
    a, b, c, d = depth[row, column], depth[row, column + 1], depth[row + 1, column], depth[row + 1, column + 1]
    own = number[nearest]
    same = number[row, column] == own and number[row, column + 1] == own
    same = same and number[row + 1, column] == own and number[row + 1, column + 1] == own
    if not same or max(a, b, c, d) > _SAME * min(a, b, c, d):
        return np.float64(depth[nearest])
    upper, lower = (1.0 - right) / a + right / b, (1.0 - right) / c + right / d
    return 1.0 / ((1.0 - below) * upper + below * lower)


@kernel
def _sweep(number, depth, fx, fy, cx, cy, azimuth, elevation, beams, ranges, first, last):
    """Write the ranges of some beams in rings ``first <= ring < last`` from the image towards their side."""
    for ring in range(first, last):
        for k in range(len(beams)):
            x, y = -math.tan(azimuth[k]), -math.tan(elevation[ring]) / math.cos(azimuth[k])
            z = _at(number, depth, cx + fx * x, cy + fy * y)
            ranges[ring, beams[k]] = np.float32(z * math.sqrt(1.0 + x * x + y * y))
