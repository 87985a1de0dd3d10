"""Pedestrians who walk in groups, and groups that stand and talk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from agora.draft.people import Person
from agora.draft.task import Task
from agora.pedestrians.shared.formations import KINDS, Kind, formation, o_space_radius
from agora.ranges import Within
from agora.tasks.obstacles.random import Random

_ALL = 1000


@dataclass(frozen=True)
class Groups(Random):
    """Places pedestrians as in ``random``, with walking groups and groups that stand in F-formations.

    Standing groups are placed first. They stand still even without a behaviour. With the ``groups`` behaviour, their members return
    to their places after being pushed away, and people join and leave them. Walking groups stay together only with this behaviour.

    Attributes:
        standing_groups: minimum and maximum number of standing groups.
        standing_size: minimum and maximum number of members of each standing group; two members stand face to face, at a right
            angle or side by side, and three or more members stand in a ring.
        standing_waypoints: number of random places that a member visits after leaving its group; if 0, all members stay.
    """

    group_size: tuple[int, int] = (2, 4)
    standing_groups: tuple[int, int] = (0, 0)
    standing_size: tuple[int, int] = (2, 5)
    standing_waypoints: Annotated[int, Within(0, _ALL)] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, lowest in {"standing_groups": 0, "standing_size": 2}.items():
            low, high = getattr(self, name)
            if not lowest <= low <= high <= _ALL:
                raise ValueError(f"{name} must be [min, max] in [{lowest}, {_ALL}], got {[low, high]}")

    def unread(self) -> dict[str, str]:
        """Return the parameters that have no effect given the other parameters, and the reasons."""
        standing = ("standing_size", "standing_waypoints") if self.standing_groups[1] == 0 else ()
        return super().unread() | dict.fromkeys(standing, "with standing_groups: [0, 0]")

    def place(self, task: Task) -> None:
        """Add standing groups to the task, followed by the other obstacles."""
        routes = [np.vstack((start[None, :2], goals[:, :2])) for start, goals in task.robots]
        apart = max(self.keep_clear, task.radius + task.safety)
        clear = np.vstack([np.column_stack((r, np.full(len(r), apart))) for r in routes] or [np.zeros((0, 3))])
        for number in range(task.stream.integer(*self.standing_groups)):
            self._stand(task, number, clear)
        super().place(task)

    def _stand(self, task: Task, number: int, clear: np.ndarray) -> None:
        """Add one standing group where all its members have room."""
        count = task.stream.integer(*self.standing_size)
        reach = float(o_space_radius(count)) + task.crowd.radius
        places = task.bodies()[:, :2]
        taken = np.column_stack([places, np.full(len(places), 2.2 * task.crowd.radius)])
        keep_out = np.vstack((clear, taken)) + np.array([0.0, 0.0, reach])
        centre = task.place(reach + self.clearance, 1, keep_out=keep_out)[0]
        kind: Kind = "circle"
        if count == 2:
            kind = list(KINDS)[task.stream.integer(0, len(KINDS) - 1)]
        turn = float(task.stream.uniform(-np.pi, np.pi))
        positions, headings = formation(kind, count, (*centre, turn))
        for k, (position, heading) in enumerate(zip(positions, headings, strict=True)):
            away = self.standing_waypoints
            route = task.place(self.clearance, away, connected_to=centre) if away else position[None]
            state = "talking" if k == 0 else "listening"
            speed = task.crowd.draw_speed(task.stream)
            person = Person(position, route, speed, task.crowd.radius, 2, number, heading=float(heading), state=state)
            task.pedestrians.append(person)
