"""A worker: it takes runs of some kinds out of the queue, one at a time, and works on them by their kind.

It is a process of its own. Where it is killed, what is on the disk stays; whoever takes the run next goes on with it.
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
"""The work on each kind of run."""


def name_of(pid: int) -> str:
    """Return the name of the worker that is a process of this machine."""
    return f"{socket.gethostname()}:{pid}"


def work(settings: Settings, stop: threading.Event, kinds: Collection[str] = KINDS, *, stays: bool = True) -> None:
    """Take runs and work on them, until somebody sets ``stop``; a run that is under way then goes back into the queue.

    Args:
        settings: settings of the server.
        stop: is set where the worker is to end.
        kinds: kinds of runs that it takes.
        stays: whether it waits for runs where none waits for it; it ends otherwise.
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
    """Say that a worker is alive, again and again, whatever it does."""
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
    """Work on runs of a kind until the process that started this one is gone: the entry of a server's worker.

    A worker of trainings ends where none waits: it holds much memory.
    """
    parent, stop = os.getppid(), threading.Event()

    def watch() -> None:
        while os.getppid() == parent:
            stop.wait(LOOKS)
        stop.set()

    threading.Thread(target=watch, daemon=True).start()
    work(settings, stop, (kind,), stays=kind != TRAINING)
