"""Passes jobs to an executor, writes the returned shards, and repeats or gives up jobs whose workers were lost."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from agora.benchmark.events import Advanced, GivenUp, Kept, RunEvent
from agora.benchmark.job import Job, RunPlan
from agora.benchmark.results import store
from agora.interfaces import Done, Event, Executor, Finished, Lost, Progress


def conduct(plan: RunPlan, jobs: Sequence[Job], folder: Path, executor: Executor, *, before: int = 0) -> Iterator[RunEvent]:
    """Run jobs, write their shards to the results folder, and yield the events. Only this process writes to the folder.

    Args:
        plan: plan of the run; its token stops the run.
        jobs: jobs to run.
        folder: folder of the results.
        executor: runs the jobs.
        before: number of episodes that had already ended before this call.

    Raises:
        ResultsError: a shard cannot be written. StoppedError: a stop was requested. Exception: raised by a job.
    """
    total = before + sum(len(job.episodes) for job in jobs)
    told = Advanced(before, total)
    yield told
    if not jobs:
        return
    progress = _RunProgress(plan, folder, deque(jobs))
    with closing(executor.run(plan, progress.waiting)) as events:  # type: ignore[type-var]
        for event in events:
            plan.token.check()
            yield from progress.apply(event)
            now = Advanced(before + progress.settled + sum(progress.ended.values()), total)
            if now != told:
                yield (told := now)


class _RunProgress:
    """The progress of a run.

    Attributes:
        waiting: jobs that no worker has started.
        jobs: unfinished jobs, by name.
        ended: number of episodes that have ended, by job.
        settled: number of episodes of finished jobs.
    """

    def __init__(self, plan: RunPlan, folder: Path, waiting: deque[Job]) -> None:
        self.plan, self.folder, self.waiting = plan, folder, waiting
        self.jobs = {job.name: job for job in waiting}
        self.ended: dict[str, int] = {}
        self.settled = 0
        self._kept: dict[str, set[int]] = {}

    def apply(self, event: Event) -> Iterator[RunEvent]:
        """Apply an event to the counts, and yield the resulting events of the run."""
        match event:
            case Progress(name, ended):
                self.ended[name] = ended
            case Finished(name, shard, episodes, files):
                store.keep(self.folder, shard, files)
                self._kept.setdefault(name, set()).update(episodes)
                yield Kept(self.jobs[name].stage, self.jobs[name].planner, episodes, shard)
            case Done(name, given_up):
                job = self._forget(name)
                self.settled += len(job.episodes)
                for episode, reason in given_up.items():
                    yield GivenUp(job.stage, job.planner, episode, reason)
            case Lost(name, reason, call):
                kept = self._kept.get(name, set())
                yield from self._try_again(self._forget(name), kept, reason, call)

    def _forget(self, name: str) -> Job:
        self.ended.pop(name, None)
        self._kept.pop(name, None)
        return self.jobs.pop(name)

    def _try_again(self, job: Job, kept: set[int], reason: str, call: int | None) -> Iterator[GivenUp]:
        """Repeat a job whose worker was lost, one episode at a time.

        If the planner's call ended the worker, a job with a single episode is repeated without that call. If the call was not to
        blame, or if the repetition also ended its worker, the episode is given up.
        """
        left = [episode for episode in job.episodes if episode not in kept]
        self.settled += len(job.episodes) - len(left)
        if len(job.episodes) > 1:
            self._append(Job(job.stage, job.planner, (episode,)) for episode in left)
        elif left and call is not None and job.unmade is None:
            self._append([replace(job, unmade=(call, reason))])
        elif left:
            self.settled += 1
            yield GivenUp(job.stage, job.planner, left[0], reason)

    def _append(self, jobs: Iterable[Job]) -> None:
        for job in jobs:
            self.jobs[job.name] = job
            self.waiting.append(job)
