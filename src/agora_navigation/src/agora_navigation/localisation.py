"""The place of a robot on the map: its odometry, moved by the transform of its odometry's frame."""

from __future__ import annotations

from typing import Any

import rospy
from agora_ros.conversions import from_pose
from agora_ros.frames import Frames

from agora.core.state import Array


class Localisation(Frames):
    """Reads tf.

    Args:
        trusting: whether a frame that nobody transforms counts as the map, as simulators with exact localisation have it.
    """

    def __init__(self, trusting: bool) -> None:
        super().__init__()
        self._trusting = trusting

    def pose(self, odometry: Any) -> Array | None:
        """The pose (3,) in the map of a ``nav_msgs/Odometry``; None, and a line, where nobody knows it."""
        given, frame = from_pose(odometry.pose.pose), odometry.header.frame_id
        pose = self.in_map(given, frame)
        if pose is None and not self._trusting:
            rospy.logwarn_throttle(10.0, f"no transform from {frame.lstrip('/')} to map: start amcl or a static transform")
        return given if pose is None and self._trusting else pose
