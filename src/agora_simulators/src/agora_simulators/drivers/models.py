"""Manages the models that a driver has added to an external simulator, and models left over from an earlier launch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import rospy

from agora.core.state import Array
from agora.errors import InputError


class Models(ABC):
    """Adds models to a simulator and removes them. The names of the models are kept on the parameter server for later launches."""

    name: ClassVar[str]

    def __init__(self) -> None:
        self._shown: set[str] = set()
        self._walls, self._memory = "", f"{self.name}_models"

    @abstractmethod
    def _spawn(self, name: str, text: str, pose: Array) -> str:
        """Ask the simulator to add a model to the world; return the reason if the simulator refuses, otherwise an empty string."""

    @abstractmethod
    def _remove(self, name: str) -> None:
        """Remove a model."""

    def _clear(self) -> None:
        """Remove the models that were added to the simulator before it was lost or by an earlier launch."""
        for name in rospy.get_param(self._memory, []):
            self._remove(name)
        rospy.set_param(self._memory, [])

    def _put(self, name: str, text: str, pose: Array) -> None:
        """Add a model to the world, replacing any model with the same name.

        Raises:
            InputError: the simulator refuses the model.
        """
        rospy.set_param(self._memory, sorted({*self._shown, self._walls, name}))
        if self._spawn(name, text, pose):
            self._remove(name)
            if refusal := self._spawn(name, text, pose):
                raise InputError(f"{self.name} rejected the model {name}: {refusal}")

    def _take_away(self, name: str) -> None:
        self._remove(name)
        self._shown.discard(name)
