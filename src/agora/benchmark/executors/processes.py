"""Local worker processes that run jobs, and the watch over them: a planner or a crowd that hangs costs its worker, not the run.

A call of the planner that hangs, or that ends its process, is the planner's failure like one that raises: the episode is run again
up to that call, which is not made (`agora.episode.Episodes`), and ends as ``planner_failed``. Where something else hangs, or where
somebody outside kills the worker, the episode is given up and has no row (`agora.benchmark.conductor`).
"""

from __future__ import annotations

import ctypes
import logging
import multiprocessing
import pickle
import signal
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Annotated, Any

from agora.episode import PLANNER, WORLD
from agora.errors import AgoraError
from agora.interfaces import Done, Event, Lost, Watch, Work
from agora.interfaces.executor import AnyJob
from agora.ranges import Within

DEADLINE = 30.0
"""s that one call of a planner or one step of the world may take before its worker is killed; compiling does not count."""

_COMPILING = logging.getLogger("agora.core.compiling")
_POLL = 0.5
_WATCHED = (PLANNER, WORLD)
_PR_SET_PDEATHSIG = 1
_KILLED = (-signal.SIGKILL, -signal.SIGTERM)
"""Exit codes of a process that was ended from outside: by a person, or by a machine that runs out of memory."""


def serve(work: Work, pipe: Connection, began: Any, what: Any, calls: Any, compiled: Any) -> None:
    """Run jobs from a pipe until it closes, and send their events; when the run is killed, its workers go too.

    Shared are ``began``, the moment at which a call that is watched began, 0 while there is none; ``what``, its number in
    `_WATCHED`; ``calls``, how often the planner was called in the job; and ``compiled``, how many functions were compiled here.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run stops its workers itself
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # the fork server goes when the run goes
    watch = Watch(*_watched(began, what, calls, compiled))
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            job = pipe.recv()
            calls.value = 0
            events = work(job, watch)
            while (event := _next(events)) is not None:
                pipe.send(event)


def _next(events: Iterator[Event]) -> Event | Exception | None:
    """The next event of a job, or what it raised; None at its end."""
    try:
        return next(events, None)
    except Exception as error:  # noqa: BLE001 - raised again by the run
        return _sendable(error)


def _watched(began: Any, what: Any, calls: Any, compiled: Any) -> tuple[Callable[[str], None], Callable[[], None]]:
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
            compiled.value += 1
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
    compiled: Any
    job: AnyJob | None = None
    told: int = 0

    def hangs(self, deadline: float) -> bool:
        began: float = self.began.value
        return began > 0.0 and time.monotonic() - began > deadline

    def lost(self, reason: str, *, planner: bool = True) -> Lost:
        """What is told of its job when it is gone: whether the planner did it is known by the call under way, if ``planner``."""
        assert self.job is not None
        asked = self.began.value > 0.0 and _WATCHED[self.what.value] == PLANNER
        return Lost(self.job.name, reason, self.calls.value if asked and planner else None)

    def tell(self) -> None:
        """Write to the log what was compiled since it was last told."""
        if functions := self.compiled.value - self.told:
            _COMPILING.info("compiling in a worker: %d functions", functions, extra={"functions": functions})
            self.told += functions

    def stop(self) -> None:
        self.pipe.close()
        self.process.kill()
        self.process.join()


def start_server() -> None:
    """Start the process that workers are forked from, if it does not run yet; it imports what they need while others work.

    It never hears Ctrl-C, not even while it imports: the run stops its workers itself.
    """
    multiprocessing.get_context("forkserver").set_forkserver_preload(
        ["agora.benchmark.executors.processes", "agora.benchmark.job", "scipy.ndimage"]
    )
    resource_tracker.ensure_running()  # the fork server's first step, which would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@dataclass(frozen=True)
class Processes:
    """Worker processes on this machine, forked from one that has imported what they need.

    Attributes:
        workers: how many.
        deadline: s that one call of a planner or one step of the world may take before its worker is killed; compiling does not
            count.
    """

    workers: Annotated[int, Within(1, 1024)] = 2
    deadline: Annotated[float, Within(0.0, 1e6, above=True)] = DEADLINE

    def prepare(self) -> None:
        """Start the process that workers are forked from."""
        start_server()

    def run(self, work: Work, jobs: deque[Any]) -> Iterator[Event]:
        """Run every job; see `agora.interfaces.Executor.run`."""
        start_server()
        pool = [_start(work) for _ in range(min(self.workers, len(jobs)))]
        try:
            while jobs or any(worker.job for worker in pool):
                for k, worker in enumerate(pool):
                    worker.tell()
                    if worker.job is not None and not worker.pipe.poll() and worker.hangs(self.deadline):
                        reason = f"{_WATCHED[worker.what.value]} took longer than {self.deadline:g} s"
                        lost = worker.lost(reason)
                        worker.stop()
                        pool[k] = _start(work)
                        yield lost
                    if pool[k].job is None and jobs:
                        pool[k].job = jobs.popleft()
                        with suppress(BrokenPipeError, ConnectionResetError):  # it died: heard below
                            pool[k].pipe.send(pool[k].job)
                for pipe in wait([worker.pipe for worker in pool if worker.job is not None], timeout=_POLL):
                    k = next(k for k, worker in enumerate(pool) if worker.pipe is pipe)
                    try:
                        event = pool[k].pipe.recv()
                    except (EOFError, ConnectionResetError):
                        lost = _mourned(pool[k])
                        pool[k] = _start(work)
                        yield lost
                        continue
                    if isinstance(event, Exception):
                        raise event
                    if isinstance(event, Done):
                        pool[k].job = None
                    yield event
        finally:
            for worker in pool:
                worker.stop()


def _start(work: Work) -> _Worker:
    context = multiprocessing.get_context("forkserver")
    mine, its = context.Pipe()
    shared = [context.Value(kind, 0, lock=False) for kind in ("d", "i", "l", "l")]
    process = context.Process(target=serve, args=(work, its, *shared), daemon=True)
    process.start()
    its.close()
    return _Worker(process, mine, *shared)


def _mourned(worker: _Worker) -> Lost:
    """What is told of the job of a worker that died."""
    worker.process.join()
    code = worker.process.exitcode
    by_planner = worker.lost(f"{PLANNER} ended its process (exit code {code})", planner=code not in _KILLED)
    lost = by_planner if by_planner.call is not None else worker.lost(f"its worker died (exit code {code})", planner=False)
    worker.stop()
    return lost
