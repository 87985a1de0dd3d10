"""Obstacles modes: who and what is in the way of the robots."""

from __future__ import annotations

from typing import Protocol

from agora.draft.task import Task


class ObstaclesMode(Protocol):
    """Who and what is in the way."""

    def place(self, task: Task) -> None:
        """Put pedestrians, recordings and static obstacles into the task."""
