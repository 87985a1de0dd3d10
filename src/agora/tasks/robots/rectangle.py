"""Robots that cross a rectangle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agora.core.state import Doubles
from agora.errors import PlacementError
from agora.tasks.world import Task

_TRIES = 1000


@dataclass(frozen=True)
class Rectangle:
    """Start and goal drawn together until they are far enough apart, as in the environments of AG-RL and TAGA.

    Attributes:
        count: robots.
        corners: x and y of the lower-left and of the upper-right corner, m.
        distance: least distance between start and goal, m.
    """

    count: int = 1
    corners: tuple[float, float, float, float] = (-6.0, -6.0, 6.0, 6.0)
    distance: float = 8.0

    def __post_init__(self) -> None:
        left, low, right, high = self.corners
        if not 1 <= self.count <= 1000:
            raise ValueError(f"count must be in [1, 1000], got {self.count}")
        if not (left < right and low < high):
            raise ValueError(f"corners must be [x, y, x, y], the lower-left one first, got {list(self.corners)}")
        if not 0.0 <= self.distance <= 0.75 * np.hypot(right - left, high - low):
            raise ValueError(f"distance must be at least 0 and at most three quarters of the diagonal, got {self.distance}")

    def place(self, task: Task) -> list[tuple[Doubles, Doubles]]:
        """Return start poses and goals.

        Raises:
            PlacementError: there is no room.
        """
        left, low, right, high = self.corners
        region = [np.array([[left, low], [right, low], [right, high], [left, high]])]
        clearance = task.radius + task.safety
        placed: list[tuple[Doubles, Doubles]] = []
        for _ in range(self.count):
            others = np.array([[*start[:2], 2.0 * clearance] for start, _ in placed]).reshape(-1, 3)
            for _ in range(_TRIES):
                start = task.place(clearance, 1, region=region, keep_out=others)[0]
                goal = task.place(clearance, 1, region=region, connected_to=start)[0]
                if np.hypot(*(goal - start)) >= self.distance:
                    break
            else:
                raise PlacementError(f"no start and goal {self.distance} m apart in {_TRIES} tries")
            start_heading, goal_heading = task.stream.uniform(-np.pi, np.pi, 2)
            placed.append((np.array([*start, start_heading]), np.array([[*goal, goal_heading]])))
        return placed
