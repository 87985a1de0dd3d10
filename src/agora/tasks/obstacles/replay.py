"""The recorded pedestrians of the world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from agora.draft.task import Task
from agora.errors import InputError


@dataclass(frozen=True)
class Replay:
    """Replays recorded pedestrians, who walk as in the recording and do not react.

    Attributes:
        random_phase: whether repeating recordings (DynaBARN) start at a random moment of their period, drawn for each pedestrian.
    """

    uses: ClassVar = frozenset({"recordings"})
    keeps_map: ClassVar = True

    random_phase: bool = False

    def place(self, task: Task) -> None:
        """Add the recorded pedestrians to the task.

        Raises:
            InputError: the world has no recording, or a random phase is requested for recordings that do not repeat.
        """
        recorded = task.world.replay
        if recorded is None:
            raise InputError(f"obstacles mode 'replay': world {task.map.name!r} has no recorded pedestrians")
        task.replay, task.replay_radius = recorded, task.world.replay_radius
        if self.random_phase:
            if not (recorded.period > 0).all():
                raise InputError(
                    f"obstacles mode 'replay': random_phase needs recordings that repeat; those of {task.map.name!r} do not"
                )
            task.phase = task.stream.uniform(0.0, 1.0, (len(recorded.id),)) * recorded.period
