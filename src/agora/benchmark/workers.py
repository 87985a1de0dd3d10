"""Worker processes that run jobs, and the watch over them: a planner's call that hangs costs its worker, not the run."""

from __future__ import annotations

import multiprocessing
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing import forkserver
from multiprocessing.connection import Connection, wait
from typing import Any

from agora.benchmark.job import Job, Plan, run
from agora.errors import AgoraError, InputError

DEADLINE = 30.0
"""s that one call of a planner may take before its worker is killed; compiling does not count."""

_POLL = 0.5


def work(plan: Plan, pipe: Connection, began: Any) -> None:
    """Run jobs from a pipe until it closes.

    ``began`` is shared: the moment at which the planner was called, 0 while it is not running.
    """
    from numba.core import event

    class Compiling(event.Listener):  # type: ignore[misc]
        """Stops the clock while Numba compiles."""

        def on_start(self, _: Any) -> None:
            began.value = 0.0

        def on_end(self, _: Any) -> None:
            began.value = time.monotonic() if calling[0] else 0.0

    calling = [False]

    def before() -> None:
        calling[0] = True
        began.value = time.monotonic()

    def after() -> None:
        calling[0] = False
        began.value = 0.0

    event.register("numba:compile", Compiling())
    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return
        try:
            run(plan, job, before, after, lambda n: pipe.send(("done", n)))
            pipe.send(("finished", None))
        except AgoraError as error:
            pipe.send(("error", error))


@dataclass
class _Worker:
    """A process, the parent's end of its pipe, and what it is doing."""

    process: Any
    pipe: Connection
    began: Any
    job: Job | None = None
    done: int = 0

    def hangs(self, deadline: float) -> bool:
        began: float = self.began.value
        return began > 0.0 and time.monotonic() - began > deadline

    def stop(self) -> None:
        self.pipe.close()
        self.process.kill()
        self.process.join()


@dataclass
class Pool:
    """Runs jobs on worker processes. The process that they are forked from starts with the pool, and imports while others work.

    Attributes:
        plan: of the run. workers: how many processes. deadline: s for one call of a planner.
        interrupted: jobs of one episode whose planner hung, in the end.
    """

    plan: Plan
    workers: int
    deadline: float = DEADLINE
    interrupted: list[Job] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["agora.benchmark.job", "scipy.ndimage"])
        forkserver.ensure_running()

    def _start(self) -> _Worker:
        mine, its = self._context.Pipe()
        began = self._context.Value("d", 0.0, lock=False)
        process = self._context.Process(target=work, args=(self.plan, its, began), daemon=True)
        process.start()
        its.close()
        return _Worker(process, mine, began)

    def run(self, jobs: list[Job]) -> Iterator[int]:
        """Run every job; yield numbers of episodes as they end (negative where a hung job is begun again).

        Raises:
            AgoraError: what a job raised; InputError: a worker died.
        """
        waiting = deque(jobs)
        pool = [self._start() for _ in range(min(self.workers, len(jobs)))]
        try:
            while waiting or any(w.job for w in pool):
                for k, worker in enumerate(pool):
                    if worker.job is not None and worker.hangs(self.deadline):
                        yield -worker.done
                        yield from self._give_up(worker.job, waiting)
                        worker.stop()
                        pool[k] = self._start()
                    if pool[k].job is None and waiting:
                        pool[k].job, pool[k].done = waiting.popleft(), 0
                        pool[k].pipe.send(pool[k].job)
                for pipe in wait([w.pipe for w in pool if w.job], timeout=_POLL):
                    yield from self._hear(next(w for w in pool if w.pipe is pipe))
        finally:
            for worker in pool:
                worker.stop()

    def _give_up(self, job: Job, waiting: deque[Job]) -> Iterator[int]:
        """A job that hung is run again episode by episode; one that was a single episode is interrupted."""
        if len(job.episodes) == 1:
            self.interrupted.append(job)
            yield 1
        else:
            waiting.extend(Job(job.stage, job.planner, (k,)) for k in job.episodes)

    def _hear(self, worker: _Worker) -> Iterator[int]:
        assert worker.job is not None
        try:
            what, value = worker.pipe.recv()
        except EOFError as error:
            code = worker.process.exitcode
            raise InputError(
                f"a worker died (exit code {code}) in stage {worker.job.stage!r}, planner {worker.job.planner!r}"
            ) from error
        if what == "done":
            worker.done += value
            yield value
        elif what == "finished":
            worker.job = None
        else:
            raise value


def in_process(plan: Plan, jobs: list[Job], step: Callable[[int], None]) -> None:
    """Run jobs in this process, without a watch: for tests and notebooks."""
    for job in jobs:
        run(plan, job, lambda: None, lambda: None, step)
