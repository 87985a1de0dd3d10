"""Obstacles from an Arena 3.0 file that specifies the number of obstacles of each model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, Literal

from agora.draft.task import Task
from agora.errors import InputError
from agora.ranges import Checked, Count, Distance
from agora.share import named_file
from agora.tasks.parametrized import ModelCount, read_parametrized
from agora.tasks.population import add_furniture, add_pedestrians, pedestrian_type


@lru_cache(maxsize=16)
def _read_once(path: Path, changed: int) -> tuple[ModelCount, ...]:
    return read_parametrized(path)


@dataclass(frozen=True)
class Parametrized(Checked):
    """Obstacles at random places; for each entry in the file, the number is drawn uniformly from its ``min`` to its ``max``.

    Attributes:
        file: name of a file in ``configs/parametrized``, with or without ``.xml``, or a path, which must contain a slash.
        waypoints: number of waypoints of each pedestrian; the last waypoint is the pedestrian's start.
        clearance: distance from pedestrians' starts and waypoints to walls, m.
        keep_clear: distance between robots' starts or goals and pedestrians' starts or furniture, m.
    """

    uses: ClassVar = frozenset({"random places", "people"})

    file: str = "default"
    waypoints: Count = 2
    clearance: Distance = 0.5
    keep_clear: Distance = 1.5

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            self.entries()
        except InputError as error:
            raise ValueError(f"file: {error}") from error

    def files(self) -> list[Path]:
        """Return the parametrized file.

        Raises:
            InputError: there is no such file.
        """
        return [named_file("parametrized", self.file, ".xml")]

    def entries(self) -> tuple[ModelCount, ...]:
        """Return the entries of the file.

        Raises:
            InputError: there is no such file, or it is invalid.
        """
        (path,) = self.files()
        return _read_once(path, path.stat().st_mtime_ns)

    def place(self, task: Task) -> None:
        """Add furniture and pedestrians to the task.

        Raises:
            PlacementError: there is no room.
        """
        counted = [(entry, task.stream.integer(entry.min, entry.max)) for entry in self.entries()]
        kinds: tuple[Literal["static", "interactive"], ...] = ("static", "interactive")
        furniture = [(kind, e.model) for kind in kinds for e, count in counted if e.kind == kind for _ in range(count)]
        add_furniture(task, furniture, self.keep_clear)
        for entry, count in counted:
            for _ in range(count if entry.kind == "dynamic" else 0):
                add_pedestrians(
                    task,
                    [entry.model],
                    waypoints=self.waypoints,
                    clearance=self.clearance,
                    keep_clear=self.keep_clear,
                    type=pedestrian_type(entry.type),
                )
