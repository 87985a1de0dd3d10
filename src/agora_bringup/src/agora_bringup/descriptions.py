"""Publishes the descriptions of the episode's robots, ``<robot>/robot_description``, and the frames of each robot, starting from
``<robot>/base_link``.

For each robot, a robot_state_publisher publishes the frames and is restarted if it dies; if that package is not installed, this
node publishes the frames itself. Frames do not change, so data cannot become stale; the node uses only the wall clock. The node
does not publish any ``cmd_vel``.
"""

from __future__ import annotations

import subprocess
import threading
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as Xml

import rospy
from agora_ros.conversions import model_of, quaternion
from geometry_msgs.msg import TransformStamped
from roslib.packages import find_node
from tf2_ros import StaticTransformBroadcaster

from agora.doctor import ros_package
from agora.errors import InputError
from agora.robots.urdf import urdf
from agora_bringup.robot_markers import RobotMarkers
from agora_bringup.windows import colour_of
from agora_msgs.msg import Episode

_PUBLISHER = "robot_state_publisher"
_WITH_US = ("setpriv", "--pdeathsig", "TERM")  # it ends with this node, however this node ends
_LOOK = 1.0  # s of wall time between two checks of the publishers


@dataclass
class Described:
    """A robot whose description has been published.

    Attributes:
        text: URDF of the robot.
        process: process of the robot's robot_state_publisher; None if there is none.
    """

    text: str
    process: subprocess.Popen[bytes] | None = None


class Descriptions:
    """The ``robots`` node. If its private parameter ``state_publisher`` is false, the node publishes the frames itself."""

    def __init__(self) -> None:
        wanted = rospy.get_param("~state_publisher", True)
        found = find_node(_PUBLISHER, _PUBLISHER) if wanted and ros_package(_PUBLISHER) else None
        self._program = found[0] if found else None
        if wanted and self._program is None:
            rospy.logwarn(
                "robot_state_publisher is not installed: this node publishes the frames (apt install ros-robot-state-publisher)"
            )
        self._robots: dict[str, Described] = {}
        self._episode: Episode | None = None
        self._news, self._markers = threading.Event(), RobotMarkers()
        self._static = StaticTransformBroadcaster()
        rospy.Subscriber("task_generator_server/episode", Episode, self._on_episode, queue_size=1)

    def spin(self) -> None:
        """Follow the episodes until the node is shut down."""
        while not rospy.is_shutdown():
            news = self._news.wait(_LOOK)
            self._news.clear()
            if news and self._episode is not None:
                self._follow({robot.name: robot.model for robot in self._episode.robots})
            self._look()

    def _on_episode(self, episode: Episode) -> None:
        self._episode = episode
        self._markers.begin(episode)
        self._news.set()

    def _follow(self, models: dict[str, str]) -> None:
        """Publish descriptions of robots that are new or have another model, and forget robots that are gone."""
        for name in set(self._robots) - set(models):
            self._forget(name)
        for number, (name, model) in enumerate(models.items()):
            try:
                text = urdf(model_of(model), colour_of(number))
            except InputError as error:
                rospy.logerr(f"cannot describe robot {name}: {error}")
                continue
            if name not in self._robots or self._robots[name].text != text:
                self._forget(name)
                rospy.set_param(f"{name}/robot_description", text)
                self._robots[name] = Described(text, self._start(name))
        if self._program is None:
            self._static.sendTransform([t for name, robot in self._robots.items() for t in frames(name, robot.text)])

    def _start(self, name: str) -> subprocess.Popen[bytes] | None:
        if self._program is None:
            return None
        remaps = [f"{topic}:={rospy.resolve_name(topic)}" for topic in ("/tf", "/tf_static", "/clock")]
        names = [f"__name:={_PUBLISHER}", f"__ns:={rospy.resolve_name(name)}", f"_tf_prefix:={name}", "_use_tf_static:=true"]
        return subprocess.Popen([*_WITH_US, self._program, *names, *remaps])

    def _look(self) -> None:
        """Restart publishers that have died."""
        for name, robot in self._robots.items():
            if robot.process is not None and robot.process.poll() is not None and not rospy.is_shutdown():
                rospy.logwarn(f"{name}/{_PUBLISHER} died and was restarted")
                robot.process = self._start(name)

    def _forget(self, name: str) -> None:
        gone = self._robots.pop(name, None)
        if gone is not None and gone.process is not None:
            gone.process.terminate()
            gone.process.wait(5.0)


def frames(name: str, text: str) -> list[TransformStamped]:
    """Return the fixed joints of a URDF as transforms, in which every frame has the prefix ``name/``."""
    made = []
    for joint in Xml.fromstring(text).iter("joint"):
        transform = TransformStamped()
        origin: Any = joint.find("origin")
        roll, pitch, heading = map(float, origin.get("rpy").split())
        transform.header.frame_id = f"{name}/{joint.find('parent').get('link')}"
        transform.child_frame_id = f"{name}/{joint.find('child').get('link')}"
        place = transform.transform.translation
        place.x, place.y, place.z = map(float, origin.get("xyz").split())
        transform.transform.rotation = quaternion(heading, pitch, roll)
        made.append(transform)
    return made
