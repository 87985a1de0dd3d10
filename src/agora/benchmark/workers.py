"""Worker processes that run jobs, and the watch over them: a planner's call that hangs costs its worker, not the run."""

from __future__ import annotations

import ctypes
import multiprocessing
import pickle
import signal
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import forkserver
from multiprocessing.connection import Connection, wait
from typing import Any

from agora.benchmark import store
from agora.benchmark.job import Job, Plan, run
from agora.errors import AgoraError

DEADLINE = 30.0
"""s that one call of a planner may take before its worker is killed; compiling does not count."""

_POLL = 0.5
_PR_SET_PDEATHSIG = 1


def work(plan: Plan, pipe: Connection, began: Any) -> None:
    """Run jobs from a pipe until it closes; when the run is killed, its workers go too, and write nothing more.

    ``began`` is shared: the moment at which the planner was called, 0 while it is not running.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run stops its workers itself
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # the fork server goes when the run goes
    before, after = _watched(began)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            job = pipe.recv()
            try:
                run(plan, job, before, after, lambda n: pipe.send(("done", n)))
                answer: tuple[str, Exception | None] = ("finished", None)
            except (BrokenPipeError, ConnectionResetError):
                return
            except Exception as error:  # noqa: BLE001 - raised again by the run
                answer = ("error", _sendable(error))
            pipe.send(answer)


def _watched(began: Any) -> tuple[Callable[[], None], Callable[[], None]]:
    """What to call before and after a planner is called, so that ``began`` is right; it is 0 while Numba compiles."""
    from numba.core import event

    calling, compiling = False, 0

    def tell() -> None:
        began.value = time.monotonic() if calling and not compiling else 0.0

    class Compiling(event.Listener):  # type: ignore[misc]
        """Counts compilations, which contain others."""

        def on_start(self, _: Any) -> None:
            nonlocal compiling
            compiling += 1
            tell()

        def on_end(self, _: Any) -> None:
            nonlocal compiling
            compiling -= 1
            tell()

    def before() -> None:
        nonlocal calling
        calling = True
        tell()

    def after() -> None:
        nonlocal calling
        calling = False
        tell()

    event.register("numba:compile", Compiling())
    return before, after


def _sendable(error: Exception) -> Exception:
    """The error with its traceback as a note where it is not Agora's own; another with the same words where it cannot be sent."""
    if not isinstance(error, AgoraError):
        error.add_note("in a worker:\n" + traceback.format_exc())
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 - a stranger's exception may do anything
        return RuntimeError(f"in a worker:\n{traceback.format_exc()}")
    return error


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

    def hear(self, what: str, value: Any) -> int:
        """Take a message; returns the number of episodes that have ended."""
        if what == "finished":
            self.job = None
            return 0
        self.done += value
        return int(value)

    def stop(self) -> None:
        self.pipe.close()
        self.process.kill()
        self.process.join()


def start_server() -> None:
    """Start the process that workers are forked from, if it does not run yet; it imports what they need while others work."""
    multiprocessing.get_context("forkserver").set_forkserver_preload(["agora.benchmark.job", "scipy.ndimage"])
    forkserver.ensure_running()


@dataclass
class Pool:
    """Runs jobs on worker processes.

    Attributes:
        plan: of the run. workers: how many processes. deadline: s for one call of a planner.
        interrupted: jobs of one episode whose worker was killed or died, with the reason, in the end.
    """

    plan: Plan
    workers: int
    deadline: float = DEADLINE
    interrupted: list[tuple[Job, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        start_server()
        self._context = multiprocessing.get_context("forkserver")

    def _start(self) -> _Worker:
        mine, its = self._context.Pipe()
        began = self._context.Value("d", 0.0, lock=False)
        process = self._context.Process(target=work, args=(self.plan, its, began), daemon=True)
        process.start()
        its.close()
        return _Worker(process, mine, began)

    def run(self, jobs: list[Job]) -> Iterator[int]:
        """Run every job; yield numbers of episodes as they end (negative where a job is begun again).

        Raises:
            Exception: what a job raised.
        """
        waiting = deque(jobs)
        pool = [self._start() for _ in range(min(self.workers, len(jobs)))]
        try:
            while waiting or any(w.job for w in pool):
                for k, worker in enumerate(pool):
                    if worker.hangs(self.deadline):
                        yield from self._replace(pool, k, f"a call of the planner took longer than {self.deadline:g} s", waiting)
                    if pool[k].job is None and waiting:
                        pool[k].job, pool[k].done = waiting.popleft(), 0
                        with suppress(BrokenPipeError, ConnectionResetError):  # it died: heard below
                            pool[k].pipe.send(pool[k].job)
                for pipe in wait([w.pipe for w in pool if w.job], timeout=_POLL):
                    k = next(k for k, w in enumerate(pool) if w.pipe is pipe)
                    try:
                        what, value = pool[k].pipe.recv()
                    except (EOFError, ConnectionResetError):
                        pool[k].process.join()
                        yield from self._replace(pool, k, f"its worker died (exit code {pool[k].process.exitcode})", waiting)
                        continue
                    if what == "error":
                        raise value
                    yield pool[k].hear(what, value)
        finally:
            for worker in pool:
                worker.stop()

    def _replace(self, pool: list[_Worker], k: int, reason: str, waiting: deque[Job]) -> Iterator[int]:
        """Another worker for one that is lost; its job is run again episode by episode, or interrupted if it was a single one."""
        job, done = pool[k].job, pool[k].done
        pool[k].stop()
        pool[k] = self._start()
        if job is None or store.complete(self.plan.folder, job.shard):
            return
        yield -done
        if len(job.episodes) == 1:
            self.interrupted.append((job, reason))
            yield 1
        else:
            waiting.extend(Job(job.stage, job.planner, (episode,)) for episode in job.episodes)


def in_process(plan: Plan, jobs: list[Job], step: Callable[[int], None]) -> None:
    """Run jobs in this process, without a watch: for tests and notebooks."""
    for job in jobs:
        run(plan, job, lambda: None, lambda: None, step)
