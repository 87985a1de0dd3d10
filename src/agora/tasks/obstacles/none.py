"""A mode without obstacles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from agora.draft.task import Task


@dataclass(frozen=True)
class Nothing:
    """The map alone."""

    uses: ClassVar = frozenset[str]()

    def place(self, task: Task) -> None:
        """Put nothing into the task."""
