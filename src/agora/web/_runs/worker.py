"""A worker, which takes runs of some kinds from the queue, one at a time, and executes them.

A worker is a separate process. If it is killed, everything on the disk remains, and the next worker resumes the run.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress

from sqlalchemy.exc import SQLAlchemyError

from agora.web._runs.benchmark import BenchmarkExecution
from agora.web._runs.execution import BEATS, Execution
from agora.web._runs.queue import RunQueue
from agora.web._runs.training import TrainingExecution
from agora.web._tables import BENCH, KINDS, TRAINING
from agora.web.database import open_database
from agora.web.settings import Settings

LOOKS = 0.5
"""Period at which a worker looks for a run, s."""

EXECUTIONS: dict[str, type[Execution]] = {BENCH: BenchmarkExecution, TRAINING: TrainingExecution}
"""The execution class for each kind of run."""


def name_of(pid: int) -> str:
    """Return the name of the worker with a process id on this machine."""
    return f"{socket.gethostname()}:{pid}"


def work(settings: Settings, stop: threading.Event, kinds: Collection[str] = KINDS, *, stays: bool = True) -> None:
    """Take runs and execute them until ``stop`` is set; an active run then returns to the queue.

    Args:
        settings: settings of the server.
        stop: event that is set when the worker should end.
        kinds: kinds of runs that the worker takes.
        stays: whether the worker stays alive when the queue is empty; otherwise, it ends.
    """
    name = name_of(os.getpid())
    with open_database(settings.url) as engine:
        queue = RunQueue(engine)
        with _heard(queue, name):
            while not stop.is_set():
                run = None
                with suppress(SQLAlchemyError):  # the database may be back the next time
                    run = queue.take(name, kinds)
                if run is not None:
                    EXECUTIONS[run.kind](queue, name, run, settings, stop).run()
                elif stays:
                    stop.wait(LOOKS)
                else:
                    return


@contextmanager
def _heard(queue: RunQueue, name: str) -> Iterator[None]:
    """Report regularly that a worker is alive, independently of its work."""
    over = threading.Event()

    def say() -> None:
        while not over.is_set():
            with suppress(SQLAlchemyError):
                queue.note_heartbeat(name)
            over.wait(BEATS)

    thread = threading.Thread(target=say, daemon=True, name="alive")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        with suppress(SQLAlchemyError):
            queue.remove_worker(name)


def main(settings: Settings, kind: str) -> None:
    """Execute runs of a kind until the parent process is gone; this is the entry point of a server's worker.

    A training worker ends when no training run is waiting, because it uses a lot of memory.
    """
    parent, stop = os.getppid(), threading.Event()

    def watch() -> None:
        while os.getppid() == parent:
            stop.wait(LOOKS)
        stop.set()

    threading.Thread(target=watch, daemon=True).start()
    work(settings, stop, (kind,), stays=kind != TRAINING)
