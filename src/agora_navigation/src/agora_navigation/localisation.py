"""The place of a robot on the map: its odometry, moved by the transform of its odometry's frame."""

from __future__ import annotations

import math
from typing import Any

import rospy
import tf2_ros
from agora_ros.conversions import from_pose, heading_of

from agora.core.state import Array


class Localisation:
    """Reads tf.

    Args:
        trusting: whether a frame that nobody transforms counts as the map, as simulators with exact localisation have it.
    """

    def __init__(self, trusting: bool) -> None:
        self._trusting = trusting
        self._buffer = tf2_ros.Buffer(rospy.Duration(10.0))
        self._listener = tf2_ros.TransformListener(self._buffer, queue_size=10, tcp_nodelay=True)

    def pose(self, odometry: Any) -> Array | None:
        """The pose (3,) in the map of a ``nav_msgs/Odometry``; None, and a line, where nobody knows it."""
        pose, frame = from_pose(odometry.pose.pose), odometry.header.frame_id.lstrip("/")
        if frame in ("map", ""):
            return pose
        try:
            moved = self._buffer.lookup_transform("map", frame, rospy.Time(0)).transform
        except tf2_ros.TransformException:
            if not self._trusting:
                rospy.logwarn_throttle(10.0, f"nobody transforms {frame} to map: start amcl or a static transform")
                return None
            return pose
        turn, x, y = heading_of(moved.rotation), moved.translation.x, moved.translation.y
        if turn == 0.0:
            pose[0], pose[1] = pose[0] + x, pose[1] + y
            return pose
        cosine, sine = math.cos(turn), math.sin(turn)
        pose[0], pose[1] = x + cosine * pose[0] - sine * pose[1], y + sine * pose[0] + cosine * pose[1]
        pose[2] = math.remainder(pose[2] + turn, math.tau)
        return pose
