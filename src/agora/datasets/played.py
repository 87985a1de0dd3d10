"""Episodes that were not run by Agora's benchmark (but in a ROS graph, by Arena, or by a real robot), with the names of missing
fields.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from agora.core.recording import Recording
from agora.draft.stage import Stage
from agora.interfaces import Metric


@dataclass(frozen=True, eq=False)
class PlayedRobot:
    """A robot in an episode that was not run by Agora's benchmark.

    Attributes:
        planner: label of the robot's planner, for tables.
        model: name of the robot's model.
        recording: recording of the robot; fields named in ``missing`` are undefined.
        missing: names of the fields that were not recorded.
    """

    planner: str
    model: str
    recording: Recording
    missing: frozenset[str] = frozenset()

    def measure(self, metric: Metric) -> float | None:
        """Return the value of a metric for the robot; None if the value is undefined or if the metric reads a missing field.

        Raises:
            ComponentError: the metric is implemented incorrectly (`agora.interfaces.Metric`).
        """
        return metric(self.recording, self.missing)


@dataclass(frozen=True, eq=False)
class PlayedEpisode:
    """An episode that was not run by Agora's benchmark.

    Attributes:
        source: file or folder from which the episode was read.
        suite: name of the suite.
        stage: name of the stage.
        episode: number of the episode.
        seed: seed of the stage.
        robots: robots of the episode.
        interrupted: reason why the episode has no end; empty if the episode has an end.
        conditions: conditions of the episode; None if they were not recorded.
        notes: descriptions of missing and assumed values.
        began: record time of the start, ns.
        by_hand: names of the robots for which a goal was set manually; they do not count as having run the suite's episode.
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
