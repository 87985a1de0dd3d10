"""A pinhole camera mounted on a robot: converts pixels with depth to points in the robot's frame.

Frames follow ROS (REP 103). In the camera's own frame, x points forwards, y to the left and z up. In the optical frame, z points
forwards, x to the right and y down, like the columns and rows of an image.
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
_UPRIGHT = 1e-9  # cosine of the pitch below which roll and yaw rotate about the same axis (gimbal lock)


@dataclass(frozen=True)
class Camera(Checked):
    """A pinhole camera with rectified images.

    Attributes:
        fx: focal length along the rows, px.
        fy: focal length along the columns, px.
        cx: principal point, x, px; the centre of the first pixel is (0, 0).
        cy: principal point, y, px.
        x: position of the camera in the robot's base frame, x, m.
        y: position of the camera in the robot's base frame, y, m.
        z: position of the camera in the robot's base frame, z, m.
        roll: rotation of the camera's own frame about the base's x axis, rad; applied in the order roll, pitch, yaw, as in URDF.
        pitch: rotation about the base's y axis, rad; a camera that looks slightly down has a small positive pitch.
        yaw: rotation about the base's z axis, rad.
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
        """Return a camera from the rotation (3, 3) and the position (3,) of its optical frame, as given by tf."""
        x, y, z = (float(v) for v in np.asarray(place, float))
        return Camera(fx, fy, cx, cy, x, y, z, *_angles(np.asarray(turn, float) @ _OPTICAL.T))

    @property
    def optical_angles(self) -> tuple[float, float, float]:
        """Roll, pitch and yaw of the optical frame in the robot's base frame, rad."""
        return _angles(self.rotation())

    def rotation(self) -> Doubles:
        """The rotation (3, 3) from the optical frame to the robot's base frame."""
        (sr, cr), (sp, cp), (sy, cy) = ((math.sin(a), math.cos(a)) for a in (self.roll, self.pitch, self.yaw))
        own = [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
        return np.asarray(np.array(own) @ _OPTICAL)

    def on_robot(self, u: ArrayLike, v: ArrayLike, depth: ArrayLike) -> Doubles:
        """Return the points (..., 3) seen at columns ``u`` and rows ``v``, ``depth`` metres along the optical axis, in metres in
        the robot's frame.
        """
        u, v, depth = (np.asarray(a, float) for a in (u, v, depth))
        seen = np.stack(np.broadcast_arrays((u - self.cx) / self.fx * depth, (v - self.cy) / self.fy * depth, depth), -1)
        return np.asarray(seen @ self.rotation().T + (self.x, self.y, self.z))


def _angles(m: Doubles) -> tuple[float, float, float]:
    """Return the roll, pitch and yaw of a rotation (3, 3), rad."""
    level = math.hypot(m[0, 0], m[1, 0])
    pitch = math.atan2(-m[2, 0], level)
    if level < _UPRIGHT:
        return math.atan2(-m[1, 2], m[1, 1]), pitch, 0.0
    return math.atan2(m[2, 1], m[2, 2]), pitch, math.atan2(m[1, 0], m[0, 0])
