"""Robots at the poses given in the world's scenario."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from agora.core.state import Doubles
from agora.draft.task import Task
from agora.errors import InputError, PlacementError
from agora.ranges import Checked, Distance
from agora.seeds import Stream

_TRIES = 100


@dataclass(frozen=True)
class Scenario(Checked):
    """Robots with start and goal poses from the scenario file. It is an error if a pose is in a wall or closer to the border of the
    map than the robot's radius, or if robots overlap.

    Attributes:
        jitter: maximum shift of each start and each goal, m. The shift is drawn uniformly from a disc for every episode, so that
            episodes of one scenario differ. With 0, the scenario's poses are used.
    """

    jitter: Distance = 0.0

    uses: ClassVar = frozenset({"scenario"})

    def place(self, task: Task) -> list[tuple[Doubles, Doubles]]:
        """Return start poses and goals.

        Raises:
            InputError: the world has no scenario.
            PlacementError: a robot's start or goal would be in an obstacle or partly off the map, or its start would overlap
                another robot.
        """
        if task.world.scenario is None:
            raise InputError(f"robots mode 'scenario': world {task.map.name!r} has no scenario")
        placed: list[tuple[Doubles, Doubles]] = []
        stream = task.stream.branch("jitter")
        for number, robot in enumerate(task.world.scenario.robots):
            start, goal = np.asarray(robot.start, float), np.asarray(robot.goal, float)
            others = [other for other, _ in placed]
            for tried in range(1, _TRIES + 1):
                moved = (self._shifted(start, stream), self._shifted(goal, stream)) if self.jitter else (start, goal)
                try:
                    task.check_robot(number, *moved)
                    task.check_apart(f"robot {number}", moved[0], others, task.inscribed, "robots", number, "start")
                    break
                except PlacementError as error:
                    if not self.jitter:
                        raise
                    if tried == _TRIES:
                        where = f"within the jitter of {self.jitter:g} m around its start and goal"
                        raise PlacementError(
                            f"robot {number}: no room {where} in {_TRIES} tries; the last error: {error}"
                        ) from error
            placed.append((moved[0], moved[1][None]))
        return placed

    def _shifted(self, pose: Doubles, stream: Stream) -> Doubles:
        """Return a pose (3,) shifted to a uniformly drawn point of the jitter disc."""
        distance, angle = self.jitter * math.sqrt(float(stream.uniform())), float(stream.uniform(0.0, math.tau))
        shift: Doubles = np.array([distance * math.cos(angle), distance * math.sin(angle), 0.0])
        return np.add(pose, shift, dtype=np.float64)
