"""An episode before it begins: everything that chance or a file decided, and the conditions that it is run under."""

from __future__ import annotations

from dataclasses import dataclass

from agora.draft.stage import Stage
from agora.world.start import Start

__all__ = ["Episode"]


@dataclass(frozen=True, eq=False)
class Episode:
    """An episode that can be run in another process.

    Attributes:
        number: number of the reset, for readers that follow several.
        start: the start, resolved.
        stage: conditions of its stage.
    """

    number: int
    start: Start
    stage: Stage
