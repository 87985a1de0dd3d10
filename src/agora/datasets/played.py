"""Episodes that were played elsewhere: in a ROS graph, by Arena, by a real robot; and what is not known of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from agora.core.recording import Recording
from agora.draft.stage import Stage
from agora.interfaces import Metric


@dataclass(frozen=True, eq=False)
class PlayedRobot:
    """One robot of an episode that was played elsewhere.

    Attributes:
        planner: what drove it, for tables. model: its name.
        recording: of it; fields named in ``missing`` hold what means nothing.
        missing: names of the recording's fields that nobody recorded.
    """

    planner: str
    model: str
    recording: Recording
    missing: frozenset[str] = frozenset()

    def measure(self, metric: Metric) -> float | None:
        """A metric of it; None where it is undefined or looks at what nobody recorded."""
        if not self.missing:
            return metric(self.recording)
        try:
            return metric(cast(Recording, _Known(self.recording, self.missing)))
        except _MissingError:
            return None


@dataclass(frozen=True, eq=False)
class PlayedEpisode:
    """An episode that was played elsewhere.

    Attributes:
        source: file or folder that it was read from.
        suite, stage, episode, seed: which one it is.
        robots: of it.
        interrupted: why it has no end; empty where it has one.
        conditions: of the episode; None where nobody recorded them.
        notes: what is missing or was made up, for people.
        began: time of the source's record at which it began, ns.
    """

    source: Path
    suite: str
    stage: str
    episode: int
    seed: int
    robots: tuple[PlayedRobot, ...]
    interrupted: str = ""
    conditions: Stage | None = None
    notes: tuple[str, ...] = field(default=())
    began: int = 0

    @property
    def entry(self) -> str:
        """``suite/stage/episode``."""
        return f"{self.suite}/{self.stage}/{self.episode}"


class _MissingError(AttributeError):
    """A metric looked at something that nobody recorded; ``getattr`` with a default gives that."""


class _Known:
    """A recording that raises where a field is asked for that it does not have."""

    def __init__(self, recording: Recording, missing: frozenset[str]) -> None:
        self._recording, self._missing = recording, missing

    def __getattr__(self, name: str) -> Any:
        if name in self._missing:
            raise _MissingError(name)
        return getattr(self._recording, name)
