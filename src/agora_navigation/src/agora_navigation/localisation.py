"""Localisation: computes a robot's pose on the map from its odometry and the transform of the odometry frame."""

from __future__ import annotations

from typing import Any

import rospy
from agora_ros.conversions import from_pose
from agora_ros.frames import Frames

from agora.core.state import Array


class Localisation(Frames):
    """Converts odometry to poses in the map frame, using tf.

    Args:
        trusting: whether to treat a frame without a transform as the map frame, as for simulators with exact localisation.
    """

    def __init__(self, trusting: bool) -> None:
        super().__init__()
        self._trusting = trusting

    def pose(self, odometry: Any) -> Array | None:
        """Return the pose (3,) in the map frame for a ``nav_msgs/Odometry``; None, with a log line, if the pose is unknown."""
        given, frame = from_pose(odometry.pose.pose), odometry.header.frame_id
        pose = self.in_map(given, frame)
        if pose is None and not self._trusting:
            rospy.logwarn_throttle(10.0, f"no transform from {frame.lstrip('/')} to map: start amcl or a static transform")
        return given if pose is None and self._trusting else pose
