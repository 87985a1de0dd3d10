"""World sources: the surroundings of a stage's episodes."""

from __future__ import annotations

from typing import Protocol, Self, runtime_checkable

from agora.draft.surroundings import Surroundings
from agora.seeds import Stream


class WorldSource(Protocol):
    """The source of a stage's worlds; a frozen dataclass whose fields are its parameters."""

    def names(self) -> list[str]:
        """Return the names of its worlds; episode k of a stage uses number k modulo their count."""

    def world(self, name: str, stream: Stream) -> Surroundings:
        """Return a world; generated worlds are drawn from ``stream``."""


@runtime_checkable
class DrawnPlaces(Protocol):
    """A world source that draws its places from its own seed, so that several episodes can share a place.

    If the suite gets another seed, the source gets one too (`agora.tasks.suite.with_seed`).
    """

    @property
    def seed(self) -> int:
        """The seed of the places."""

    def seeded(self, seed: int) -> Self:
        """Return the source with another seed for its places."""
