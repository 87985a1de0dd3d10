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
"""Places from which no other is far enough, such as the middle of a crossing, given up for others."""


@dataclass(frozen=True)
class Random(Checked):
    """Start and goals are drawn from the free space that is connected for the robot.

    Attributes:
        count: robots.
        distance: smallest distance between start and goal, and between consecutive goals, m.
        goals: number of consecutive goals; with many, a robot keeps driving until the time-out (Arena's ``explore``).
    """

    uses: ClassVar = frozenset({"random places"})

    count: Robots = 1
    distance: Distance = 5.0
    goals: Count = 1

    def place(self, task: Task) -> list[tuple[Doubles, Doubles]]:
        """Return start poses and goals.

        Raises:
            PlacementError: no places so far apart.
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
        """Start and goals; a place from which no other is far enough is given up for another one."""
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
        raise PlacementError(f"map {task.map.name!r}: no goal {self.distance} m from {task.map.place(point)} in {_TRIES} tries")


def _recorded(task: Task, clearance: float) -> Doubles:
    """Discs (K, 3) about the recorded pedestrians of the world who are there at the start."""
    if task.world.replay is None:
        return np.zeros((0, 3))
    now = task.world.replay.at(0.0)
    there = now.position[now.present]
    return np.column_stack([there, np.full(len(there), task.world.replay_radius + clearance)])
