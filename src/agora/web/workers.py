"""Keeps worker processes alive."""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.process import BaseProcess

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from agora.web._runs.queue import RunQueue
from agora.web._runs.worker import LOOKS, name_of
from agora.web._runs.worker import main as work
from agora.web._tables import BENCH, TRAINING
from agora.web.settings import Settings


@contextmanager
def run_workers(settings: Settings, engine: Engine, count: int) -> Iterator[None]:
    """Keep ``count`` workers for benchmark runs alive, and one training worker while training runs are waiting; dead workers are
    replaced.

    Training runs take hours. They have a worker of their own, so that other runs need not wait for them.
    """
    queue, over = RunQueue(engine), threading.Event()
    kinds = [*[BENCH] * count, TRAINING] if count else []
    threads = [threading.Thread(target=_keep, args=(settings, queue, over, kind), name=f"worker of {kind}") for kind in kinds]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def _keep(settings: Settings, queue: RunQueue, over: threading.Event, kind: str) -> None:
    """Keep a worker for a kind of run alive until the server ends."""
    while not over.is_set():
        if kind != TRAINING or _waits(queue):
            worker = multiprocessing.get_context("spawn").Process(
                target=work, args=(settings, kind), name=f"agora worker of {kind}"
            )
            worker.start()
            while worker.is_alive() and not over.is_set():
                worker.join(LOOKS)
            ended = over.is_set()
            if ended:
                worker.terminate()
            worker.join()
            _note_end(queue, worker, died=not ended)
        over.wait(2 * LOOKS)


def _note_end(queue: RunQueue, worker: BaseProcess, *, died: bool) -> None:
    """Requeue the run of a worker that has ended."""
    assert worker.pid is not None
    with suppress(SQLAlchemyError):  # the queue will notice that the worker is silent
        if died and worker.exitcode:
            queue.requeue_dead(name_of(worker.pid), _how(worker.exitcode))
        else:
            queue.remove_worker(name_of(worker.pid))


def _waits(queue: RunQueue) -> bool:
    """Return whether a training run is waiting."""
    with suppress(SQLAlchemyError):  # the database may be back the next time
        return queue.has_waiting(TRAINING)
    return False


def _how(code: int) -> str:
    """Return a description of how a worker died, from its exit code."""
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
