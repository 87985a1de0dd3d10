"""World sources, which provide the surroundings of a stage's episodes."""

from __future__ import annotations

from typing import Protocol, Self, runtime_checkable

from agora.draft.surroundings import Surroundings
from agora.seeds import Stream


class WorldSource(Protocol):
    """The source of a stage's worlds; a frozen dataclass whose fields are its parameters."""

    def names(self) -> list[str]:
        """Return the names of the source's worlds. Episode k of a stage uses the world with index k modulo the number of worlds."""

    def world(self, name: str, stream: Stream) -> Surroundings:
        """Return the world with this name; generated worlds are sampled from ``stream``."""


@runtime_checkable
class DrawnPlaces(Protocol):
    """A world source that generates places from its own seed, so that several episodes can share a place.

    If the suite is given another seed, the source gets a new seed too (`agora.tasks.suite.with_seed`).
    """

    @property
    def seed(self) -> int:
        """The seed from which places are generated."""

    def seeded(self, seed: int) -> Self:
        """Return a copy of the source with another seed for its places."""
