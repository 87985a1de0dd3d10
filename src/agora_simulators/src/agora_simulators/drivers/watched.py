"""The data about a robot in an external simulator: its track, scans and topics."""

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
    """An observed robot; times are on the simulator's clock.

    Attributes:
        name: name of the robot in ROS.
        model: model of the robot.
        scan_period: time between two scans, s.
        track: track of the sightings.
        alive: wall time of the last odometry, s.
        topics: subscribers and publishers of the robot.
        command: publisher of the robot's twists.
    """

    name: str
    model: RobotModel
    scan_period: float
    track: Track
    alive: float = field(default_factory=time.monotonic)
    topics: tuple[Any, ...] = ()
    command: rospy.Publisher | None = None

    def see(self, sighting: Sighting) -> None:
        """Add a sighting from the robot's odometry."""
        self.track.see(sighting)
        self.alive = time.monotonic()

    def reading(self, number: int, taken: float, ranges: Floats) -> Reading | None:
        """Return a scan of this robot as a reading, given the robot's index and the time of the scan since the episode began, s;
        None if the scan does not match the robot's lidar.

        Beams that hit nothing read the lidar's maximum range.
        """
        lidar = self.model.lidar
        if lidar is None:
            return None
        if len(ranges) != lidar.beams:
            rospy.logwarn_throttle(10.0, f"a scan of {self.name} has {len(ranges)} beams, expected {lidar.beams}; skipped")
            return None
        seen = np.where(np.isfinite(ranges), ranges, lidar.range_max)
        return Reading(number, taken, np.clip(seen, lidar.range_min, lidar.range_max), lidar)

    def close(self) -> None:
        """Unregister the topics."""
        for topic in self.topics:
            topic.unregister()
