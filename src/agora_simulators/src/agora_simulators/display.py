"""Publishes the messages of the simulator node: each step once, and the status of the episode whenever it changes."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

import numpy as np
import rospy
from agora_ros.conversions import stamp_of, to_robots
from agora_ros.parameters import queue_size
from geometry_msgs.msg import Pose2D
from tf2_msgs.msg import TFMessage

from agora.node_logic.driver import Driver
from agora_msgs.msg import Contact, EpisodeStatus, Robots, RobotStatus
from agora_simulators.clock import SimulationClock
from agora_simulators.robots import RobotTopics


class Display:
    """The topics of a driver and of its robots.

    Args:
        driver: driver whose world is published.
        news: condition that is notified at every command for a robot.

    Attributes:
        clock: clock that stamps the messages.
        topics: topics of the robots, keyed by robot name.
        robots: robots message of the last published step.
    """

    def __init__(self, driver: Driver, news: threading.Condition) -> None:
        self._driver, self._news = driver, news
        self._passes = "step" not in driver.can
        self.clock = SimulationClock()
        self.topics: dict[str, RobotTopics] = {}
        self.robots = Robots()
        self._shown, self._status = -1, tuple[Any, ...]()
        publisher = rospy.Publisher
        self._robots = publisher("simulator/robots", Robots, queue_size=queue_size(100), tcp_nodelay=True)
        self._standing = publisher("simulator/status", EpisodeStatus, queue_size=10, latch=True)
        self._contacts = publisher("simulator/contacts", Contact, queue_size=queue_size(100))
        self._frames = publisher("/tf", TFMessage, queue_size=queue_size(100), tcp_nodelay=True)
        self._fixed = publisher("/tf_static", TFMessage, queue_size=10, latch=True)

    @property
    def is_shown(self) -> bool:
        """True if the current step has already been published."""
        return self._shown == self._driver.step

    def stamp(self) -> Any:
        """The stamp of the current step."""
        return stamp_of(self._driver.step, self._driver.dt, self._driver.began)

    def begin(self) -> None:
        """Begin an episode at its first stamp."""
        self._shown = -1
        self.clock.tell(self.stamp())
        for r, name in enumerate(self._driver.names):
            self.topics[name].tell_start(self._driver.robots, r, self.stamp())

    def adopt_robots(self) -> dict[str, int]:
        """Create topics for the driver's robots, remove the topics of all other robots, and return the number of commands that each
        robot has received so far.
        """
        here = dict(zip(self._driver.names, self._driver.models, strict=True))
        for name in [name for name, topics in self.topics.items() if here.get(name) != topics.model]:
            self.topics.pop(name).close()
        for name, model in here.items():
            if name not in self.topics:
                self.topics[name] = RobotTopics(name, model, self._news)
            self.topics[name].forget()
        self._fixed.publish(TFMessage([frame for name in here for frame in self.topics[name].frames()]))
        return {name: self.topics[name].received for name in here}

    def show(self, *, ticks: bool) -> None:
        """Publish the messages that are due at the current step, once, and the time if the clock ``ticks``."""
        if self.is_shown:
            return
        driver, stamp = self._driver, self.stamp()
        self._shown, robots, touching = driver.step, driver.robots, driver.touching()
        self.clock.tell(stamp, ticks=ticks)
        radius = np.array([model.radius for model in driver.models], np.float32)
        self.robots = _headed(to_robots(robots, radius, list(driver.names), driver.step, driver.commands), stamp)
        self._robots.publish(self.robots)
        frames = []
        for r, name in enumerate(driver.names):
            if robots.active[0, r]:
                frames.append(self.topics[name].show(robots, r, stamp))
            self.topics[name].show_contact(bool(touching[r]))
        if frames and self._frames.get_num_connections():
            self._frames.publish(TFMessage(frames))
        for reading in driver.readings():
            taken = stamp_of(0, driver.dt, driver.began + reading.time) if self._passes else stamp
            self.topics[driver.names[reading.robot]].show_scan(reading.ranges, reading.lidar, taken)
        if "rgbd" in driver.can:
            for r, name in enumerate(driver.names):
                if (camera := self.topics[name].camera) is not None and robots.active[0, r]:
                    camera.show(partial(driver.look, r), stamp)
        for r, contact in driver.contacts():
            where = {"time": contact.time, "x": contact.x, "y": contact.y}
            self._contacts.publish(_headed(Contact(robot=driver.names[r], kind=contact.kind, party=contact.party, **where), stamp))

    def tell_status(self, episode: Any, interrupted: str) -> None:
        """Publish the status of the episode if it has changed; ``interrupted`` is the reason for an interruption, empty if there
        was none.
        """
        driver = self._driver
        standing, done = tuple(driver.standing()), driver.done
        now = (episode.number, episode.entry, driver.began, done, interrupted, driver.names, standing)
        if now == self._status:
            return
        self._status = now
        robots = [
            RobotStatus(
                name, s.ended, s.goal, s.outcome, s.end_time, s.clipped, s.contacts, s.failure, Pose2D(*s.target), s.by_hand
            )
            for name, s in zip(driver.names, standing, strict=True)
        ]
        message = EpisodeStatus(
            number=episode.number, entry=episode.entry, seed=episode.seed, step=driver.step,
            running=bool(episode.entry) and not done and not interrupted, done=done,
            interrupted=bool(interrupted), reason=interrupted, robots=robots,
        )  # fmt: skip
        self._standing.publish(_headed(message, self.stamp()))


def _headed(message: Any, stamp: Any) -> Any:
    """Return a message with its stamp set and the map frame as its frame."""
    message.header.stamp, message.header.frame_id = stamp, "map"
    return message
