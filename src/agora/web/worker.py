"""A worker: it takes runs out of the queue, one at a time, and has `agora.benchmark.bench` run them.

It is a process of its own. Where it is killed, the rows that are on the disk stay; whoever takes the run next goes on with them.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from agora.benchmark.bench import bench
from agora.benchmark.events import Advanced
from agora.benchmark.form import RequestForm
from agora.benchmark.kept import report
from agora.benchmark.run_folder import RunFolder
from agora.benchmark.stop_token import StopToken
from agora.config import build
from agora.errors import AgoraError, StoppedError, in_words, placed
from agora.web.database import opened
from agora.web.own import Own
from agora.web.queue import RunQueue
from agora.web.settings import Settings
from agora.web.tables import CANCELLED, FAILED, FINISHED, Run

LOOKS, BEATS = 0.5, 2.0
"""Periods at which a worker looks for a run, and says that it is alive, s."""


def form_of(fields: Any, folder: Path, executor: str = "", suite: Callable[[str], str] = str) -> RequestForm:
    """Return the request that somebody has filled in, with a folder of the server's.

    Args:
        fields: fields of `RequestForm` by name, plain data.
        folder: folder of the results; the run in it goes on where it holds one.
        executor: executor of the run's jobs; as the form says where empty.
        suite: gives the name of a suite as `agora.tasks.suite.load_suite` takes it.

    Raises:
        InputError: a field is unknown or wrong.
    """
    form = build(fields, RequestForm, "run")
    name, chosen = suite(form.suite), executor or form.executor
    return replace(form, suite=name, output=folder, resume=RunFolder.is_at(folder), add=False, executor=chosen)


def work(settings: Settings, stop: threading.Event) -> None:
    """Take runs and run them, until somebody sets ``stop``; a run that is under way then goes back into the queue."""
    name = f"{socket.gethostname()}:{os.getpid()}"
    with opened(settings.url) as engine:
        queue = RunQueue(engine)
        with _heard(queue, name):
            while not stop.is_set():
                run = queue.take(name)
                if run is None:
                    stop.wait(LOOKS)
                else:
                    _Conduct(queue, name, run, settings, stop).run()


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


class _Conduct:
    """One run, by this worker.

    Args:
        queue: queue that it was taken from.
        worker: name of this worker.
        run: the run.
        settings: settings of the server.
        stop: is set where this worker is to end.
    """

    def __init__(self, queue: RunQueue, worker: str, run: Run, settings: Settings, stop: threading.Event) -> None:
        self._queue, self._worker, self._id, self._stop = queue, worker, run.id, stop
        self._fields, self._folder, self._executor = run.form, settings.runs / run.id, settings.executor
        self._suite = Own(settings).suite
        self._done, self._total, self._token, self._over = run.done, run.total, StopToken(), threading.Event()

    def run(self) -> None:
        """Run it to its end, or until somebody stops it."""
        beats = threading.Thread(target=self._beat, daemon=True)
        beats.start()
        state, message = FAILED, ""
        try:
            self._conduct()
            state = FINISHED
        except StoppedError:
            state = CANCELLED
        except AgoraError as error:
            message = str(error)
        except OSError as error:
            message = in_words(error)
        except Exception as error:  # nobody is to take this run again and again: the worker ends, and another begins without it
            self._queue.end(self._id, self._worker, FAILED, placed(error, __file__))
            raise
        finally:
            self._over.set()
            beats.join()
        if state == CANCELLED and self._stop.is_set():
            self._queue.give_back(self._id, self._worker)
        else:
            self._tell(message)
            self._queue.end(self._id, self._worker, state, message)

    def _conduct(self) -> None:
        request = form_of(self._fields, self._folder, self._executor, self._suite).request()
        with closing(bench(request, self._token)) as events:  # type: ignore[type-var]
            for event in events:
                if isinstance(event, Advanced):
                    self._done, self._total = event.done, event.total
        report(self._folder)

    def _beat(self) -> None:
        """Say how far it is, until it is over; a run that is to stop is stopped."""
        while not self._over.wait(BEATS if self._total else 0.2):
            if self._stop.is_set() or not self._tell(""):
                self._token.stop()

    def _tell(self, message: str) -> bool:
        return self._queue.beat(self._id, self._worker, self._done, self._total, message)
