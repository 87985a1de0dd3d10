"""Where a robot was, and when: its odometry by the moments at which that was measured."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from agora.core.state import Doubles, Floats

__all__ = ["Sighting", "Track"]

_SAME = 1e-6  # s: two moments that are nearer are one


class Sighting(NamedTuple):
    """What was measured at one moment.

    Attributes:
        time: s. pose: (3,) x, y, heading. twist: (3,) in the robot's frame.
    """

    time: float
    pose: Doubles
    twist: Floats


class Track:
    """The latest sightings of a robot; it begins with the robot at rest.

    Args:
        time: s. pose: (3,) x, y, heading.
    """

    def __init__(self, time: float, pose: Doubles) -> None:
        self._seen = deque([Sighting(time, np.array(pose, float), np.zeros(3, np.float32))])

    @property
    def last(self) -> Sighting:
        """What was seen last."""
        return self._seen[-1]

    def see(self, sighting: Sighting) -> None:
        """Add a sighting; one that is no later than the last tells nothing new."""
        if sighting.time > self.last.time + _SAME:
            self._seen.append(sighting)

    def at(self, time: float) -> Sighting:
        """Pose and twist at a moment, s: evenly between the sightings around it, else the nearest; what was before is forgotten."""
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
