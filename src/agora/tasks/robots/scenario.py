"""Robots where the world's scenario puts them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from agora.core.state import Doubles
from agora.draft.task import Task
from agora.errors import InputError


@dataclass(frozen=True)
class Scenario:
    """Start and goal poses from the scenario file; one in a wall, or nearer to the border of the map than the robot's radius, is an
    error, as are robots in each other.
    """

    uses: ClassVar = frozenset({"scenario"})

    def place(self, task: Task) -> list[tuple[Doubles, Doubles]]:
        """Return start poses and goals.

        Raises:
            InputError: the world has no scenario.
            PlacementError: a robot would start, or have its goal, in an obstacle or partly off the map; or it would start in
                another one.
        """
        if task.world.scenario is None:
            raise InputError(f"robots mode 'scenario': world {task.map.name!r} has no scenario")
        placed: list[tuple[Doubles, Doubles]] = []
        for number, robot in enumerate(task.world.scenario.robots):
            start, goal = np.asarray(robot.start, float), np.asarray(robot.goal, float)
            task.check_robot(number, start, goal)
            task.check_apart(f"robot {number}", start, [other for other, _ in placed], task.inscribed, "robots", number, "start")
            placed.append((start, goal[None]))
        return placed
