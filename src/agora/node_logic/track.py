"""The track of a robot: its odometry with time stamps."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from agora.core.state import Doubles, Floats

__all__ = ["Sighting", "Track"]

_SAME = 1e-6  # s; closer times count as equal


class Sighting(NamedTuple):
    """A measurement of a robot's state at a given instant.

    Attributes:
        time: time of the measurement, s.
        pose: (3,) x, y and heading, m and rad.
        twist: (3,) vx, vy and omega in the robot's frame, m/s and rad/s.
    """

    time: float
    pose: Doubles
    twist: Floats


class Track:
    """The latest sightings of a robot, which begin with the robot at rest.

    Args:
        time: time of the first sighting, s.
        pose: (3,) x, y and heading at the first sighting, m and rad.
    """

    def __init__(self, time: float, pose: Doubles) -> None:
        self._seen = deque([Sighting(time, np.array(pose, float), np.zeros(3, np.float32))])

    @property
    def last(self) -> Sighting:
        """The last sighting."""
        return self._seen[-1]

    def see(self, sighting: Sighting) -> None:
        """Add a sighting; sightings that are not later than the last one are ignored."""
        if sighting.time > self.last.time + _SAME:
            self._seen.append(sighting)

    def at(self, time: float) -> Sighting:
        """Return the pose and twist at a time (in seconds), interpolated between the neighbouring sightings or taken from the
        nearest sighting; older sightings are dropped.
        """
        while len(self._seen) > 1 and self._seen[1].time <= time + _SAME:
            self._seen.popleft()
        before = self._seen[0]
        if len(self._seen) == 1 or time <= before.time + _SAME:
            return before
        after = self._seen[1]
        share = (time - before.time) / (after.time - before.time)
        way = after.pose - before.pose
        way[2] = np.arctan2(np.sin(way[2]), np.cos(way[2]))
        pose = before.pose + share * way
        pose[2] = np.arctan2(np.sin(pose[2]), np.cos(pose[2]))
        twist = before.twist + np.float32(share) * (after.twist - before.twist)
        return Sighting(time, pose, twist)
