"""A mode without obstacles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from agora.draft.task import Task


@dataclass(frozen=True)
class Nothing:
    """Adds nothing to the map."""

    uses: ClassVar = frozenset[str]()
    keeps_map: ClassVar = True

    def place(self, task: Task) -> None:
        """Add nothing to the task."""
