"""Runs jobs in the benchmark's own process, without deadlines; meant for tests, notebooks and debuggers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agora.interfaces import Event, Work


@dataclass(frozen=True)
class InProcess:
    """Runs one job after another in this process; a planner that hangs blocks the run."""

    @property
    def workers(self) -> int:
        """The number of workers, always 1."""
        return 1

    def prepare(self) -> None:
        """Do nothing."""

    def run(self, work: Work, jobs: deque[Any]) -> Iterator[Event]:
        """Run every job; see `agora.interfaces.Executor.run`."""
        while jobs:
            yield from work(jobs.popleft())
