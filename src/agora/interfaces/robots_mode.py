"""Robots modes, which set the starts and goals of robots."""

from __future__ import annotations

from typing import Protocol

from agora.core.state import Doubles
from agora.draft.task import Task


class RobotsMode(Protocol):
    """Sets the starts and goals of robots; `agora.interfaces.ObstaclesMode` describes the attribute ``uses``."""

    def place(self, task: Task) -> list[tuple[Doubles, Doubles]]:
        """Return the start pose (3,) and the goals (G, 3) of each robot.

        To add goals that obstacles may block, append a function to ``task.later`` that adds them to ``task.robots``.
        """
