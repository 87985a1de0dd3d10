"""Publishes the task generator's announcements: the topics and parameters of a reset, and the goal of each robot."""

from __future__ import annotations

from typing import Any

import rospy
from agora_ros.conversions import quaternion
from geometry_msgs.msg import PoseStamped
from std_msgs.msg import Empty, Int16

from agora.maps.grid import Map
from agora_msgs.msg import Episode, EpisodeStatus

_LARGEST = 2**15  # range of std_msgs/Int16; reset numbers wrap around after it


class Announcements:
    """The publishers of the task generator. Goals are latched, and published again only if they change."""

    def __init__(self) -> None:
        self._start = rospy.Publisher("reset_start", Empty, queue_size=10)
        self._end = rospy.Publisher("reset_end", Empty, queue_size=10)
        self._number = rospy.Publisher("scenario_reset", Int16, queue_size=10, latch=True)
        self._finished = rospy.Publisher("scenario_finished", Empty, queue_size=1, latch=True)
        self._episode = rospy.Publisher("task_generator_server/episode", Episode, queue_size=1, latch=True)
        self._given_up = rospy.Publisher("task_generator_server/given_up", EpisodeStatus, queue_size=10, latch=True)
        self._goal = rospy.Publisher("goal", PoseStamped, queue_size=10, latch=True)
        self._goals: dict[str, Any] = {}

    def begin(self) -> None:
        """Announce that a reset begins."""
        self._start.publish()
        rospy.set_param("resetting", True)

    def end(self, episode: Episode, place: Map) -> None:
        """Announce that a reset is complete: all nodes have loaded the episode and its map."""
        names = [robot.name for robot in episode.robots]
        rospy.set_param("robot_names", names)
        rospy.set_param("map_offset", list(place.offset))
        for name in set(self._goals) - set(names):
            self._goals.pop(name).unregister()
        for robot in episode.robots:
            rospy.set_param(f"{robot.name}/start", [robot.pose.x, robot.pose.y, robot.pose.theta])
            self.goal(robot.name, robot.goals[0], first=robot is episode.robots[0])
        self._episode.publish(episode)
        self._number.publish(episode.number % _LARGEST)
        self._end.publish()
        rospy.set_param("resetting", False)

    def goal(self, robot: str, pose: Any, first: bool) -> None:
        """Announce a robot's new goal, a ``geometry_msgs/Pose2D``; ``first`` is True for the first robot."""
        if robot not in self._goals:
            self._goals[robot] = rospy.Publisher(f"{robot}/move_base_simple/goal", PoseStamped, queue_size=10, latch=True)
        message = PoseStamped()
        message.header.stamp, message.header.frame_id = rospy.Time.now(), "map"
        message.pose.position.x, message.pose.position.y = pose.x, pose.y
        message.pose.orientation = quaternion(pose.theta)
        rospy.set_param(f"{robot}/goal", [pose.x, pose.y, pose.theta])
        self._goals[robot].publish(message)
        if first:
            self._goal.publish(message)

    def given_up(self, episode: Episode, reason: str) -> None:
        """Announce that an episode has been given up because it was interrupted too often."""
        status = EpisodeStatus(number=episode.number, entry=episode.entry, seed=episode.seed, interrupted=True, reason=reason)
        status.header.stamp = rospy.Time.now()
        self._given_up.publish(status)

    def finished(self) -> None:
        """Announce that all episodes have been run."""
        self._finished.publish()
