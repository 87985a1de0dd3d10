"""Pedestrians and static discs at random places."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from agora.core.state import Doubles
from agora.pedestrians.types import pedestrian_types
from agora.seeds import Stream
from agora.tasks.placement import place
from agora.tasks.world import Person, Task

_MOST = 10_000
_RING = 0.8  # distance between members of a group at the start, m


@dataclass(frozen=True)
class Random:
    """Uniformly drawn numbers of pedestrians and static obstacles.

    Types and reactions of the pedestrians are drawn by the shares of the suite's ``people``, in a stream of their own: other shares
    leave the places as they are while the sizes are the same. A group walks at the pace of its slowest type.

    Attributes:
        dynamic: least and most pedestrians.
        static: least and most static discs; static_radius: their smallest and largest radius, m.
        waypoints: of each pedestrian; the start is the last of them.
        clearance: of starts and waypoints to walls, m.
        keep_clear: distance between robots' starts or goals and pedestrians' starts or static discs, m.
        group_size: least and most members of a walking group, who share their waypoints; 1, 1 for none.
    """

    dynamic: tuple[int, int] = (0, 0)
    static: tuple[int, int] = (0, 0)
    static_radius: tuple[float, float] = (0.2, 0.5)
    waypoints: int = 2
    clearance: float = 0.5
    keep_clear: float = 1.5
    group_size: tuple[int, int] = (1, 1)

    def __post_init__(self) -> None:
        for name in ("dynamic", "static", "group_size"):
            low, high = getattr(self, name)
            if not (1 if name == "group_size" else 0) <= low <= high <= _MOST:
                raise ValueError(f"{name} must be [least, most], at most {_MOST}, got {[low, high]}")
        if not 0 < self.static_radius[0] <= self.static_radius[1]:
            raise ValueError(f"static_radius must be [smallest, largest] above 0, got {list(self.static_radius)}")
        if not 1 <= self.waypoints <= _MOST:
            raise ValueError(f"waypoints must be in [1, {_MOST}], got {self.waypoints}")
        for name in ("clearance", "keep_clear"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must be at least 0, got {getattr(self, name)}")

    def place(self, task: Task) -> None:
        """Put pedestrians and discs into the task."""
        taken = [np.array([*place_, self.keep_clear]) for start, goals in task.robots for place_ in (start[:2], *goals[:, :2])]
        self._static(task, np.array(taken).reshape(-1, 3))
        starts = np.array([np.array([*start[:2], self.keep_clear]) for start, _ in task.robots]).reshape(-1, 3)
        count = task.stream.integer(*self.dynamic)
        group, people = 0, task.stream.branch("people")
        while count > 0:
            size = min(task.stream.integer(*self.group_size), count)
            self._group(task, size, group if size > 1 else -1, starts, people)
            group += size > 1
            count -= size

    def _static(self, task: Task, taken: Doubles) -> None:
        count = task.stream.integer(*self.static)
        if not count:
            return
        radii = task.stream.uniform(*self.static_radius, (count,))
        apart = 2 * self.static_radius[1] + 2 * (task.radius + task.safety)
        keep_out = taken + np.array([0.0, 0.0, self.static_radius[1]])
        centres = place(task.stream, task.map, apart - self.static_radius[1], count, apart=apart, keep_out=keep_out)
        discs = np.column_stack([centres, radii])
        task.map = replace(task.map, discs=np.vstack([task.map.discs, discs]))

    def _group(self, task: Task, size: int, group: int, keep_out: Doubles, people: Stream) -> None:
        crowd, types = task.crowd, pedestrian_types()
        kinds = [crowd.draw_kind(people) for _ in range(size)]
        radius = crowd.radius * max(types[kind].radius for kind, _ in kinds)
        clearance = max(self.clearance, radius) + (_RING if size > 1 else 0.0)
        others = np.array([[*p.position, 1.1 * (p.radius + radius)] for p in task.pedestrians]).reshape(-1, 3)
        blocked = np.vstack([keep_out, others]) + np.array([0.0, 0.0, _RING if size > 1 else 0.0])
        centre = place(task.stream, task.map, clearance, 1, keep_out=blocked)
        route = place(task.stream, task.map, clearance, self.waypoints, connected_to=centre[0])
        speed = crowd.draw_speed(task.stream) * min(types[kind].speed for kind, _ in kinds)
        turn = float(task.stream.uniform(-np.pi, np.pi))
        for k, (kind, reaction) in enumerate(kinds):
            angle = turn + 2 * np.pi * k / size
            offset = _RING * np.array([np.cos(angle), np.sin(angle)]) if size > 1 else np.zeros(2)
            start = centre[0] + offset
            waypoints = np.vstack([route + offset, start])
            wide = crowd.radius * types[kind].radius
            task.pedestrians.append(Person(start, waypoints, speed, wide, group=group, type=kind, reaction=reaction))
