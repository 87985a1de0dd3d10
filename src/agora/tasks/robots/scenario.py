"""Robots where the world's scenario puts them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agora.core.state import Doubles
from agora.errors import InputError, PlacementError
from agora.tasks.world import Task


@dataclass(frozen=True)
class Scenario:
    """Start and goal poses from the scenario file; a start inside a wall is an error."""

    def place(self, task: Task) -> list[tuple[Doubles, Doubles]]:
        """Return start poses and goals.

        Raises:
            InputError: the world has no scenario.
            PlacementError: a robot would start inside an obstacle.
        """
        if task.world.scenario is None:
            raise InputError(f"robots mode 'scenario': world {task.map.name!r} has no scenario")
        placed = []
        for number, robot in enumerate(task.world.scenario.robots):
            start, goal = np.asarray(robot.start, float), np.asarray(robot.goal, float)
            if not task.map.contains(start[:2]):
                raise PlacementError(f"robot {number} starts at ({start[0]:.2f}, {start[1]:.2f}), outside map {task.map.name!r}")
            gap = float(task.map.gap(start[None, :2], limit=task.radius)[0])
            if gap <= 0.0:
                raise PlacementError(
                    f"robot {number} starts at ({start[0]:.2f}, {start[1]:.2f}), inside an obstacle of {task.map.name!r}"
                )
            placed.append((start, goal[None]))
        return placed
