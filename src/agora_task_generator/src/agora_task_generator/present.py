"""The current positions of pedestrians and robots. The node subscribes to these topics only in modes that need them, because both
topics have one message per physics step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import rospy

from agora.core.state import Array
from agora_msgs.msg import Pedestrians, Robots

_ROOM = 0.3  # m, clearance to pedestrians for robots that are placed


@dataclass(frozen=True, eq=False)
class Present:
    """The pedestrians at a given instant.

    Attributes:
        id: (K,) ids.
        position: (K, 2) positions, m.
        velocity: (K, 2) velocities, m/s.
        heading: (K,) headings, rad.
        radius: (K,) radii, m.
    """

    id: Array
    position: Array
    velocity: Array
    heading: Array
    radius: Array

    @staticmethod
    def of(message: Any) -> Present:
        """Return the pedestrians that are present according to an ``agora_msgs/Pedestrians`` message; no pedestrians if the message
        is None.
        """
        if message is None:
            return Present(np.zeros(0, np.int32), np.zeros((0, 2)), np.zeros((0, 2)), np.zeros(0), np.zeros(0))
        there = np.frombuffer(bytes(message.present), np.uint8) != 0
        column = {name: np.asarray(getattr(message, name))[there] for name in ("id", "x", "y", "vx", "vy", "heading", "radius")}
        position, velocity = (np.stack([column[a], column[b]], -1).astype(float) for a, b in (("x", "y"), ("vx", "vy")))
        return Present(column["id"], position, velocity, column["heading"], column["radius"])

    def discs(self) -> Array:
        """(K, 3) discs in which there is no room for a robot: x, y and radius, m."""
        return np.column_stack([self.position, self.radius + _ROOM])


class LatestMessages:
    """Stores the latest messages about pedestrians and robots, while switched on."""

    def __init__(self) -> None:
        self._ears: list[Any] = []
        self._people: Any = None
        self._robots: Any = None

    def switch(self, on: bool) -> None:
        """Subscribe to the topics if ``on``, otherwise unsubscribe."""
        if on and not self._ears:
            self._ears = [
                rospy.Subscriber("pedsim_simulator/pedestrians", Pedestrians, self._on_people, queue_size=1, tcp_nodelay=True),
                rospy.Subscriber("simulator/robots", Robots, self._on_robots, queue_size=1, tcp_nodelay=True),
            ]
        elif not on and self._ears:
            for ear in self._ears:
                ear.unregister()
            self._ears, self._people, self._robots = [], None, None

    def _on_people(self, message: Any) -> None:
        self._people = message

    def _on_robots(self, message: Any) -> None:
        self._robots = message

    @property
    def people(self) -> Present:
        """The current pedestrians; none before the first message."""
        return Present.of(self._people)

    @property
    def poses(self) -> dict[int, Array]:
        """The poses (3,) of the robots, keyed by robot index; empty before the first message."""
        last = self._robots
        if last is None:
            return {}
        return {k: np.array([last.x[k], last.y[k], last.heading[k]], float) for k in range(len(last.name))}
