"""Creates the rows of ended episodes, whether they were run by a worker, in a ROS graph or over sockets, or read from a bag."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agora.benchmark.results import recording_shards, store
from agora.benchmark.results.copies import PLACE, START
from agora.benchmark.results.store import Keep
from agora.core.recording import Recording
from agora.datasets.played import PlayedEpisode, PlayedRobot
from agora.errors import ComponentError, in_words
from agora.interfaces import Metric
from agora.metrics.planner_notes import main_reason
from agora.metrics.planning_time import TIMING

OPTIONAL = ("reason", START, PLACE)
"""Optional columns of rows, other than the identity and the metrics."""

BESIDE = ("model", "pedestrians", "outcome", "duration", "clipped", "failure", *OPTIONAL)
"""Columns of rows, other than the identity and the metrics."""

UNMEASURED = "unmeasured"
"""Column with the errors of failed metrics; only in rows with such errors."""


@dataclass(frozen=True, eq=False)
class EndedEpisode:
    """An episode that has ended.

    Attributes:
        suite: name of the episode's suite.
        stage: name of the stage.
        episode: number of the episode.
        seed: seed of the stage.
        robots: robots of the episode, with their planners and recordings.
        pedestrians: level of perception; None if unknown.
        beside: strings that are added to every row, by column.
    """

    suite: str
    stage: str
    episode: int
    seed: int
    robots: tuple[PlayedRobot, ...]
    pedestrians: str | None = None
    beside: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def of(played: PlayedEpisode) -> EndedEpisode:
        """Return an episode that was run externally."""
        told = None if played.conditions is None else played.conditions.perception.source
        return EndedEpisode(played.suite, played.stage, played.episode, played.seed, played.robots, told)

    @property
    def keys(self) -> list[str]:
        """The keys of the episode's rows."""
        return [store.episode_key(self._identity(number)) for number in range(len(self.robots))]

    def _identity(self, number: int) -> dict[str, Any]:
        episode = {"suite": self.suite, "stage": self.stage, "episode": self.episode, "seed": self.seed}
        return episode | {"planner": self.robots[number].planner, "robot": number}

    def row(self, number: int, measures: Iterable[Metric]) -> dict[str, Any]:
        """Return the row of a robot; values that were not recorded, and metrics that failed, are None.

        Args:
            number: number of the robot.
            measures: metrics to compute.
        """
        robot, identity = self.robots[number], self._identity(number)
        recording = robot.recording
        row: dict[str, Any] = {
            "key": store.episode_key(identity),
            **identity,
            "model": robot.model,
            **({} if self.pedestrians is None else {"pedestrians": self.pedestrians}),
            "outcome": "unknown" if "outcome" in robot.missing else recording.outcome.label,
            "duration": float(recording.time[-1]),
            "clipped": None if "clipped" in robot.missing else recording.clipped,
            "failure": recording.failure,
            **({} if recording.reason is None else {"reason": main_reason(recording)}),
        }
        return row | _measure(robot, measures) | dict(self.beside)


def _measure(robot: PlayedRobot, measures: Iterable[Metric]) -> dict[str, Any]:
    """Return the metrics of a robot by name; if a metric failed, the `UNMEASURED` column contains the errors."""
    values: dict[str, Any] = {}
    errors = []
    for metric in measures:
        try:
            values[metric.name] = robot.measure(metric)
        except ComponentError as error:
            values[metric.name] = None
            errors.append(in_words(error))
    return values | ({UNMEASURED: "; ".join(errors)} if errors else {})


class ShardRows:
    """Collects the rows, the timing and the recordings of a shard as episodes end.

    Args:
        measures: all metrics.
        keep: which recordings are kept.
        run: mark of the run's shards; empty if none.

    Attributes:
        rows: rows of the episodes added so far.
        episodes: numbers of episodes that have ended.
    """

    def __init__(self, measures: Sequence[Metric], keep: Keep, run: str = "") -> None:
        self._keep, self._run = keep, run
        self._lasting = [m for m in measures if m.name not in TIMING]
        self._fleeting = [m for m in measures if m.name in TIMING]
        self.rows: list[dict[str, Any]] = []
        self.episodes: list[int] = []
        self._timing: list[dict[str, Any]] = []
        self._kept: dict[str, Recording] = {}

    def add(self, ended: EndedEpisode) -> None:
        """Add an episode that has ended."""
        for number, robot in enumerate(ended.robots):
            row = ended.row(number, self._lasting)
            self.rows.append(row)
            identity = {name: row[name] for name in store.IDENTITY}
            times = _measure(robot, self._fleeting)
            self._timing.append(identity | times | {store.CALLS: robot.recording.planning_time})
            if store.is_kept(row, self._keep):
                self._kept[row["key"]] = robot.recording
        self.episodes.append(ended.episode)

    def files(self) -> dict[str, bytes]:
        """Return the bytes of the shard's files by part; rows are sorted by key, regardless of the order in which episodes
        ended.
        """
        rows, timing = (sorted(some, key=lambda row: row["key"]) for some in (self.rows, self._timing))
        units = {m.name: m.unit for m in (*self._lasting, *self._fleeting)} | {"duration": "s", store.CALLS: "s"}
        files = {
            "timing": store.encode_rows(timing, self._run, units=units),
            "episodes": store.encode_rows(rows, self._run, units=units),
        }
        if self._kept:
            files["trajectories"] = recording_shards.encode_recordings(dict(sorted(self._kept.items())), self._run)
        return files
