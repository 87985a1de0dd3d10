"""Runs jobs in local worker processes and supervises them: if a planner or crowd model hangs, only its worker is killed, and the
run continues.

A planner call that hangs, or that ends its process, counts as a failure of the planner, like an exception. The episode is then
rerun up to that call, the call is skipped (`agora.episode.Episodes`), and the outcome is ``planner_failed``. If something else
hangs, or if the worker is killed externally, the episode is given up and has no row (`agora.benchmark.conductor`).

A call counts as hanging if it takes longer than the deadline. The time for which its process waits for a processor (`Waits`) is not
counted, so a busy machine does not cause false alarms; nor is the time in which Numba compiles functions or loads compiled
functions.

A worker runs the jobs of a single planner, and imports no other planner. The planner may change the state of its process (modules,
limits, environment variables, signal handlers), so the next planner gets a new process. A worker that has many more open files
after a job than before is replaced, which closes leaked files.
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
from agora.ranges import Checked, Within
from agora.wire.waits import Waits

DEADLINE = 30.0
"""Maximum time for one planner call, one step of the world or one metric, s; a worker that exceeds it is killed."""

_COMPILING = logging.getLogger("agora.core.compiling")
_POLL = 0.5
_NAME = 200  # size of the buffer for the name of the watched call, bytes
_SPARE = 64  # number of open files that a worker may accumulate
_PR_SET_PDEATHSIG = 1
_KILLED = (-signal.SIGKILL, -signal.SIGTERM)
"""Exit codes of a process that was killed externally: by a user, or because the machine ran out of memory."""


def serve(work: Work, pipe: Connection, began: Any, what: Any, calls: Any, compiled: Any) -> None:
    """Run jobs received through a pipe until the pipe closes, and send back their events.

    If the run is killed, this process also ends. The first object sent is None, which signals that the worker is ready. The shared
    values are ``began``, the start time of the current watched call (0 between calls); ``what``, the name of the call; ``calls``,
    the number of planner calls in the job; and ``compiled``, the number of functions compiled in this process. The worker leads a
    process group that contains all processes started by planners.
    """
    os.setpgid(0, 0)
    tell_crashes()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run stops its workers itself
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # the fork server ends when the run ends
    os.register_at_fork(after_in_child=pipe.close)  # processes forked by external code are not workers
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
    """Return the number of open files of this process; 0 if the system does not report it."""
    try:
        return len(os.listdir("/proc/self/fd"))
    except FileNotFoundError:
        return 0
    except OSError:  # too many files are open to list them
        return sys.maxsize


class _Counter(logging.Handler):
    """Counts the functions compiled in this process, in a shared value."""

    def __init__(self, compiled: Any) -> None:
        super().__init__()
        self._compiled = compiled

    def emit(self, record: logging.LogRecord) -> None:
        """Increment the count."""
        self._compiled.value += 1


def _next(events: Iterator[Event]) -> Event | Exception | None:
    """Return the next event of a job, the exception that the job raised, or None at the end of the job."""
    try:
        return next(events, None)
    except BaseException as error:  # noqa: BLE001 - raised again by the run
        return _sendable(error)


def _watched(began: Any, what: Any, calls: Any) -> tuple[Callable[[str], None], Callable[[], None]]:
    """Return two functions, to be called before and after a watched call. While Numba compiles or loads functions, ``began`` is set
    to 0.
    """
    from numba.core import event

    calling, compiling = False, 0

    def tell() -> None:
        began.value = time.monotonic() if calling and not compiling else 0.0

    class CompilerLock(event.Listener):  # type: ignore[misc]
        """Listens to Numba's compiler lock and counts how often it is held, because a thread may acquire the lock several times."""

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
    """Return the error, with its traceback as a note unless it is one of Agora's own errors; if the error cannot be pickled, return
    a `RuntimeError` that contains the traceback.
    """
    if not isinstance(error, Exception):
        return RuntimeError(f"in a worker:\n{traceback.format_exc()}")
    if not isinstance(error, AgoraError):
        error.add_note("in a worker:\n" + traceback.format_exc())
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 - an exception from an external package may do anything
        return RuntimeError(f"in a worker:\n{traceback.format_exc()}")
    return error


@dataclass
class _Worker:
    """A worker process, the parent's end of its pipe, and its current work.

    Attributes:
        planner: label of the planner whose jobs the worker runs.
        ready: whether the process has started to accept jobs.
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
        """The name of the current or last watched call of the worker."""
        name: str = self.what.value.decode("utf-8", "replace")
        return name

    def hangs(self, deadline: float) -> bool:
        began: float = self.began.value
        return began > 0.0 and self.waits.of(began) > deadline

    def received(self) -> Any:
        """Return the next event of the worker, or the exception `EOFError` if the worker has ended."""
        try:
            if self.pipe.poll():
                event = self.pipe.recv()
                self.ready = True
                return event
        except (EOFError, ConnectionResetError):
            pass
        return EOFError()

    def lost(self, reason: str, *, planner: bool = True) -> Lost:
        """Return the event that reports the worker's job as lost. The planner is blamed if ``planner`` is True and a planner call
        was in progress when the worker was lost.
        """
        assert self.job is not None
        asked = self.began.value > 0.0 and self.named == PLANNER
        return Lost(self.job.name, reason, self.calls.value if asked and planner else None)

    def tell(self) -> None:
        """Log the functions that were compiled since the last call."""
        if functions := self.compiled.value - self.told:
            _COMPILING.info("compiling in a worker: %d functions", functions, extra={"functions": functions})
            self.told += functions

    def stop(self) -> None:
        """Log the compiled functions, then kill the worker and all processes that planners have started from it."""
        self.tell()
        self.pipe.close()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.join()

    def followed(self, work: Work, planner: str) -> _Worker:
        """Stop the worker, and return a new worker for the jobs of another planner."""
        self.stop()
        return _start(work, planner)


def start_server() -> None:
    """Start the process from which workers are forked, unless it is already running. It imports the workers' modules in the
    background.

    The process ignores Ctrl-C, even while it imports modules, because the run itself stops the workers.
    """
    multiprocessing.get_context("forkserver").set_forkserver_preload([__name__, "agora.benchmark.executors._preloaded"])
    resource_tracker.ensure_running()  # the fork server's first step, which would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@dataclass(frozen=True)
class Processes(Checked):
    """Runs jobs in worker processes on this machine, forked from a process that has already imported the modules they need.

    Attributes:
        workers: number of workers.
        deadline: maximum time for one planner call, one step of the world or one metric, s; a worker that exceeds it is killed. The
            time in which the worker waits for a processor or Numba compiles functions is not counted.
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
                        if pool[k].planner != job.planner or not pool[k].process.is_alive():  # ended: too many open files
                            pool[k] = pool[k].followed(work, job.planner)
                        pool[k].job = job
                        with suppress(BrokenPipeError, ConnectionResetError):  # the worker died, which is handled below
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
    """Return the event that reports the job of a dead worker as lost.

    Raises:
        InputError: the worker could not start.
    """
    worker.process.join()
    code = worker.process.exitcode
    if not worker.ready and code not in _KILLED:
        raise InputError(
            f"a worker process ended at startup (exit code {code}); its output is above. "
            'A script must start the benchmark inside: if __name__ == "__main__":'
        )
    by_planner = worker.lost(f"{PLANNER} ended its process (exit code {code})", planner=code not in _KILLED)
    lost = by_planner if by_planner.call is not None else worker.lost(f"its worker died (exit code {code})", planner=False)
    worker.stop()
    return lost
