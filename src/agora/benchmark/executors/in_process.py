"""Runs jobs in the process of the benchmark, without a watch: for tests, notebooks and debuggers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agora.interfaces import Event, Work


@dataclass(frozen=True)
class InProcess:
    """One job after the other in this process; a planner that hangs hangs the run."""

    @property
    def workers(self) -> int:
        """One."""
        return 1

    def prepare(self) -> None:
        """Do nothing."""

    def run(self, work: Work, jobs: deque[Any]) -> Iterator[Event]:
        """Run every job; see `agora.interfaces.Executor.run`."""
        while jobs:
            yield from work(jobs.popleft())
