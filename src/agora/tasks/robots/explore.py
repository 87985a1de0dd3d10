"""Robots that get a new random goal whenever they reach a goal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from agora.core.state import Doubles
from agora.draft.task import Task
from agora.errors import PlacementError
from agora.ranges import Checked, Distance, Robots
from agora.tasks.budget import enough_goals
from agora.tasks.robots.random import DEAD_ENDS, Random


@dataclass(frozen=True)
class Explore(Checked):
    """Arena's ``explore``: robots get a new random goal whenever they reach a goal; an episode ends with a time-out or a contact.

    There are more goals than the fastest robot can reach before the time-out.

    Attributes:
        count: number of robots.
        distance: minimum distance between start and goal, and between consecutive goals, m.
    """

    uses: ClassVar = frozenset({"random places"})

    count: Robots = 1
    distance: Distance = 3.0

    def place(self, task: Task) -> list[tuple[Doubles, Doubles]]:
        """Return start poses and first goals.

        Raises:
            PlacementError: there are no positions with the required distance.
        """
        task.later.append(lambda: self._go_on(task))
        return Random(self.count, self.distance).place(task)

    def _go_on(self, task: Task) -> None:
        """Add the remaining goals, which keep clear of obstacles placed in the meantime."""
        count = enough_goals(task, self.distance, task.robots)
        task.robots = [(start, more_goals(task, goals, count, self.distance)) for start, goals in task.robots]


def more_goals(task: Task, first: Doubles, count: int, distance: float, region: Sequence[Doubles] | None = None) -> Doubles:
    """Return ``count`` poses (count, 3): the given poses, followed by random poses.

    Args:
        task: task whose map and robots are already set.
        first: (K, 3) given poses; K must be at least 1.
        count: number of poses.
        distance: minimum distance between consecutive poses, m.
        region: polygons in which the random poses must lie.

    Raises:
        PlacementError: there are no positions with the required distance.
    """
    clearance, last = task.radius + task.safety, first[-1, :2]
    found: list[Doubles] = []
    dead_ends = 0
    while len(first) + len(found) < count:
        missing = count - len(first) - len(found)
        drawn = task.place(clearance, min(max(missing, 16), 256), connected_to=first[-1], region=region)
        before = len(found)
        for point in drawn:
            if len(first) + len(found) < count and np.hypot(*(point - last)) >= distance:
                found.append(np.array([*point, task.stream.uniform(-np.pi, np.pi)]))
                last = point
        if len(found) > before:
            continue
        dead_ends += 1
        found[-1:] = []
        last = found[-1][:2] if found else first[-1, :2]
        if dead_ends > DEAD_ENDS:
            raise PlacementError(f"map {task.map.name!r}: no goal {distance} m or more from {task.map.place(last)}")
    return np.vstack([first, *found])
