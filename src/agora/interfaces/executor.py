"""The interface of executors, which run the jobs of a benchmark.

A benchmark passes jobs to an executor and receives events. An executor knows neither what a job contains nor where results are
stored: it takes jobs from a queue, calls `Work` on each job in a process of its choice, and passes on the events that `Work`
yields. It does not need a shared disk: finished shards are returned as bytes, and only the benchmark's process writes them. After a
worker is lost, the benchmark decides how to continue (`agora.benchmark.conductor`), in the same way for every executor.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class Progress:
    """Event: some episodes of a job have ended.

    Attributes:
        job: name of the job.
        ended: number of episodes that have ended so far; it decreases if episodes are restarted.
    """

    job: str
    ended: int


@dataclass(frozen=True)
class Finished:
    """Event: a shard, with the rows of all or some of a job's episodes, is complete.

    Attributes:
        job: name of the job.
        name: name of the shard.
        episodes: numbers of the episodes whose rows the shard holds.
        files: the contents of its files, keyed by the part of the results to which each file belongs
            (`agora.benchmark.results.store.PARTS`).
    """

    job: str
    name: str
    episodes: tuple[int, ...]
    files: Mapping[str, bytes] = field(repr=False)


@dataclass(frozen=True)
class Done:
    """Event: a job has ended.

    Attributes:
        job: name of the job.
        given_up: for each episode without a row, the reason, keyed by episode number.
    """

    job: str
    given_up: Mapping[int, str]


@dataclass(frozen=True)
class Lost:
    """Event: the process that ran a job hung, died or was killed. No further events follow for this job.

    Attributes:
        job: name of the job.
        reason: description of what happened.
        call: number of the planner call that ended the process, counted from 1; None if no planner call caused it.
    """

    job: str
    reason: str
    call: int | None = None


@dataclass(frozen=True)
class Waiting:
    """Event: nothing has happened for a while. A run that has been asked to stop does so at the next event of any kind."""


Event = Progress | Finished | Done | Lost | Waiting


@dataclass(frozen=True)
class Watch:
    """Callbacks around any work that may hang: a planner call, a step of the world, or a metric.

    Attributes:
        before: function called with the name of the work that is about to begin (`agora.episode.PLANNER`, ``WORLD``, or "metric"
            followed by the metric's name).
        after: function called when the work has finished.
    """

    before: Callable[[str], None] = lambda what: None
    after: Callable[[], None] = lambda: None


class AnyJob(Protocol):
    """A job: plain data that can be pickled."""

    @property
    def name(self) -> str:
        """Name of the job, unique within the run."""

    @property
    def planner(self) -> str:
        """Label of the job's planner. Jobs of different planners run in different processes, because a planner may change the state
        of its process.
        """


class Work(Protocol):
    """The function that runs jobs. All jobs use the same object, which can be pickled, so it is sent to each worker only once."""

    def __call__(self, job: Any, watch: Watch = ...) -> Iterator[Event]:
        """Run a job and yield its events, `Done` last.

        Raises:
            Exception: the whole run failed, not just an episode; the exception is passed on to the caller of the run.
        """

    def of(self, planner: str) -> Work:
        """Return the work for the jobs of the planner with this label, to be sent to a separate process.

        Unpickling it does not import the code of other planners.
        """

    def files(self) -> Mapping[str, str]:
        """Digests of the jobs' input files on this machine, keyed by file name; a worker whose files have the same digests does not
        need `carrying`.

        Raises:
            InputError: a file is missing or cannot be read.
        """

    def packages(self) -> Mapping[str, str]:
        """Versions of the packages that provide the jobs' components, as installed on this machine, keyed by package name. Other
        versions may give different results.
        """

    def carrying(self, job: Any) -> Any:
        """Return the job with the contents of its input files, for workers that lack these files; created once per job."""


class Executor(Protocol):
    """A frozen dataclass that runs jobs; its fields are its parameters."""

    @property
    def workers(self) -> int:
        """Number of jobs that run concurrently, at least 1; it determines how episodes are divided into jobs."""

    def prepare(self) -> None:
        """Begin slow work, such as starting processes, while the benchmark reads its files; called at most once."""

    def run(self, work: Work, jobs: deque[Any]) -> Iterator[Event]:
        """Take jobs from the left of the queue until it is empty and no job is running, and yield their events as they arrive.

        The benchmark may append to the queue after every event. The events of a job arrive in order; events of different jobs may
        be interleaved. If nothing happens for a second, the executor may yield `Waiting`. When the iterator is closed, or an
        exception is raised into it, all running jobs are stopped at once.

        Raises:
            Exception: a job raised an exception, which is passed on.
        """
