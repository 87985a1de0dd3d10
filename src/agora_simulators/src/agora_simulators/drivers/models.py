"""The models that a driver has put into a foreign simulator, and the remains of a launch before it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import rospy

from agora.core.state import Array
from agora.errors import InputError


class Models(ABC):
    """Puts models into a simulator and takes them away; the roscore keeps the names of all of them, for a launch after this one."""

    name: ClassVar[str]

    def __init__(self) -> None:
        self._shown: set[str] = set()
        self._walls, self._memory = "", f"{self.name}_models"

    @abstractmethod
    def _spawn(self, name: str, text: str, pose: Array) -> str:
        """Ask the simulator to put a model into the world; why it refuses, empty where it does not."""

    @abstractmethod
    def _remove(self, name: str) -> None:
        """Take a model away."""

    def _clear(self) -> None:
        """Remove the models that were put into the simulator before it was lost, or by a launch before this one."""
        for name in rospy.get_param(self._memory, []):
            self._remove(name)
        rospy.set_param(self._memory, [])

    def _put(self, name: str, text: str, pose: Array) -> None:
        """Put a model into the world, in place of one of its name.

        Raises:
            InputError: the simulator refuses it.
        """
        rospy.set_param(self._memory, sorted({*self._shown, self._walls, name}))
        if self._spawn(name, text, pose):
            self._remove(name)
            if refusal := self._spawn(name, text, pose):
                raise InputError(f"{self.name} refuses the model {name}: {refusal}")

    def _take_away(self, name: str) -> None:
        self._remove(name)
        self._shown.discard(name)
