"""The events that a run yields."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Advanced", "GivenUp", "Kept", "RunEvent"]


@dataclass(frozen=True)
class Advanced:
    """Some episodes have ended. The first event of a run gives the number of episodes that had already ended.

    Attributes:
        done: number of episodes of all planners that have ended; it decreases if episodes are restarted.
        total: number of episodes of the run.
    """

    done: int
    total: int


@dataclass(frozen=True)
class Kept:
    """Rows and recordings of episodes have been written to disk.

    Attributes:
        stage: name of the stage.
        planner: label of the planner.
        episodes: numbers of the episodes.
        shard: name of the files that contain them (`agora.benchmark.results.store`).
    """

    stage: str
    planner: str
    episodes: tuple[int, ...]
    shard: str


@dataclass(frozen=True)
class GivenUp:
    """An episode was given up and has no row.

    Attributes:
        stage: name of the stage.
        planner: label of the planner.
        episode: number of the episode.
        reason: reason, as text.
    """

    stage: str
    planner: str
    episode: int
    reason: str


RunEvent = Advanced | Kept | GivenUp
