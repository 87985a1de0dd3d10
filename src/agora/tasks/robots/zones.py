"""Robots that stay in certain zones of the map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from agora.core.state import Doubles
from agora.draft.task import Task
from agora.errors import InputError, PlacementError
from agora.ranges import Checked, Distance, Robots
from agora.tasks.budget import enough_goals
from agora.tasks.robots.explore import more_goals
from agora.tasks.roles import areas_of, roles_of

_TRIES = 50


@dataclass(frozen=True)
class Zones(Checked):
    """Arena's ``zones``: a robot with a random role starts in the zones of its role, and gets goals in these zones as in
    ``explore``.

    Attributes:
        file: name of a file in the world's ``zones`` folder, with or without ``.yaml``, or a path, which must contain a slash.
        count: number of robots; each robot's role is drawn.
        distance: minimum distance between start and goal, and between consecutive goals, m.
    """

    uses: ClassVar = frozenset({"random places"})

    file: str = "default"
    count: Robots = 1
    distance: Distance = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.file:
            raise ValueError("file must have a name")

    def place(self, task: Task) -> list[tuple[Doubles, Doubles]]:
        """Return start poses and goals.

        Raises:
            InputError: there is no such file, it is invalid or contains no robots, or the map has no zone of a category.
            PlacementError: there is no room in the zones, or the zones contain no positions with the required distance.
        """
        roles, path = roles_of(task, self.file)
        if not roles.robots:
            raise InputError(f"{path}:1: robots: expected at least one role, got none")
        placed: list[tuple[Doubles, Doubles]] = []
        regions = []
        for _ in range(self.count):
            number = task.stream.integer(0, len(roles.robots) - 1)
            regions.append(areas_of(task, path, "robots", number, roles.robots[number].zones))
            placed.append(self._one(task, regions[-1], [start for start, _ in placed]))
        task.later.append(lambda: self._go_on(task, regions))
        return placed

    def _one(self, task: Task, region: list[Doubles], others: list[Doubles]) -> tuple[Doubles, Doubles]:
        """Return the start and first goal of one robot; the start is redrawn if no goal is far enough from it."""
        clearance = task.radius + task.safety
        keep_out = np.array([[*start[:2], 2 * clearance] for start in others]).reshape(-1, 3)
        failed = None
        for _ in range(_TRIES):
            point = task.place(clearance, 1, keep_out=keep_out, region=region)[0]
            start = np.array([*point, task.stream.uniform(-np.pi, np.pi)])
            try:
                return start, more_goals(task, start[None], 2, self.distance, region)[1:]
            except PlacementError as error:
                failed = error
        raise PlacementError(f"no start found in {_TRIES} tries") from failed

    def _go_on(self, task: Task, regions: list[list[Doubles]]) -> None:
        """Add the remaining goals, which keep clear of obstacles placed in the meantime."""
        count = enough_goals(task, self.distance, task.robots)
        task.robots = [
            (start, more_goals(task, goals, count, self.distance, region))
            for (start, goals), region in zip(task.robots, regions, strict=True)
        ]
