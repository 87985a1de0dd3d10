"""Obstacles modes, which place pedestrians and obstacles."""

from __future__ import annotations

from typing import Protocol

from agora.draft.task import Task


class ObstaclesMode(Protocol):
    """Places the pedestrians and obstacles of an episode; a frozen dataclass whose fields are its parameters.

    A mode whose pedestrians require certain behaviours lists them in a class attribute ``needs``, or returns them from a method
    ``needs(source)``, which takes the stage's world source. Every stage with this mode then has these behaviours.

    The class attribute ``uses`` names the inputs of the mode: "random places", the "scenario" of the world, "people" that crowd
    models move, "recordings" of people. A stage must not contain keys that neither of its modes uses. A mode without ``uses`` may
    use all inputs.

    A mode that never changes the task's map sets the class attribute ``keeps_map`` to True. The map of an episode can then be
    created without the episode's pedestrians.
    """

    def place(self, task: Task) -> None:
        """Put pedestrians, recordings and static obstacles into the task."""
