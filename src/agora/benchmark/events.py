"""What a run tells whoever asked for it, in the order in which it happens."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Advanced", "GivenUp", "Kept", "RunEvent"]


@dataclass(frozen=True)
class Advanced:
    """Some episodes have ended; the first of all says how many there were at the beginning.

    Attributes:
        done: episodes that have ended, of all planners; fewer than before where some are begun again.
        total: of the run.
    """

    done: int
    total: int


@dataclass(frozen=True)
class Kept:
    """Rows and recordings of episodes are on the disk.

    Attributes:
        stage: its name.
        planner: its label.
        episodes: their numbers.
        shard: name of the files that hold them (`agora.benchmark.store`).
    """

    stage: str
    planner: str
    episodes: tuple[int, ...]
    shard: str


@dataclass(frozen=True)
class GivenUp:
    """An episode has no row.

    Attributes:
        stage: its name.
        planner: its label.
        episode: its number.
        reason: in words.
    """

    stage: str
    planner: str
    episode: int
    reason: str


RunEvent = Advanced | Kept | GivenUp
