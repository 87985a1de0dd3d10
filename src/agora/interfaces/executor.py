"""Executors of a benchmark's jobs, for authors of executors.

A benchmark gives an executor jobs and gets events. An executor knows neither the contents of a job nor the place of results: it
takes jobs from a queue, calls `Work` with each of them in any process, and passes on the events that `Work` yields. It assumes no
shared disk: finished shards come back as bytes, and the process of the benchmark alone writes them. The benchmark decides how to
continue after a worker was lost (`agora.benchmark.conductor`), in the same way for every executor.
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
        ended: number of ended episodes so far; it falls if some are restarted.
    """

    job: str
    ended: int


@dataclass(frozen=True)
class Finished:
    """A shard with all or some episodes of a job is finished.

    Attributes:
        job: name of the job.
        name: name of the shard.
        episodes: numbers of the episodes whose rows it holds.
        files: the bytes of its files, by the part of the results that each belongs to (`agora.benchmark.results.store.PARTS`).
    """

    job: str
    name: str
    episodes: tuple[int, ...]
    files: Mapping[str, bytes] = field(repr=False)


@dataclass(frozen=True)
class Done:
    """A job has ended.

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
    """Callbacks before and after all work that may hang: a call of the planner, a step of the world, or a metric.

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
        """Label of its planner. Jobs of two planners run in two processes, because planners may change their process."""


class Work(Protocol):
    """The work on jobs. It can be pickled, so that it can be sent once to each worker, and is the same for all jobs."""

    def __call__(self, job: Any, watch: Watch = ...) -> Iterator[Event]:
        """Run a job and yield its events, `Done` last.

        Raises:
            Exception: something is wrong with the run, not with an episode; it is passed on to the caller of the run.
        """

    def of(self, planner: str) -> Work:
        """Return the work on the jobs of one planner, by its label, for a separate process.

        It can be unpickled without importing the code of the other planners.
        """

    def files(self) -> Mapping[str, str]:
        """Digests of this machine's input files of the jobs, by name; a worker with the same digests does not need `carrying`.

        Raises:
            InputError: one is missing or cannot be read.
        """

    def packages(self) -> Mapping[str, str]:
        """Versions of this machine's packages with components of the jobs, by name; with other versions, results may differ."""

    def carrying(self, job: Any) -> Any:
        """The job including all data from this machine's files, for workers without them; created once per job."""


class Executor(Protocol):
    """A frozen dataclass that runs jobs; its fields are its parameters."""

    @property
    def workers(self) -> int:
        """The number of concurrent jobs, at least 1; episodes are divided into jobs accordingly."""

    def prepare(self) -> None:
        """Begin slow work, such as starting processes, while the benchmark reads its files; called once or never."""

    def run(self, work: Work, jobs: deque[Any]) -> Iterator[Event]:
        """Take jobs from the left of the queue until it is empty and no job is running, and yield their events as they arrive.

        The benchmark may append to the queue after every event. The events of one job come in order; those of several jobs may be
        interleaved. If nothing happens for a second, the executor may yield `Waiting`. When the iterator is closed, or an exception
        is raised into it, all running jobs are stopped at once.

        Raises:
            Exception: the exception of a job.
        """
