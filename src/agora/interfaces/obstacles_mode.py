"""Obstacles modes: the people and obstacles in the way of the robots."""

from __future__ import annotations

from typing import Protocol

from agora.draft.task import Task


class ObstaclesMode(Protocol):
    """The pedestrians and obstacles in the way; a frozen dataclass whose fields are its parameters.

    If its pedestrians depend on behaviours, a mode names these in a class attribute ``needs``, or returns them from a method
    ``needs(source)``, given the stage's world source; every stage with the mode has them.

    A class attribute ``uses`` names the inputs of the mode: "random places", the "scenario" of the world, "people" that crowd
    models move, "recordings" of people. A key of a stage that neither of its modes uses is rejected. A mode without ``uses`` may
    use everything.
    """

    def place(self, task: Task) -> None:
        """Put pedestrians, recordings and static obstacles into the task."""
