"""Robots at random places, with random goals that they can reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from agora.core.state import Doubles
from agora.draft.task import Task
from agora.errors import PlacementError
from agora.ranges import Checked, Count, Distance, Robots

_TRIES = 200
DEAD_ENDS = 20
"""Maximum number of positions that are redrawn because no goal is far enough away, such as the middle of a crossing."""


@dataclass(frozen=True)
class Random(Checked):
    """Robots whose start and goals are drawn from the connected free space for the robots' size.

    Attributes:
        count: number of robots.
        distance: minimum distance between start and goal, and between consecutive goals, m.
        goals: number of consecutive goals; with many goals, a robot keeps driving until the time-out (Arena's ``explore``).
    """

    uses: ClassVar = frozenset({"random places"})

    count: Robots = 1
    distance: Distance = 5.0
    goals: Count = 1

    def place(self, task: Task) -> list[tuple[Doubles, Doubles]]:
        """Return start poses and goals.

        Raises:
            PlacementError: there are no positions with the required distance.
        """
        clearance = task.radius + task.safety
        recorded = _recorded(task, clearance)
        starts = task.place(clearance, self.count, apart=2 * clearance, keep_out=recorded)
        placed = []
        for robot in range(self.count):
            others = np.delete(starts, robot, axis=0)
            keep_out = np.vstack([recorded, np.column_stack([others, np.full(len(others), 2 * clearance)])])
            way = self._way(task, clearance, starts[robot], keep_out)
            starts[robot] = way[0]
            headings = task.stream.uniform(-np.pi, np.pi, (len(way),))
            poses = np.column_stack([way, headings])
            placed.append((poses[0], poses[1:]))
        return placed

    def _way(self, task: Task, clearance: float, start: Doubles, keep_out: Doubles) -> list[Doubles]:
        """Return the start and the goals; a position is redrawn if no goal is far enough from it."""
        way, dead_ends = [start], 0
        while len(way) <= self.goals:
            try:
                way.append(self._far_from(task, clearance, way[-1]))
            except PlacementError:
                dead_ends += 1
                if dead_ends > DEAD_ENDS:
                    raise
                way.pop()
                if not way:
                    way.append(task.place(clearance, 1, keep_out=keep_out)[0])
        return way

    def _far_from(self, task: Task, clearance: float, point: Doubles) -> Doubles:
        for _ in range(_TRIES):
            goal: Doubles = task.place(clearance, 1, connected_to=point)[0]
            if np.hypot(*(goal - point)) >= self.distance:
                return goal
        raise PlacementError(
            f"map {task.map.name!r}: no goal {self.distance} m or more from {task.map.place(point)} in {_TRIES} tries"
        )


def _recorded(task: Task, clearance: float) -> Doubles:
    """Return discs (K, 3) around the recorded pedestrians of the world who are present at the start."""
    if task.world.replay is None:
        return np.zeros((0, 3))
    now = task.world.replay.at(0.0)
    there = now.position[now.present]
    return np.column_stack([there, np.full(len(there), task.world.replay_radius + clearance)])
