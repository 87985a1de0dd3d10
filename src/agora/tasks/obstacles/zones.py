"""Pedestrians who stay in certain zones of the map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from agora.draft.task import Task
from agora.ranges import Checked, Distance
from agora.tasks.population import add_pedestrians, pedestrian_type
from agora.tasks.roles import areas_of, draw, roles_of


@dataclass(frozen=True)
class Zones(Checked):
    """Arena's ``zones``: pedestrians with roles, whose starts and waypoints lie in the zones of their role.

    Attributes:
        file: name of a file in the world's ``zones`` folder, with or without ``.yaml``, or a path, which must contain a slash.
        clearance: distance from starts and waypoints to walls, m.
        keep_clear: distance between robots' starts and pedestrians' starts, m.
    """

    uses: ClassVar = frozenset({"random places", "people"})

    file: str = "default"
    clearance: Distance = 0.5
    keep_clear: Distance = 1.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.file:
            raise ValueError("file must have a name")

    def place(self, task: Task) -> None:
        """Add the pedestrians of every role to the task.

        Raises:
            InputError: there is no such file, it is invalid, or the map has no zone of a category.
            PlacementError: there is no room in the zones.
        """
        roles, path = roles_of(task, self.file)
        for number, role in enumerate(roles.pedestrians):
            region = areas_of(task, path, "pedestrians", number, role.zones)
            for _ in range(draw(task.stream, role.amount)):
                add_pedestrians(
                    task,
                    [role.model],
                    waypoints=draw(task.stream, role.waypoints),
                    clearance=self.clearance,
                    keep_clear=self.keep_clear,
                    region=region,
                    type=pedestrian_type(role.type),
                )
