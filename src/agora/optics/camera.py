"""A pinhole camera on a robot: the points on the robot that pixels show.

Frames as ROS has them (REP 103): the camera's own looks along x, with y to the left and z up; its optical one looks along z, with x
to the right and y down, as the columns and rows of an image go.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from agora.core.state import Doubles
from agora.errors import InputError
from agora.ranges import Checked

__all__ = ["Camera"]

_OPTICAL = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])  # the optical axes in the camera's frame
_UPRIGHT = 1e-9  # cosine of a pitch at which roll and yaw turn about one axis


@dataclass(frozen=True)
class Camera(Checked):
    """A pinhole camera whose images are rectified.

    Attributes:
        fx: focal length along the rows, px.
        fy: focal length along the columns, px.
        cx: principal point, x, px; the middle of the first pixel is (0, 0).
        cy: principal point, y, px.
        x: place of the camera on the robot's base, x, m.
        y: place of the camera on the robot's base, y, m.
        z: place of the camera on the robot's base, z, m.
        roll: turn of the camera's own frame about the base's x, rad; roll, pitch and yaw in this order, as in URDF.
        pitch: turn about the base's y, rad; a camera that looks down a little has a small positive pitch.
        yaw: turn about the base's z, rad.
    """

    fx: float
    fy: float
    cx: float
    cy: float
    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    roll: float = 0.0
    pitch: float = 0.0
    yaw: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if min(self.fx, self.fy) <= 0.0:
            raise InputError(f"camera: fx and fy must be above 0, got {self.fx} and {self.fy}; is the camera_info uncalibrated?")

    @staticmethod
    def at(fx: float, fy: float, cx: float, cy: float, turn: ArrayLike, place: ArrayLike) -> Camera:
        """A camera by the rotation (3, 3) and the place (3,) of its optical frame, as tf tells them."""
        x, y, z = (float(v) for v in np.asarray(place, float))
        return Camera(fx, fy, cx, cy, x, y, z, *_angles(np.asarray(turn, float) @ _OPTICAL.T))

    @property
    def optical_angles(self) -> tuple[float, float, float]:
        """Roll, pitch and yaw of the optical frame on the base, rad."""
        return _angles(self.rotation())

    def rotation(self) -> Doubles:
        """The rotation (3, 3) of the optical frame on the base."""
        (sr, cr), (sp, cp), (sy, cy) = ((math.sin(a), math.cos(a)) for a in (self.roll, self.pitch, self.yaw))
        own = [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
        return np.asarray(np.array(own) @ _OPTICAL)

    def on_robot(self, u: ArrayLike, v: ArrayLike, depth: ArrayLike) -> Doubles:
        """Points (..., 3) in the robot's frame, m, of pixels (columns ``u``, rows ``v``) at ``depth`` m along the optical axis."""
        u, v, depth = (np.asarray(a, float) for a in (u, v, depth))
        seen = np.stack(np.broadcast_arrays((u - self.cx) / self.fx * depth, (v - self.cy) / self.fy * depth, depth), -1)
        return np.asarray(seen @ self.rotation().T + (self.x, self.y, self.z))


def _angles(m: Doubles) -> tuple[float, float, float]:
    """Return roll, pitch and yaw of a rotation (3, 3), rad."""
    level = math.hypot(m[0, 0], m[1, 0])
    pitch = math.atan2(-m[2, 0], level)
    if level < _UPRIGHT:
        return math.atan2(-m[1, 2], m[1, 1]), pitch, 0.0
    return math.atan2(m[2, 1], m[2, 2]), pitch, math.atan2(m[1, 0], m[0, 0])
