"""Hands jobs to an executor, writes the shards that come back, and decides what becomes of jobs whose worker was lost."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from agora.benchmark import store
from agora.benchmark.job import Job, Plan, key_of
from agora.interfaces import Done, Event, Executor, Finished, Lost, Progress


def conduct(
    plan: Plan, jobs: Sequence[Job], folder: Path, executor: Executor, progress: Callable[[int], None] = lambda ended: None
) -> dict[str, str]:
    """Run jobs, and write their shards to the folder of the results; only this process writes there.

    Args:
        plan: of the run. jobs: to do. folder: of the results. executor: who does them.
        progress: called with the number of episodes of these jobs that have ended.

    Returns:
        Why episodes have no row, by the key of their first robot's row.

    Raises:
        ResultsError: a shard cannot be written. Exception: what a job raised.
    """
    if not jobs:
        return {}
    score = _Score(plan, folder, deque(jobs))
    with closing(executor.run(plan, score.waiting)) as events:  # type: ignore[type-var]
        for event in events:
            score.hear(event)
            progress(score.settled + sum(score.ended.values()))
    return score.interrupted


class _Score:
    """How far a run is.

    Attributes:
        waiting: jobs that nobody runs yet. jobs: that are not done, by name. ended: how many episodes of each have ended.
        settled: episodes of jobs that are done. interrupted: why episodes have no row, by key.
    """

    def __init__(self, plan: Plan, folder: Path, waiting: deque[Job]) -> None:
        self.plan, self.folder, self.waiting = plan, folder, waiting
        self.jobs = {job.name: job for job in waiting}
        self.ended: dict[str, int] = {}
        self.settled = 0
        self.interrupted: dict[str, str] = {}
        self._kept: dict[str, set[int]] = {}

    def hear(self, event: Event) -> None:
        """Take in an event."""
        match event:
            case Progress(name, ended):
                self.ended[name] = ended
            case Finished(name, shard, episodes, files):
                store.keep(self.folder, shard, files)
                self._kept.setdefault(name, set()).update(episodes)
            case Done(name, given_up):
                job = self._forget(name)
                self.settled += len(job.episodes)
                for episode, reason in given_up.items():
                    self._give_up(job, episode, reason)
            case Lost(name, reason, call):
                kept = self._kept.get(name, set())
                self._try_again(self._forget(name), kept, reason, call)

    def _forget(self, name: str) -> Job:
        self.ended.pop(name, None)
        self._kept.pop(name, None)
        return self.jobs.pop(name)

    def _give_up(self, job: Job, episode: int, reason: str) -> None:
        self.interrupted[key_of(self.plan.suite, job.stage, episode, job.planner, 0)] = reason

    def _try_again(self, job: Job, kept: set[int], reason: str, call: int | None) -> None:
        """Have a job whose worker was lost run again, episode by episode.

        The job of a single episode is run again without the call that took its worker along if it was the planner's; it is given up
        where it was not, and where that took a worker along too.
        """
        left = [episode for episode in job.episodes if episode not in kept]
        self.settled += len(job.episodes) - len(left)
        if len(job.episodes) > 1:
            self._append(Job(job.stage, job.planner, (episode,)) for episode in left)
        elif left and call is not None and job.unmade is None:
            self._append([replace(job, unmade=(call, reason))])
        elif left:
            self._give_up(job, left[0], reason)
            self.settled += 1

    def _append(self, jobs: Iterable[Job]) -> None:
        for job in jobs:
            self.jobs[job.name] = job
            self.waiting.append(job)
