"""No interplanner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from agora.interfaces import Guidance, Memory, Observation
from agora.planners.inter.surroundings import unchanged


@dataclass(frozen=True)
class Bypass:
    """Pass the path on as it is."""

    needs: ClassVar[frozenset[str]] = frozenset({"path"})
    concurrent: ClassVar[bool] = True

    def guide(self, observation: Observation, memory: Memory) -> tuple[Guidance, Memory]:
        """Return the path, full speed, no danger."""
        return unchanged(observation), memory
