"""A worker: it takes runs out of the queue, one at a time, and works on them by their kind.

It is a process of its own. Where it is killed, what is on the disk stays; whoever takes the run next goes on with it.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sqlalchemy.exc import SQLAlchemyError

from agora.web.benches import BenchConduct
from agora.web.conduct import BEATS, Conduct
from agora.web.database import opened
from agora.web.queue import RunQueue
from agora.web.settings import Settings
from agora.web.tables import BENCH, TRAINING
from agora.web.training_conduct import TrainingConduct

LOOKS = 0.5
"""Period at which a worker looks for a run, s."""

CONDUCTS: dict[str, type[Conduct]] = {BENCH: BenchConduct, TRAINING: TrainingConduct}
"""The work on each kind of run."""


def work(settings: Settings, stop: threading.Event) -> None:
    """Take runs and work on them, until somebody sets ``stop``; a run that is under way then goes back into the queue."""
    name = f"{socket.gethostname()}:{os.getpid()}"
    with opened(settings.url) as engine:
        queue = RunQueue(engine)
        with _heard(queue, name):
            while not stop.is_set():
                run = queue.take(name)
                if run is None:
                    stop.wait(LOOKS)
                else:
                    CONDUCTS[run.kind](queue, name, run, settings, stop).run()


@contextmanager
def _heard(queue: RunQueue, name: str) -> Iterator[None]:
    """Say that a worker is alive, again and again, whatever it does."""
    over = threading.Event()

    def say() -> None:
        while not over.wait(BEATS):
            with suppress(SQLAlchemyError):  # the database may be back the next time
                queue.hear(name)

    queue.hear(name)
    thread = threading.Thread(target=say, daemon=True, name="alive")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        queue.leave(name)


def main(settings: Settings) -> None:
    """Work until the process that started this one is gone: the entry of a server's worker."""
    parent, stop = os.getppid(), threading.Event()

    def watch() -> None:
        while os.getppid() == parent:
            stop.wait(LOOKS)
        stop.set()

    threading.Thread(target=watch, daemon=True).start()
    work(settings, stop)
