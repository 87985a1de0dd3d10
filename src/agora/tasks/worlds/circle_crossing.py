"""CrowdNav's environment: a robot and people who swap positions across a circle.

C. Chen, Y. Liu, S. Kreiss, A. Alahi, "Crowd-robot interaction: crowd-aware robot navigation with attention-based deep reinforcement
learning", ICRA 2019, and its code (vita-epfl/CrowdNav, crowd_sim/envs/crowd_sim.py), whose cases are reproduced using the same
sequence of random numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from agora.core.state import Doubles
from agora.tasks.worlds.crossing import Crossing, Draw, Taken, clear


@dataclass(frozen=True)
class CircleCrossing(Crossing):
    """A plane around (0, 0) in which the robot drives from (0, -radius) to (0, radius), and people walk to the opposite point on a
    circle.

    A person's start is a random point on the circle plus uniform noise, which is at most half the preferred speed (times 1 s) in
    either direction along each axis. The person's goal is the start mirrored at (0, 0). Starts closer than ``gap`` to anybody's
    start or goal are redrawn. The parameters are the same as in `agora.tasks.worlds.crossing.Crossing`; ``radius`` is also the
    radius of the circle.
    """

    @property
    def called(self) -> str:
        """The name of the world, if it is drawn for every episode."""
        return "circle_crossing"

    @property
    def reach(self) -> float:
        """The radius of the circle plus the maximum noise, m."""
        return self.radius + self.speed[1]

    def way(self, draw: Draw, taken: Taken, speed: float, body: float) -> tuple[Doubles, Doubles]:
        """Return the start (2,) and goal (2,) of a person; the start is clear of everyone's start and goal.

        Raises:
            PlacementError: there is no room.
        """

        def place() -> Doubles:
            angle = draw() * math.pi * 2
            noise = (draw() - 0.5) * speed, (draw() - 0.5) * speed
            return np.array([self.radius * math.cos(angle) + noise[0], self.radius * math.sin(angle) + noise[1]])

        others = [(point, other) for start, goal, other in taken for point in (start, goal)]
        start = clear(place, others, body, self.gap, "on the circle")
        return start, -start
