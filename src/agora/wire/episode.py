"""An episode before it begins: everything that was decided by chance or by a file, and the conditions under which it is run."""

from __future__ import annotations

from dataclasses import dataclass

from agora.draft.stage import Stage
from agora.world.start import Start

__all__ = ["Episode"]


@dataclass(frozen=True, eq=False)
class Episode:
    """An episode that can be run in another process.

    Attributes:
        number: number of the reset, for readers that follow several episodes.
        start: the resolved start.
        stage: conditions of its stage.
    """

    number: int
    start: Start
    stage: Stage
