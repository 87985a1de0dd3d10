"""Local worker processes that run jobs, and the watch over them: a planner or a crowd that hangs costs its worker, not the run.

A call of the planner that hangs, or that ends its process, is the planner's failure like one that raises: the episode is run again
up to that call, which is not made (`agora.episode.Episodes`), and ends as ``planner_failed``. Where something else hangs, or where
somebody outside kills the worker, the episode is given up and has no row (`agora.benchmark.conductor`).

A call hangs when it has taken longer than the deadline, less what its process waited for a processor meanwhile (`Waits`): a busy
machine makes nobody hang. Time in which Numba compiles, or loads what it has compiled, does not count.

A worker runs the jobs of one planner, and imports no other planner. The planner may change the state of its process (modules,
limits, environment variables, signal handlers); the next planner has another process. A worker that a job has left with many more
open files is replaced, so that whose files leak has them closed.
"""

from __future__ import annotations

import ctypes
import logging
import multiprocessing
import os
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

from agora.core.untrusted_calls import tell_crashes
from agora.episode import PLANNER
from agora.errors import AgoraError, InputError
from agora.interfaces import Done, Event, Lost, Waiting, Watch, Work
from agora.interfaces.executor import AnyJob
from agora.ranges import Within
from agora.wire.waits import Waits

DEADLINE = 30.0
"""s that one call of a planner, one step of the world or one metric may take before its worker is killed."""

_COMPILING = logging.getLogger("agora.core.compiling")
_POLL = 0.5
_NAME = 200  # bytes of the name of what is watched
_SPARE = 64  # open files that a worker may have more than at its beginning
_PR_SET_PDEATHSIG = 1
_KILLED = (-signal.SIGKILL, -signal.SIGTERM)
"""Exit codes of a process that was ended from outside: by a person, or by a machine that runs out of memory."""


def serve(work: Work, pipe: Connection, began: Any, what: Any, calls: Any, compiled: Any) -> None:
    """Run jobs from a pipe until it closes, and send their events; when the run is killed, its workers go too.

    The first thing that is sent is None. Shared are ``began``, the moment at which a call that is watched began, 0 while there is
    none; ``what``, its name; ``calls``, how often the planner was called in the job; and ``compiled``, how many functions were
    compiled here. The worker leads a group of processes, to which all belong that planners start.
    """
    os.setpgid(0, 0)
    tell_crashes()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run stops its workers itself
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # the fork server goes when the run goes
    os.register_at_fork(after_in_child=pipe.close)  # what a stranger's code forks is no worker
    _COMPILING.setLevel(logging.INFO)
    _COMPILING.addHandler(_Counter(compiled))
    watch = Watch(*_watched(began, what, calls))
    files = _open_files()
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        pipe.send(None)
        while _open_files() <= files + _SPARE:
            job = pipe.recv()
            calls.value = 0
            events = work(job, watch)
            while (event := _next(events)) is not None:
                pipe.send(event)


def _open_files() -> int:
    """Return the number of files that this process holds open; 0 where the system does not say."""
    try:
        return len(os.listdir("/proc/self/fd"))
    except FileNotFoundError:
        return 0
    except OSError:  # there is no handle left to count with
        return sys.maxsize


class _Counter(logging.Handler):
    """Counts the functions that are compiled in this process in a number that is shared."""

    def __init__(self, compiled: Any) -> None:
        super().__init__()
        self._compiled = compiled

    def emit(self, record: logging.LogRecord) -> None:
        """Count one."""
        self._compiled.value += 1


def _next(events: Iterator[Event]) -> Event | Exception | None:
    """Return the next event of a job, or the exception that it raised; None at its end."""
    try:
        return next(events, None)
    except BaseException as error:  # noqa: BLE001 - raised again by the run
        return _sendable(error)


def _watched(began: Any, what: Any, calls: Any) -> tuple[Callable[[str], None], Callable[[], None]]:
    """Return the two functions to call before and after a watched call; ``began`` is 0 while Numba compiles or loads."""
    from numba.core import event

    calling, compiling = False, 0

    def tell() -> None:
        began.value = time.monotonic() if calling and not compiling else 0.0

    class CompilerLock(event.Listener):  # type: ignore[misc]
        """Counts the holders of the compiler's lock, which may be held more than once."""

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
        calling, what.value = True, name.encode()[:_NAME]
        calls.value += name == PLANNER
        tell()

    def after() -> None:
        nonlocal calling
        calling = False
        tell()

    event.register("numba:compiler_lock", CompilerLock())
    return before, after


def _sendable(error: BaseException) -> Exception:
    """The error with its traceback as a note where it is not Agora's own; another with the same words where it cannot be sent."""
    if not isinstance(error, Exception):
        return RuntimeError(f"in a worker:\n{traceback.format_exc()}")
    if not isinstance(error, AgoraError):
        error.add_note("in a worker:\n" + traceback.format_exc())
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 - a stranger's exception may do anything
        return RuntimeError(f"in a worker:\n{traceback.format_exc()}")
    return error


