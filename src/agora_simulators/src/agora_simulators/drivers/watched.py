"""A robot in the world of a foreign simulator, as far as it is known: its track, its scans, and its topics."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import rospy

from agora.core.state import Floats
from agora.node_logic.driver import Reading
from agora.node_logic.track import Sighting, Track
from agora.robots.model import RobotModel


@dataclass
class Watched:
    """A robot under observation; times are the simulator's.

    Attributes:
        name: name as ROS spells it.
        model: model of the robot.
        scan_period: time between two scans, s.
        track: track of the sightings.
        alive: time of the last odometry on the wall's clock, s.
        topics: subscribers and publishers of the robot.
        command: publisher of its twists.
    """

    name: str
    model: RobotModel
    scan_period: float
    track: Track
    alive: float = field(default_factory=time.monotonic)
    topics: tuple[Any, ...] = ()
    command: rospy.Publisher | None = None

    def see(self, sighting: Sighting) -> None:
        """Take a sighting from its odometry."""
        self.track.see(sighting)
        self.alive = time.monotonic()

    def reading(self, number: int, taken: float, ranges: Floats) -> Reading | None:
        """A scan of the robot of a number, taken so many s after the episode's beginning; None where it is none of its lidar.

        What saw nothing reads the lidar's range.
        """
        lidar = self.model.lidar
        if lidar is None:
            return None
        if len(ranges) != lidar.beams:
            rospy.logwarn_throttle(10.0, f"a scan of {self.name} has {len(ranges)} beams, not {lidar.beams}; skipped")
            return None
        seen = np.where(np.isfinite(ranges), ranges, lidar.range_max)
        return Reading(number, taken, np.clip(seen, lidar.range_min, lidar.range_max), lidar)

    def close(self) -> None:
        """Unregister the topics."""
        for topic in self.topics:
            topic.unregister()
