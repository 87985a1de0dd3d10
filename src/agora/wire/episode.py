"""An episode before it begins: everything that was drawn at random or read from a file, and the conditions under which the episode
is run.
"""

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
        start: resolved start of the episode.
        stage: conditions of the episode's stage.
    """

    number: int
    start: Start
    stage: Stage
