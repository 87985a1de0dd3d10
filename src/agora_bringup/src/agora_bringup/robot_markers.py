"""Shows the robots in RViz: each robot's outline and name in its own colour."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import rospy
from agora_ros.conversions import from_episode, model_of, quaternion
from agora_ros.names import ros_name
from geometry_msgs.msg import Point, Pose, Vector3
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from agora.core.state import Doubles
from agora.errors import InputError
from agora.robots.body import body
from agora.robots.model import RobotModel
from agora_bringup.windows import colour_of, view_scale
from agora_msgs.msg import Episode, Robots

_EVERY = 0.1  # s of wall time between two messages
_KEPT = rospy.Duration(1.0)
_LINE = 0.05  # m
_LETTERS, _LEGIBLE = 0.28, 14.0  # height of letters, m, and minimum height in a view of the whole map, pixels
_CORNERS = 32  # number of corners with which a disc is drawn


class RobotMarkers(rospy.SubscribeListener):  # type: ignore[misc]
    """Publishes ``robot_markers``, and subscribes to the robots' poses only while the markers are displayed."""

    def __init__(self) -> None:
        self._models: dict[str, RobotModel] = {}
        self._letters, self._said, self._poses, self._ends = _LETTERS, 0.0, None, threading.Lock()
        self._publisher = rospy.Publisher("robot_markers", MarkerArray, queue_size=1, subscriber_listener=self)
        rospy.on_shutdown(self._close)

    def _close(self) -> None:
        """Stop publishing, because topics are about to be closed."""
        with self._ends:
            self._said = math.inf

    def begin(self, episode: Episode) -> None:
        """Show the robots of an episode."""
        models = {}
        for robot in episode.robots:
            try:
                models[robot.name] = model_of(robot.model)
            except InputError:  # the node that describes robots reports this
                continue
        if episode.resolved:
            self._letters = max(_LETTERS, _LEGIBLE / view_scale(from_episode(episode)[0].map))
        self._models = models

    def peer_subscribe(self, topic_name: str, topic_publish: Any, peer_publish: Any) -> None:
        """Subscribe to the robots when the markers are first displayed."""
        if self._poses is None:
            self._poses = rospy.Subscriber("simulator/robots", Robots, self._show, queue_size=1, tcp_nodelay=True)

    def peer_unsubscribe(self, topic_name: str, num_peers: int) -> None:
        """Unsubscribe when the markers are no longer displayed."""
        if num_peers == 0 and self._poses is not None:
            self._poses.unregister()
            self._poses = None

    def _show(self, robots: Any) -> None:
        with self._ends:
            if time.monotonic() - self._said >= _EVERY:
                self._said = time.monotonic()
                self._publisher.publish(MarkerArray(self._drawn(robots)))

    def _drawn(self, robots: Any) -> list[Marker]:
        models, drawn = self._models, list[Marker]()
        for r, name in enumerate(robots.name):
            if name in models and robots.active[r]:
                number = list(models).index(name)
                drawn += markers(name, number, models[name], (robots.x[r], robots.y[r]), self._letters)
        return drawn


def markers(name: str, number: int, model: RobotModel, place: Sequence[float], letters: float) -> list[Marker]:
    """Return two markers: the outline of a robot, which moves with the robot's frame, and the name next to the robot.

    Args:
        name: name of the robot.
        number: index of the robot in the episode, which determines the colour.
        model: model of the robot.
        place: x and y of the robot in the map frame, m.
        letters: height of the letters, m.
    """
    colour = ColorRGBA(*colour_of(number), 1.0)
    frame = f"{ros_name(name)}/{model.base_frame}"
    line = Marker(header=Header(frame_id=frame), ns="outlines", id=number, type=Marker.LINE_STRIP, color=colour)
    line.frame_locked, line.lifetime, line.scale = True, _KEPT, Vector3(_LINE, 0.0, 0.0)
    line.pose = Pose(Point(0.0, 0.0, body(model).scan_height + _LINE), quaternion(0.0))
    line.points = [Point(float(x), float(y), 0.0) for x, y in outline(model)]
    word = Marker(header=Header(frame_id="map"), ns="robot_names", id=number, type=Marker.TEXT_VIEW_FACING, color=colour)
    word.text, word.lifetime, word.scale = name, _KEPT, Vector3(0.0, 0.0, letters)
    word.pose = Pose(Point(place[0], place[1] + model.radius + letters, body(model).scan_height + letters), quaternion(0.0))
    return [line, word]


def outline(model: RobotModel) -> Doubles:
    """Return the closed outline (K, 2) of a robot in its frame, m."""
    if model.footprint:
        corners = np.array(model.footprint, np.float64)
    else:
        turn = np.arange(_CORNERS) * (math.tau / _CORNERS)
        corners = model.radius * np.stack([np.cos(turn), np.sin(turn)], -1)
    return np.vstack([corners, corners[:1]])
