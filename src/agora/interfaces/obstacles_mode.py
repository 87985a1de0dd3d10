"""Obstacles modes, which place pedestrians and obstacles."""

from __future__ import annotations

from typing import Protocol

from agora.draft.task import Task


class ObstaclesMode(Protocol):
    """Places the pedestrians and obstacles of an episode; a frozen dataclass whose fields are its parameters.

    If its pedestrians require certain behaviours, a mode names them in a class attribute ``needs``, or returns them from a method
    ``needs(source)`` that takes the stage's world source. Every stage with this mode then has these behaviours.

    The class attribute ``uses`` names the inputs of the mode: "random places", the "scenario" of the world, "people" that crowd
    models move, "recordings" of people. A key of a stage that neither of its modes uses is rejected. A mode without ``uses`` may
    use everything.
    """

    def place(self, task: Task) -> None:
        """Put pedestrians, recordings and static obstacles into the task."""