@dataclass
class _Worker:
    """A process, the parent's end of its pipe, and its present work.

    Attributes:
        planner: label of the planner whose jobs it runs.
        ready: whether it has begun to listen.
    """

    planner: str
    process: Any
    pipe: Connection
    began: Any
    what: Any
    calls: Any
    compiled: Any
    waits: Waits
    told: int = 0
    job: AnyJob | None = None
    ready: bool = False

    @property
    def named(self) -> str:
        """The name of the watched call that the worker makes or made last."""
        name: str = self.what.value.decode("utf-8", "replace")
        return name

    def hangs(self, deadline: float) -> bool:
        began: float = self.began.value
        return began > 0.0 and self.waits.of(began) > deadline

    def received(self) -> Any:
        """Return the event that the worker has sent; the exception `EOFError` where the worker has ended."""
        try:
            if self.pipe.poll():
                event = self.pipe.recv()
                self.ready = True
                return event
        except (EOFError, ConnectionResetError):
            pass
        return EOFError()

    def lost(self, reason: str, *, planner: bool = True) -> Lost:
        """Return the report on the worker's lost job; the planner is to blame if ``planner`` and its call was under way."""
        assert self.job is not None
        asked = self.began.value > 0.0 and self.named == PLANNER
        return Lost(self.job.name, reason, self.calls.value if asked and planner else None)

    def tell(self) -> None:
        """Log the functions that were compiled since the last log."""
        if functions := self.compiled.value - self.told:
            _COMPILING.info("compiling in a worker: %d functions", functions, extra={"functions": functions})
            self.told += functions

    def stop(self) -> None:
        """End the worker, and all that planners have started in it, once its compiled functions are logged."""
        self.tell()
        self.pipe.close()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.join()

    def followed(self, work: Work, planner: str) -> _Worker:
        """End the worker, and return another for the jobs of a planner."""
        self.stop()
        return _start(work, planner)


def start_server() -> None:
    """Start the process that workers are forked from, if it does not run yet; it imports what they need while others work.

    It never hears Ctrl-C, not even while it imports: the run stops its workers itself.
    """
    multiprocessing.get_context("forkserver").set_forkserver_preload([__name__, "agora.benchmark.executors._preloaded"])
    resource_tracker.ensure_running()  # the fork server's first step, which would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@dataclass(frozen=True)
class Processes:
    """Worker processes on this machine, forked from one that has imported their modules.

    Attributes:
        workers: number of workers.
        deadline: longest time of one call of a planner, one step of the world or one metric, s, before its worker is killed. Time
            in which the worker waits for a processor, or in which Numba compiles, does not count.
    """

    workers: Annotated[int, Within(1, 1024)] = 2
    deadline: Annotated[float, Within(0.0, 1e6, above=True)] = DEADLINE

    def prepare(self) -> None:
        """Start the process that workers are forked from."""
        start_server()

    def run(self, work: Work, jobs: deque[Any]) -> Iterator[Event]:
        """Run every job; see `agora.interfaces.Executor.run`."""
        start_server()
        pool = [_start(work, job.planner) for job in list(jobs)[: self.workers]]
        poll = min(_POLL, 0.5 * self.deadline)
        try:
            while jobs or any(worker.job for worker in pool):
                for k, worker in enumerate(pool):
                    worker.tell()
                    if worker.job is not None and not worker.pipe.poll() and worker.hangs(self.deadline):
                        lost = worker.lost(f"{worker.named} took longer than {self.deadline:g} s")
                        pool[k] = worker.followed(work, worker.planner)
                        yield lost
                    if pool[k].job is None and jobs:
                        job = jobs.popleft()
                        if pool[k].planner != job.planner or not pool[k].process.is_alive():  # it has too many open files
                            pool[k] = pool[k].followed(work, job.planner)
                        pool[k].job = job
                        with suppress(BrokenPipeError, ConnectionResetError):  # it died: received below
                            pool[k].pipe.send(job)
                busy = {handle: k for k, one in enumerate(pool) if one.job for handle in (one.pipe, one.process.sentinel)}
                ready = {busy[handle] for handle in wait([*busy], timeout=poll)}
                if not ready:
                    yield Waiting()
                for k in ready:
                    event = pool[k].received()
                    if isinstance(event, EOFError):
                        lost = _report_death(pool[k])
                        pool[k] = _start(work, pool[k].planner)
                        yield lost
                        continue
                    if isinstance(event, Exception):
                        raise event
                    if isinstance(event, Done):
                        pool[k].job = None
                    if event is not None:
                        yield event
        finally:
            for worker in pool:
                worker.stop()


def _start(work: Work, planner: str) -> _Worker:
    """Start a worker for the jobs of a planner."""
    context = multiprocessing.get_context("forkserver")
    mine, its = context.Pipe()
    began, calls, compiled = (context.Value(kind, 0, lock=False) for kind in ("d", "l", "l"))
    shared = (began, context.Array("c", _NAME, lock=False), calls, compiled)
    process = context.Process(target=serve, args=(work.of(planner), its, *shared), daemon=True)
    process.start()
    its.close()
    return _Worker(planner, process, mine, *shared, Waits(process.pid))


def _report_death(worker: _Worker) -> Lost:
    """Return the report on the job of a worker that died.

    Raises:
        InputError: it could not even begin.
    """
    worker.process.join()
    code = worker.process.exitcode
    if not worker.ready and code not in _KILLED:
        raise InputError(
            f"a worker process ended before it began (exit code {code}); what it said stands above. "
            'A script that runs a benchmark calls it under: if __name__ == "__main__":'
        )
    by_planner = worker.lost(f"{PLANNER} ended its process (exit code {code})", planner=code not in _KILLED)
    lost = by_planner if by_planner.call is not None else worker.lost(f"its worker died (exit code {code})", planner=False)
    worker.stop()
    return lost
