"""Executors that can be had by name keep their contract, and bad ones do not."""

from __future__ import annotations

import os
import signal
from collections import deque
from dataclasses import dataclass, replace

import pytest
from tests import fake_ray

from agora.benchmark.executors.in_process import InProcess
from agora.benchmark.executors.processes import Processes
from agora.interfaces import Done, Finished, Lost, Waiting
from agora.registry import available, make
from agora.testing import ContractError, check_executor


@pytest.mark.parametrize("name", sorted(available("executors")))
def test_a_registered_executor_keeps_the_contract(name, monkeypatch):
    fake_ray.install(monkeypatch)  # with one node, which runs one job at a time
    check_executor(make("executors", name, **({"workers": 1} if name == "ray" else {})))


@dataclass(frozen=True)
class Idle(InProcess):
    workers = 0


@dataclass(frozen=True)
class DecidesEarly(InProcess):
    """Does not look into the queue again."""

    def run(self, work, jobs):
        for job in [jobs.popleft() for _ in range(len(jobs))]:
            yield from work(job)


@dataclass(frozen=True)
class Mumbles(InProcess):
    """Keeps the end of a job to itself."""

    def run(self, work, jobs):
        yield from (event for event in InProcess().run(work, jobs) if not isinstance(event, Done))


@dataclass(frozen=True)
class Cuts(InProcess):
    """Loses a byte."""

    def run(self, work, jobs):
        for event in super().run(work, jobs):
            if isinstance(event, Finished):
                event = replace(event, files={part: data[:-1] for part, data in event.files.items()})
            yield event


@dataclass(frozen=True)
class Swallows(InProcess):
    """Says of nothing that it went wrong."""

    def run(self, work, jobs):
        while jobs:
            try:
                yield from work(jobs.popleft())
            except ValueError:
                continue


@pytest.mark.parametrize(
    ("executor", "reason"),
    [
        (Idle(), "workers: expected an integer of at least 1, got 0"),
        (DecidesEarly(), "ends while 'late' is still in the queue"),
        (Mumbles(), "only the last is Done"),
        (Cuts(), "event 0 of 'job 0': expected"),
        (Swallows(), "an error that was not reported"),
    ],
)
def test_a_bad_executor_fails_for_its_own_reason(executor, reason):
    with pytest.raises(ContractError, match=reason):
        check_executor(executor)


@dataclass(frozen=True)
class Falls:
    """Work that takes its worker along."""

    def of(self, planner):
        return self

    def __call__(self, job, watch):
        os.kill(os.getpid(), signal.SIGKILL)
        yield Done(job.name, {})


@dataclass(frozen=True)
class Errand:
    name: str
    planner: str = "planner"


def test_a_worker_that_is_gone_is_told_and_another_goes_on():
    told = [one for one in Processes(workers=1).run(Falls(), deque([Errand("a"), Errand("b")])) if not isinstance(one, Waiting)]
    assert told == [Lost(name, "its worker died (exit code -9)") for name in ("a", "b")]
