"""Robots that swap positions across a circle.

P. Long, T. Fan, X. Liao, W. Liu, H. Zhang, J. Pan, "Towards optimally decentralized multi-robot collision avoidance via deep
reinforcement learning", ICRA 2018.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from agora.core.state import Doubles
from agora.draft.task import Task
from agora.errors import PlacementError
from agora.ranges import Chance, Checked, Robots, Within

_TRIES = 1000


@dataclass(frozen=True)
class Circle(Checked):
    """Robots on a circle around the centre of the map, facing the centre, with goals on the opposite side.

    The distance between starts, and between goals, leaves room for the robots' outlines plus twice the stage's ``safety``.

    Attributes:
        count: number of robots.
        radius: minimum and maximum radius of the circle, m; if they differ, the radius is drawn.
        noise: maximum deviation of starts and goals along each axis, m.
        even: whether the angles between neighbouring robots are equal and only the first robot's angle is random; otherwise all
            angles are random.
        scattered: fraction of the episodes in which robots start anywhere in the disc with random headings, and have goals anywhere
            in the disc, more than one disc radius from their starts.
    """

    uses: ClassVar = frozenset({"random places"})

    count: Robots = 4
    radius: tuple[float, float] = (8.0, 8.0)
    noise: Annotated[float, Within(0.0, 500.0)] = 0.0
    even: bool = True
    scattered: Chance = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.1 <= self.radius[0] <= self.radius[1] <= 500.0:
            raise ValueError(f"radius: must be [min, max] in [0.1, 500], got {list(self.radius)}")

    def unread(self) -> dict[str, str]:
        """Return the parameters that have no effect given the other parameters, and the reasons."""
        return dict.fromkeys(("noise", "even"), "with scattered: 1") if self.scattered == 1 else {}

    def place(self, task: Task) -> list[tuple[Doubles, Doubles]]:
        """Return start poses and goals.

        Raises:
            PlacementError: there is no room on the circle, or in the disc.
        """
        low, high = self.radius
        radius = low if low == high else float(task.stream.uniform(low, high))
        scattered = self.scattered > 0.0 and float(task.stream.uniform()) < self.scattered
        turn = float(task.stream.uniform(-math.pi, math.pi))
        placed: list[tuple[Doubles, Doubles]] = []
        for robot in range(self.count):
            placed.append(self._apart(task, radius, None if scattered else turn + math.tau * robot / self.count, placed))
        return [(start, goal[None]) for start, goal in placed]

    def _apart(
        self, task: Task, radius: float, angle: float | None, others: list[tuple[Doubles, Doubles]]
    ) -> tuple[Doubles, Doubles]:
        """Return a start and a goal of a robot that keep enough distance from the starts and goals of the other robots."""
        clearance = task.radius + task.safety
        for _ in range(_TRIES):
            pair = self._scattered(task, radius) if angle is None else self._across(task, radius, angle)
            near = any(math.dist(a[:2], b[:2]) < 2.0 * clearance for other in others for a, b in zip(pair, other, strict=True))
            if not near and task.allows(np.array(pair)[:, :2], clearance).all():
                return pair
        raise PlacementError(
            f"map {task.map.name!r}: no room for {self.count} robots on a circle of radius {radius:.3g} m, in {_TRIES} tries"
        )

    def _across(self, task: Task, radius: float, angle: float) -> tuple[Doubles, Doubles]:
        angle = angle if self.even else float(task.stream.uniform(-math.pi, math.pi))
        out = radius * np.array([math.cos(angle), math.sin(angle)])
        off = task.stream.uniform(-self.noise, self.noise, (2, 2))
        heading = angle + math.pi
        return _pose(task, out + off[0], heading), _pose(task, off[1] - out, heading)

    def _scattered(self, task: Task, radius: float) -> tuple[Doubles, Doubles]:
        while True:
            places = radius * task.stream.uniform(-1.0, 1.0, (2, 2))
            if (np.hypot(*places.T) <= radius).all() and math.dist(*places) >= radius:
                break
        headings = task.stream.uniform(-math.pi, math.pi, (2,))
        return _pose(task, places[0], headings[0]), _pose(task, places[1], headings[1])


def _pose(task: Task, from_middle: Doubles, heading: float) -> Doubles:
    """Return a pose, given its position relative to the centre of the map."""
    place = np.asarray(task.map.origin) + 0.5 * np.asarray(task.map.size) + from_middle
    return np.array([*place, math.remainder(heading, math.tau)])
