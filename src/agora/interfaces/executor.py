"""Executors of a benchmark's jobs: the page that the author of an executor reads.

A benchmark gives an executor jobs and gets events. An executor knows neither what a job is of nor where results go: it takes jobs
from a queue, calls `Work` with each of them wherever it likes, and hands on what that yields. It assumes no shared disk: finished
shards come back as bytes, and the process of the benchmark alone writes them. The benchmark decides how to continue after a worker
was lost (`agora.benchmark.conductor`), alike for every executor.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class Progress:
    """Report that some episodes of a job have ended.

    Attributes:
        job: name of the job.
        ended: number of ended episodes so far; fewer than before where some are begun again.
    """

    job: str
    ended: int


@dataclass(frozen=True)
class Finished:
    """A shard is finished, of all episodes of a job or of some.

    Attributes:
        job: name of the job.
        name: name of the shard.
        episodes: numbers of the episodes whose rows it holds.
        files: the bytes of its files, by the part of the results that each belongs to (`agora.benchmark.store.PARTS`).
    """

    job: str
    name: str
    episodes: tuple[int, ...]
    files: Mapping[str, bytes] = field(repr=False)


@dataclass(frozen=True)
class Done:
    """A job has come to its end.

    Attributes:
        job: name of the job.
        given_up: reasons of episodes that have no row, by number.
    """

    job: str
    given_up: Mapping[int, str]


@dataclass(frozen=True)
class Lost:
    """Report that the process that ran a job is gone: it hung, it died or it was killed. No event of this job follows.

    Attributes:
        job: name of the job.
        reason: reason in words.
        call: number, from 1, of the planner's call that ended the process; None if it was not the planner's.
    """

    job: str
    reason: str
    call: int | None = None


@dataclass(frozen=True)
class Waiting:
    """Report that nothing has happened for a while. A run that was asked to stop does so at the next event, of whatever kind."""


Event = Progress | Finished | Done | Lost | Waiting


@dataclass(frozen=True)
class Watch:
    """Callbacks before and after everything that may hang: a call of the planner, a step of the world, or a metric.

    Attributes:
        before: called with the name of the work that begins (`agora.episode.PLANNER`, ``WORLD``, or "metric" and its name).
        after: called when it has ended.
    """

    before: Callable[[str], None] = lambda what: None
    after: Callable[[], None] = lambda: None


class AnyJob(Protocol):
    """A job: plain data that can be pickled."""

    @property
    def name(self) -> str:
        """Its name, which no other job of the run has."""

    @property
    def planner(self) -> str:
        """Label of its planner. Jobs of two planners run in two processes: a planner may change the state of its process."""


class Work(Protocol):
    """The work on jobs. It can be pickled, so that it can be sent once to each worker, and is the same for all jobs."""

    def __call__(self, job: Any, watch: Watch = ...) -> Iterator[Event]:
        """Run a job and yield its events, `Done` last.

        Raises:
            Exception: something is wrong with the run, not with an episode; it is passed on to the caller of the run.
        """

    def of(self, planner: str) -> Work:
        """Return the work on the jobs of one planner, by its label, for a process of its own.

        It can be unpickled without importing the code of the other planners.
        """

    def files(self) -> Mapping[str, str]:
        """Digests of the files here that enter the jobs, by name; where they are the same, jobs need not be `carrying` anything.

        Raises:
            InputError: one is missing or cannot be read.
        """

    def packages(self) -> Mapping[str, str]:
        """Versions of the packages here that the jobs' components come from, by name; where they are others, results may be too."""

    def carrying(self, job: Any) -> Any:
        """The job with all that is made from this machine's files in it, for workers that do not see them; made once for a job."""


class Executor(Protocol):
    """A frozen dataclass that runs jobs; its fields are its parameters."""

    @property
    def workers(self) -> int:
        """The number of jobs that it runs at a time, at least 1; episodes are divided into jobs accordingly."""

    def prepare(self) -> None:
        """Begin slow work, such as starting processes, while the benchmark reads its files; called once or never."""

    def run(self, work: Work, jobs: deque[Any]) -> Iterator[Event]:
        """Take jobs from the left of the queue until it is empty and none is under way, and yield their events as they come.

        The benchmark may append to the queue whenever it has been given an event. Events of one job come in their order; those of
        several in any. Where nothing happens for a second, it may yield `Waiting`. When the iterator is closed, or something is
        raised into it, all that runs is stopped at once.

        Raises:
            Exception: what a job raised.
        """
