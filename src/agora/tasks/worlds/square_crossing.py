"""CrowdNav's second environment: a robot, and people who walk from one half of a square to the other half.

The environment is defined by the code of C. Chen, Y. Liu, S. Kreiss, A. Alahi, ICRA 2019 (vita-epfl/CrowdNav,
crowd_sim/envs/crowd_sim.py, ``square_crossing``). The cases in this code are reproduced using the same sequence of random numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from agora.core.state import Doubles
from agora.ranges import Within
from agora.tasks.worlds.crossing import Crossing, Draw, Taken, clear


@dataclass(frozen=True)
class SquareCrossing(Crossing):
    """A plane around (0, 0) in which the robot drives from (0, -radius) to (0, radius), and people walk across the middle of a
    square.

    A person starts anywhere in the left or right half of the square, and has a goal anywhere in the other half. Starts closer than
    ``gap`` to anybody's start are redrawn, and so are goals closer than ``gap`` to anybody's goal. A start may coincide with
    someone's goal. The other parameters are the same as in `agora.tasks.worlds.crossing.Crossing`.

    Attributes:
        side: side length of the square, m.
    """

    side: Annotated[float, Within(1.0, 200.0)] = 10.0

    @property
    def called(self) -> str:
        """The name of the world, if it is drawn for every episode."""
        return "square_crossing"

    @property
    def reach(self) -> float:
        """Half the side length of the square, m."""
        return 0.5 * self.side

    def way(self, draw: Draw, taken: Taken, speed: float, body: float) -> tuple[Doubles, Doubles]:
        """Return a person's start (2,), which is clear of everyone's start, and goal (2,), which is clear of everyone's goal.

        Raises:
            PlacementError: there is no room.
        """
        half = -1.0 if draw() > 0.5 else 1.0

        def place(sign: float) -> Doubles:
            return np.array([draw() * self.side * 0.5 * sign, (draw() - 0.5) * self.side])

        starts, goals = [(start, other) for start, _, other in taken], [(goal, other) for _, goal, other in taken]
        start = clear(lambda: place(half), starts, body, self.gap, "for a start in the square")
        return start, clear(lambda: place(-half), goals, body, self.gap, "for a goal in the square")
