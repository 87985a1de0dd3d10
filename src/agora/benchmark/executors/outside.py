"""Runs episodes outside this process, in a ROS graph or over sockets, with an external driver."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agora.benchmark.job import Job, RunPlan
from agora.core.recording import Recording
from agora.interfaces import Done, Event, Progress, Work

__all__ = ["EpisodeLostError", "Outside"]


class EpisodeLostError(Exception):
    """An episode was not run to its end; the message gives the reason."""


@dataclass(frozen=True)
class External:
    """Stands for an external planner, which this process cannot call."""

    graph: str = "ROS"


@dataclass(frozen=True)
class Outside:
    """Delegates episodes to an external runner, one at a time, and computes rows from their recordings.

    Attributes:
        play: function that runs an episode, identified by its stage and number, and returns one recording per robot; it raises
            `EpisodeLostError` if the episode is not completed.
        beside: strings that are added to every new row, by column.
    """

    play: Callable[[str, int], list[Recording]]
    beside: Mapping[str, str] = field(default_factory=dict)

    @property
    def workers(self) -> int:
        """The number of workers, always 1."""
        return 1

    def prepare(self) -> None:
        """Do nothing."""

    def run(self, work: Work, jobs: deque[Any]) -> Iterator[Event]:
        """Have the external runner run every job; see `agora.interfaces.Executor.run`."""
        assert isinstance(work, RunPlan)  # the plan is needed to create the rows
        while jobs:
            job: Job = jobs.popleft()
            rows, lost = work.shard(), dict[int, str]()
            for number, episode in enumerate(job.episodes):
                try:
                    recordings = self.play(job.stage, episode)
                except EpisodeLostError as reason:
                    lost[episode] = str(reason)
                else:
                    rows.add(work.ended(job, episode, work.suite.start(job.stage, episode), recordings, self.beside))
                yield Progress(job.name, number + 1)
            if rows.episodes:
                yield job.finished(rows)
            yield Done(job.name, lost)
