"""Transforms poses from other frames to the map frame with tf."""

from __future__ import annotations

import math

import rospy
import tf2_ros

from agora.core.state import Array
from agora_ros.conversions import heading_of

MAP = "map"


class Frames:
    """Listens to tf and transforms poses."""

    def __init__(self) -> None:
        self._buffer = tf2_ros.Buffer(rospy.Duration(10.0))
        self._listener = tf2_ros.TransformListener(self._buffer, queue_size=10, tcp_nodelay=True)

    def in_map(self, pose: Array, frame: str) -> Array | None:
        """Transform a pose (3,) from another frame to the map frame, using the latest transform; return None if there is no
        transform.
        """
        frame = frame.strip("/")
        if frame in (MAP, ""):
            return pose
        try:
            moved = self._buffer.lookup_transform(MAP, frame, rospy.Time(0)).transform
        except tf2_ros.TransformException:
            return None
        pose, turn, x, y = pose.copy(), heading_of(moved.rotation), moved.translation.x, moved.translation.y
        if turn == 0.0:
            pose[0], pose[1] = pose[0] + x, pose[1] + y
            return pose
        cosine, sine = math.cos(turn), math.sin(turn)
        pose[0], pose[1] = x + cosine * pose[0] - sine * pose[1], y + sine * pose[0] + cosine * pose[1]
        pose[2] = math.remainder(pose[2] + turn, math.tau)
        return pose
