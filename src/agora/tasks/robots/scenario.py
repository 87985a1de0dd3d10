"""Robots where the world's scenario puts them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agora.core.state import Doubles
from agora.errors import InputError
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
            task.check_free("it", start, "robots", number, "start")
            placed.append((start, goal[None]))
        return placed
