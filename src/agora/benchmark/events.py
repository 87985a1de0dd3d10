"""The events of a run, in the order in which they happen."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Advanced", "GivenUp", "Kept", "RunEvent"]


@dataclass(frozen=True)
class Advanced:
    """Report that some episodes have ended; the first such event gives the number at the beginning.

    Attributes:
        done: episodes that have ended, of all planners; fewer than before where some are begun again.
        total: number of episodes of the run.
    """

    done: int
    total: int


@dataclass(frozen=True)
class Kept:
    """Rows and recordings of episodes are on the disk.

    Attributes:
        stage: name of the stage.
        planner: label of the planner.
        episodes: numbers of the episodes.
        shard: name of the files that hold them (`agora.benchmark.results.store`).
    """

    stage: str
    planner: str
    episodes: tuple[int, ...]
    shard: str


@dataclass(frozen=True)
class GivenUp:
    """An episode has no row.

    Attributes:
        stage: name of the stage.
        planner: label of the planner.
        episode: number of the episode.
        reason: reason in words.
    """

    stage: str
    planner: str
    episode: int
    reason: str


RunEvent = Advanced | Kept | GivenUp
