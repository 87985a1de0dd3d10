"""Externally played episodes: in a ROS graph, by Arena, by a real robot; and the fields that are missing."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from agora.core.recording import Recording
from agora.draft.stage import Stage
from agora.interfaces import Metric


@dataclass(frozen=True, eq=False)
class PlayedRobot:
    """A robot of an externally played episode.

    Attributes:
        planner: label of its planner, for tables.
        model: name of its model.
        recording: recording of the robot; fields named in ``missing`` have no meaning.
        missing: names of the fields that were not recorded.
    """

    planner: str
    model: str
    recording: Recording
    missing: frozenset[str] = frozenset()

    def measure(self, metric: Metric) -> float | None:
        """Return a metric of the robot; None if it is undefined or reads a missing field.

        Raises:
            ComponentError: the metric's code is wrong (`agora.interfaces.Metric`).
        """
        return metric(self.recording, self.missing)


@dataclass(frozen=True, eq=False)
class PlayedEpisode:
    """An externally played episode.

    Attributes:
        source: file or folder that it was read from.
        suite: name of the suite.
        stage: name of the stage.
        episode: number of the episode.
        seed: seed of the stage.
        robots: robots of the episode.
        interrupted: reason why it has no end; empty if it has one.
        conditions: conditions of the episode; None if not recorded.
        notes: missing and assumed values, in words.
        began: record time of the beginning, ns.
        by_hand: names of the robots with a goal that was set by hand; their drives are not episodes of the suite.
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
    by_hand: tuple[str, ...] = ()

    @property
    def entry(self) -> str:
        """``suite/stage/episode``."""
        return f"{self.suite}/{self.stage}/{self.episode}"
