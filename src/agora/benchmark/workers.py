"""Worker processes that run jobs, and the watch over them: a planner or a crowd that hangs costs its worker, not the run.

A call of the planner that hangs, or that ends its process, is the planner's failure like one that raises: the episode is run again
up to that call, which is not made (`agora.episode.Episodes`), and ends as ``planner_failed``. Where something else hangs, or where
somebody outside kills the worker, the episode is given up and has no row.
"""

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
from dataclasses import dataclass, field, replace
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any

from agora.benchmark import store
from agora.benchmark.job import Job, Plan, Watch, key_of, run
from agora.episode import PLANNER, WORLD
from agora.errors import AgoraError

DEADLINE = 30.0
"""s that one call of a planner or one step of the world may take before its worker is killed; compiling does not count."""

_POLL = 0.5
_WATCHED = (PLANNER, WORLD)
_PR_SET_PDEATHSIG = 1
_KILLED = (-signal.SIGKILL, -signal.SIGTERM)
"""Exit codes of a process that was ended from outside: by a person, or by a machine that runs out of memory."""


def work(plan: Plan, pipe: Connection, began: Any, what: Any, calls: Any) -> None:
    """Run jobs from a pipe until it closes; when the run is killed, its workers go too, and write nothing more.

    Shared are ``began``, the moment at which a call that is watched began, 0 while there is none; ``what``, its number in
    `_WATCHED`; and ``calls``, how often the planner was called in the job.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run stops its workers itself
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # the fork server goes when the run goes
    before, after = _watched(began, what, calls)
    watch = Watch(before, after, lambda n: pipe.send(("done", n)))
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            job = pipe.recv()
            calls.value = 0
            try:
                answer: tuple[str, Any] = ("finished", run(plan, job, watch))
            except (BrokenPipeError, ConnectionResetError):
                return
            except Exception as error:  # noqa: BLE001 - raised again by the run
                answer = ("error", _sendable(error))
            pipe.send(answer)


def _watched(began: Any, what: Any, calls: Any) -> tuple[Callable[[str], None], Callable[[], None]]:
    """What to call before and after a call, so that what is shared is right; ``began`` is 0 while Numba compiles."""
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

    def before(name: str) -> None:
        nonlocal calling
        calling, what.value = True, _WATCHED.index(name)
        calls.value += name == PLANNER
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
    what: Any
    calls: Any
    job: Job | None = None
    done: int = 0

    def hangs(self, deadline: float) -> bool:
        began: float = self.began.value
        return began > 0.0 and time.monotonic() - began > deadline

    def asks_planner(self) -> bool:
        """Whether a call of the planner is under way, or was when the process died."""
        return self.began.value > 0.0 and _WATCHED[self.what.value] == PLANNER

    def stop(self) -> None:
        self.pipe.close()
        self.process.kill()
        self.process.join()


def start_server() -> None:
    """Start the process that workers are forked from, if it does not run yet; it imports what they need while others work.

    It never hears Ctrl-C, not even while it imports: the run stops its workers itself.
    """
    multiprocessing.get_context("forkserver").set_forkserver_preload(["agora.benchmark.job", "scipy.ndimage"])
    resource_tracker.ensure_running()  # the fork server's first step, which would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@dataclass
class Pool:
    """Runs jobs on worker processes.

    Attributes:
        plan: of the run. workers: how many processes. deadline: s for one call of a planner.
        interrupted: jobs of one episode that has no row, with the reason, in the end.
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
        shared = [self._context.Value(kind, 0, lock=False) for kind in ("d", "i", "l")]
        process = self._context.Process(target=work, args=(self.plan, its, *shared), daemon=True)
        process.start()
        its.close()
        return _Worker(process, mine, *shared)

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
                        reason = f"{_WATCHED[worker.what.value]} took longer than {self.deadline:g} s"
                        yield from self._replace(pool, k, reason, worker.asks_planner(), waiting)
                    if pool[k].job is None and waiting:
                        pool[k].job, pool[k].done = waiting.popleft(), 0
                        with suppress(BrokenPipeError, ConnectionResetError):  # it died: heard below
                            pool[k].pipe.send(pool[k].job)
                for pipe in wait([w.pipe for w in pool if w.job], timeout=_POLL):
                    k = next(k for k, w in enumerate(pool) if w.pipe is pipe)
                    try:
                        what, value = pool[k].pipe.recv()
                    except (EOFError, ConnectionResetError):
                        yield from self._mourn(pool, k, waiting)
                        continue
                    if what == "error":
                        raise value
                    yield self._hear(pool[k], value)
        finally:
            for worker in pool:
                worker.stop()

    def _hear(self, worker: _Worker, value: int | dict[int, str]) -> int:
        """Take a number of episodes that have ended, and return it; or, at the end of a job, what was given up."""
        if isinstance(value, int):
            worker.done += value
            return value
        assert worker.job is not None
        self.interrupted += given_up(worker.job, value)
        worker.job = None
        return 0

    def _mourn(self, pool: list[_Worker], k: int, waiting: deque[Job]) -> Iterator[int]:
        """Another worker for one that died."""
        pool[k].process.join()
        code = pool[k].process.exitcode
        if pool[k].asks_planner() and code not in _KILLED:
            yield from self._replace(pool, k, f"{PLANNER} ended its process (exit code {code})", True, waiting)
        else:
            yield from self._replace(pool, k, f"its worker died (exit code {code})", False, waiting)

    def _replace(self, pool: list[_Worker], k: int, reason: str, planner: bool, waiting: deque[Job]) -> Iterator[int]:
        """Another worker for one that is lost; its job is run again episode by episode.

        The job of a single episode is run again without the call that took its worker along if it was the planner's; it is given up
        where it was not, and where that took a worker along too.
        """
        job, done, calls = pool[k].job, pool[k].done, pool[k].calls.value
        pool[k].stop()
        pool[k] = self._start()
        if job is None or store.complete(self.plan.folder, job.shard):
            return
        yield -done
        # Of a job that was run in parts, some episodes may have their rows.
        rows = store.finished(self.plan.folder / "episodes")
        left = [k for k in job.episodes if key_of(self.plan.suite, job.stage, k, job.planner, 0) not in rows]
        yield len(job.episodes) - len(left)
        if len(job.episodes) == 1 and planner and job.unmade is None:
            waiting.append(replace(job, unmade=(calls, reason)))
        elif len(job.episodes) == 1:
            self.interrupted.append((job, reason))
            yield 1
        else:
            waiting.extend(Job(job.stage, job.planner, (episode,)) for episode in left)


def given_up(job: Job, reasons: dict[int, str]) -> list[tuple[Job, str]]:
    """The episodes of a job that have no row, as jobs of their own, with the reason."""
    return [(Job(job.stage, job.planner, (episode,)), reason) for episode, reason in reasons.items()]


def in_process(plan: Plan, jobs: list[Job], step: Callable[[int], None]) -> list[tuple[Job, str]]:
    """Run jobs in this process, without a watch: for tests and notebooks. Returns the episodes that have no row, and why."""
    return [lost for job in jobs for lost in given_up(job, run(plan, job, Watch(done=step)))]
