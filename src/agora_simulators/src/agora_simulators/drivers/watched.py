"""A robot in the world of a foreign simulator, as far as it is known: where it was seen, what it saw, and the doors to it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import rospy

from agora.core.state import Floats
from agora.nodes.driver import Reading
from agora.nodes.track import Sighting, Track
from agora.robots.model import RobotModel


@dataclass
class Watched:
    """One robot; times are the simulator's.

    Attributes:
        name: as ROS spells it. model: what it is. scan_period: s. track: where it was seen.
        alive: s of the wall's clock at which it told that last. doors: its topics. command: the one that tells it twists.
    """

    name: str
    model: RobotModel
    scan_period: float
    track: Track
    alive: float = field(default_factory=time.monotonic)
    doors: tuple[Any, ...] = ()
    command: rospy.Publisher | None = None

    def see(self, sighting: Sighting) -> None:
        """Take what its odometry told."""
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
            rospy.logwarn_throttle(10.0, f"a scan of {self.name} has {len(ranges)} beams, not {lidar.beams}; left out")
            return None
        seen = np.where(np.isfinite(ranges), ranges, lidar.range_max)
        return Reading(number, taken, np.clip(seen, lidar.range_min, lidar.range_max), lidar)

    def close(self) -> None:
        """Hear and tell nothing any more."""
        for door in self.doors:
            door.unregister()
