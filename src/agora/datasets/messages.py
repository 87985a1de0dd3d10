"""Converts messages of the ROS graph to the library's objects. The messages may be decoded by rospy or by a bag reader that does
not need ROS.

Attributes have the names defined in ``src/agora_msgs``; sequences may be lists, tuples, bytes or arrays. Every float32 is restored
exactly, including headings, which are sent as float64 quaternions that preserve every float32 heading in (-pi, pi].
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from agora.core.state import Array, Floats
from agora.draft.stage import Stage
from agora.errors import InputError
from agora.wire.episode import Episode
from agora.wire.message import decode
from agora.world.start import Start

__all__ = ["from_episode", "from_pose", "from_pose2d", "from_twist", "heading_of"]

_HALF_TURN = float(np.float32(math.pi))  # a little more than pi


def seconds(stamp: Any) -> float:
    """Return a stamp decoded by a bag reader that does not need ROS, in seconds."""
    return float(stamp.sec + stamp.nanosec * 1e-9)


def heading_of(rotation: Any) -> float:
    """Return the heading of a quaternion, rad in (-pi, pi].

    For a pure rotation about the z axis, rounding the result to float32 restores every float32 heading exactly.
    """
    if rotation.x == 0.0 and rotation.y == 0.0:
        heading = 2.0 * math.atan2(rotation.z, rotation.w)
    else:
        x, y, z, w = rotation.x, rotation.y, rotation.z, rotation.w
        heading = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    return heading - math.copysign(math.tau, heading) if abs(heading) > _HALF_TURN else heading


def from_pose(message: Any) -> Array:
    """Return x, y and heading (3,) of a ``geometry_msgs/Pose``."""
    return np.array([message.position.x, message.position.y, heading_of(message.orientation)])


def from_pose2d(message: Any) -> Array:
    """Return x, y and heading (3,) of a ``geometry_msgs/Pose2D``."""
    return np.array([message.x, message.y, message.theta])


def from_twist(message: Any) -> Floats:
    """Return vx, vy and omega (3,) of a ``geometry_msgs/Twist``."""
    return np.array([message.linear.x, message.linear.y, message.angular.z], np.float32)


def from_episode(message: Any) -> tuple[Start, Stage]:
    """Return the start of the episode in an ``agora_msgs/Episode``, and the stage with its conditions.

    Raises:
        InputError: the episode is not in the format ``agora.episode``, for instance because an older version of Agora recorded the
            bag.
    """
    if not hasattr(message, "resolved"):
        raise InputError(f"{message.entry}: recorded by an older version of Agora, without the field `resolved`; record it again")
    episode = decode(bytes(message.resolved), Episode, f"episode {message.entry}")
    return episode.start, episode.stage
