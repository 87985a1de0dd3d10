"""The topics of one robot: sensor messages are published, and `cmd_vel` is received."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import rospy
from agora_ros.conversions import from_twist, quaternion, to_pose, to_twist
from agora_ros.names import ros_name
from agora_ros.parameters import queue_size
from geometry_msgs.msg import PoseWithCovarianceStamped, TransformStamped, Twist
from nav_msgs.msg import Odometry
from sensor_msgs.msg import LaserScan
from std_msgs.msg import Bool

from agora.core.state import Floats, Robots
from agora.optics.lidar import Lidar
from agora.robots.body import body
from agora.robots.model import RobotModel
from agora_simulators.cameras import CameraTopics

MAP = "map"
_START_SPREAD = (0.1, 0.05)  # m and rad, initial standard deviations for AMCL


class RobotTopics:
    """The publishers and the subscriber of one robot.

    Args:
        name: name of the robot.
        model: model of the robot.
        news: condition that is notified at every command.

    Attributes:
        name: name of the robot.
        model: model of the robot.
        received: number of commands received so far.
        camera: topics of the robot's camera; None if it has no camera.
    """

    def __init__(self, name: str, model: RobotModel, news: threading.Condition) -> None:
        self.name, self.model, self.received = name, model, 0
        self._news, self._command, self._refused, self._touches = news, np.zeros(3, np.float32), 0, False
        self._located = int(rospy.get_param("complexity", 1)) == 1
        self.space = ros_name(name)
        self._base = f"{self.space}/{model.base_frame}"
        self._sensor = f"{self.space}/{model.sensor_frame}"
        publisher, depth = rospy.Publisher, queue_size(10)
        self._scan = publisher(f"{self.space}/scan", LaserScan, queue_size=depth, tcp_nodelay=True)
        self._odom = publisher(f"{self.space}/odom", Odometry, queue_size=depth, tcp_nodelay=True)
        self._collision = publisher(f"{self.space}/collision", Bool, queue_size=depth, latch=True)
        self._start = None
        if not self._located:
            self._start = publisher(f"{self.space}/initialpose", PoseWithCovarianceStamped, queue_size=1, latch=True)
        self._listens = rospy.Subscriber(f"{self.space}/cmd_vel", Twist, self._receive, queue_size=1, tcp_nodelay=True)
        self._collision.publish(False)
        self.camera = None if model.camera is None else CameraTopics(self.space, model.camera)

    def _receive(self, message: Twist) -> None:
        twist = from_twist(message)
        if not np.isfinite(twist).all():
            self._refused += 1
            rospy.logwarn_throttle(
                5.0,
                f"robot {self.name!r}: {self._refused} commands on {self._listens.resolved_name} are not finite and were ignored; "
                "its planner must publish numbers",
            )
            return
        with self._news:
            self._command, self.received = twist, self.received + 1
            self._news.notify_all()

    def command(self) -> tuple[Floats, int]:
        """The latest command (3,), and the number of commands received so far."""
        with self._news:
            return self._command, self.received

    def forget(self) -> None:
        """Discard the last command, so that the robot stands still until the next command."""
        with self._news:
            self._command = np.zeros(3, np.float32)

    def tell_start(self, robots: Robots, r: int, stamp: Any) -> None:
        """Publish the robot's initial pose for AMCL, if AMCL localises the robot."""
        if self._start is None:
            return
        message = PoseWithCovarianceStamped()
        message.header.stamp, message.header.frame_id = stamp, MAP
        message.pose.pose = to_pose([getattr(robots, name)[0, r] for name in ("x", "y", "heading")])
        message.pose.covariance[0] = message.pose.covariance[7] = _START_SPREAD[0] ** 2
        message.pose.covariance[35] = _START_SPREAD[1] ** 2
        self._start.publish(message)

    def frames(self) -> list[TransformStamped]:
        """Return the static transforms: from the robot to its sensor and, unless AMCL provides it, from the map to the odometry
        frame, which is exact.
        """
        fixed = [_transform(MAP, f"{self.space}/odom", 0.0, 0.0, 0.0)] if self._located else []
        if (lidar := self.model.lidar) is not None:
            fixed.append(_transform(self._base, self._sensor, lidar.x, lidar.y, lidar.heading))
            fixed[-1].transform.translation.z = body(self.model).scan_height
        if self.camera is not None:
            fixed.append(self.camera.frame(self._base))
        return fixed

    def show(self, robots: Robots, r: int, stamp: Any) -> TransformStamped:
        """Publish the odometry of a robot, and return the transform of the robot's frame."""
        pose = [float(getattr(robots, name)[0, r]) for name in ("x", "y", "heading")]
        frame = _transform(f"{self.space}/odom", self._base, *pose)
        frame.header.stamp = stamp
        if self._odom.get_num_connections():
            message = Odometry(child_frame_id=self._base)
            message.header.stamp, message.header.frame_id = stamp, frame.header.frame_id
            message.pose.pose.position.x, message.pose.pose.position.y = pose[:2]
            message.pose.pose.orientation = frame.transform.rotation
            message.twist.twist = to_twist([getattr(robots, name)[0, r] for name in ("vx", "vy", "omega")])
            self._odom.publish(message)
        return frame

    def show_scan(self, ranges: Floats, lidar: Lidar, stamp: Any) -> None:
        """Publish a scan."""
        if not self._scan.get_num_connections():
            return
        message = LaserScan(
            angle_min=lidar.angle_min, angle_max=lidar.angle_min + lidar.increment * (lidar.beams - 1),
            angle_increment=lidar.increment, scan_time=1.0 / lidar.rate,
            range_min=lidar.range_min, range_max=lidar.range_max, ranges=ranges.tolist(),
        )  # fmt: skip
        message.header.stamp, message.header.frame_id = stamp, self._sensor
        self._scan.publish(message)

    def show_contact(self, touches: bool) -> None:
        """Publish whether the robot touches an object, if this has changed."""
        if touches != self._touches:
            self._touches = touches
            self._collision.publish(touches)

    def close(self) -> None:
        """Unregister the topics."""
        for topic in (self._listens, self._scan, self._odom, self._collision, self._start):
            if topic is not None:
                topic.unregister()
        if self.camera is not None:
            self.camera.close()


def _transform(parent: str, child: str, x: float, y: float, heading: float) -> TransformStamped:
    frame = TransformStamped(child_frame_id=child)
    frame.header.frame_id = parent
    frame.transform.translation.x, frame.transform.translation.y = x, y
    frame.transform.rotation = quaternion(heading)
    return frame
