"""The contract for executors: every job runs exactly once, its events arrive unchanged, and no job keeps running after a stop."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from threading import Event as Signal
from typing import Any

from agora.interfaces import Done, Event, Executor, Finished, Lost, Progress, Waiting, Watch
from agora.testing.errors import ContractError

OfJob = Progress | Finished | Done | Lost
"""Events that belong to a job."""

_UNWATCHED = Watch()
_LONG, _SOON = 120.0, 60.0  # s, duration of a job to be stopped, and time within which it must stop


def check_executor(executor: Executor) -> None:
    """Check an executor against the contract of `agora.interfaces.Executor`.

    The executor runs at least one job at a time. Every job runs exactly once, even if it is queued while other jobs are running.
    The events of each job arrive in order and unchanged, with shards identical byte for byte. An exception in a job is raised in
    the code that reads the events. Closing the run stops it at once, and an empty queue causes no work. Episodes are identical,
    byte for byte, to episodes that run in this process.

    Raises:
        ContractError: the executor breaks a clause.
    """
    name = type(executor).__name__
    if not (isinstance(executor.workers, int) and executor.workers >= 1):
        raise ContractError(f"{name}: workers: expected an integer of at least 1, got {executor.workers!r}")
    executor.prepare()
    if found := list(executor.run(_Errands(), deque())):
        raise ContractError(f"{name}: an empty queue: expected no event, got {found[0]}")
    _runs_everything(name, executor)
    _raises(name, executor)
    _stops(name, executor)
    _episodes(name, executor)


@dataclass(frozen=True)
class _Errand:
    """A test job that runs no real episodes: it reports a number of episodes, or performs another action."""

    name: str
    episodes: int = 2
    mischief: str = ""
    planner: str = "planner"


@dataclass(frozen=True)
class _Errands:
    """The work object that runs errands."""

    def of(self, planner: str) -> _Errands:
        return self

    def files(self) -> dict[str, str]:
        return {}

    def packages(self) -> dict[str, str]:
        return {}

    def carrying(self, job: _Errand) -> _Errand:
        return replace(job)

    def __call__(self, job: _Errand, watch: Watch = _UNWATCHED) -> Iterator[Event]:
        for episode in range(job.episodes):
            watch.before("a call of the planner")
            watch.after()
            yield Progress(job.name, episode + 1)
        if job.mischief == "raises":
            raise ValueError(f"{job.name} on purpose")
        if job.mischief == "waits":
            Signal().wait(_LONG)
        yield Finished(job.name, f"{job.name} of {job.episodes}", tuple(range(job.episodes)), {"episodes": bytes(range(256)) * 999})
        yield Done(job.name, {job.episodes: f"{job.name} gave up \udc80"})


def _runs_everything(name: str, executor: Executor) -> None:
    jobs = [_Errand(f"job {k}", k) for k in range(5)]
    late, queue = _Errand("late", 3), deque(jobs)
    found: list[OfJob] = []
    with closing(executor.run(_Errands(), queue)) as events:  # type: ignore[type-var]
        for event in events:
            if isinstance(event, Done) and not any(isinstance(e, Done) for e in found):
                queue.append(late)
            if not isinstance(event, Waiting):
                found.append(event)
    if queue:
        raise ContractError(f"{name}: it ends while {queue[0].name!r} is still in the queue")
    _as_they_were(name, found, {job.name: list(_Errands()(job)) for job in (*jobs, late)})


def _as_they_were(name: str, found: Sequence[OfJob], expected: Mapping[str, Sequence[Event]]) -> None:
    for job, events in expected.items():
        mine = [event for event in found if event.job == job]
        for number, (one, other) in enumerate(zip(mine, events, strict=False)):
            if one != other:
                raise ContractError(f"{name}: event {number} of {job!r}: expected {other}, got {one}")
        if len(mine) != len(events):
            raise ContractError(f"{name}: {job!r}: expected {len(events)} events, of which only the last is Done, got {len(mine)}")
    if strange := [event for event in found if event.job not in expected]:
        raise ContractError(f"{name}: {strange[0]} does not belong to any of the given jobs")


def _raises(name: str, executor: Executor) -> None:
    try:
        list(executor.run(_Errands(), deque([_Errand("bad", 1, "raises")])))
    except ValueError as error:
        if "bad on purpose" not in str(error):
            raise ContractError(f"{name}: the message of a job's exception differs:  {error}") from error
    except Exception as error:
        raise ContractError(f"{name}: a ValueError of a job is raised as a {type(error).__name__}: {error}") from error
    else:
        raise ContractError(f"{name}: a job raised an error that was not reported")


def _stops(name: str, executor: Executor) -> None:
    events = executor.run(_Errands(), deque([_Errand("long", 1, "waits"), _Errand("longer", 1, "waits")]))
    next(events)
    began = time.monotonic()
    events.close()  # type: ignore[attr-defined]
    if (took := time.monotonic() - began) > _SOON:
        raise ContractError(f"{name}: it took {took:.0f} s to stop after being closed")
    if next(events, None) is not None:
        raise ContractError(f"{name}: it yields events after being closed")


def _episodes(name: str, executor: Executor) -> None:
    """Run a small suite, and return its shards, which must not depend on where the jobs run."""
    # Imported here, because each process that runs an errand imports this module.
    from agora.benchmark.job import Job, RunPlan
    from agora.draft.stage import Stage
    from agora.registry import Named
    from agora.tasks.suite import Suite

    stages = tuple(
        Stage(f"to {x:g} m", Named.of("worlds", "open"), Named.of("robots_modes", "random", distance=x), episodes=3, timeout=2.0)
        for x in (1.0, 2.0)
    )
    plan = RunPlan(Suite("contract", stages, seed=7), {"planner": Named.of("planners", "go_to_goal")})
    jobs = [Job(stage.name, "planner", some) for stage in stages for some in ((0, 1), (2,))]
    here, there = (_files(events) for events in ((e for job in jobs for e in plan(job)), executor.run(plan, deque(jobs))))
    for key, data in here.items():
        if there.get(key) != data:
            raise ContractError(f"{name}: the {key[1]} of a job differ from those computed in the benchmark process")


def _files(events: Iterator[Any]) -> dict[tuple[str, str], bytes]:
    """Return the files in the shards, except those with planning times."""
    shards = [event for event in events if isinstance(event, Finished)]
    return {(shard.name, part): data for shard in shards for part, data in shard.files.items() if part != "timing"}
