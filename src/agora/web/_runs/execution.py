"""The execution of a run by a worker. The work depends on the kind of run; starting, stopping and ending are shared."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from agora.benchmark.stop_token import StopToken
from agora.errors import AgoraError, StoppedError, placed
from agora.web._runs.queue import RunQueue
from agora.web._storage_errors import disk_message, is_full
from agora.web._tables import CANCELLED, FAILED, FINISHED, Run
from agora.web.settings import Settings

BEATS = 2.0
"""Period of a worker's heartbeat, s."""


class Execution:
    """The execution of a run by a worker.

    Args:
        queue: queue from which the run was taken.
        worker: name of the worker.
        run: the run.
        settings: settings of the server.
        stop: event that is set when the worker should end.

    Attributes:
        fields: fields of the filled-in form.
        folder: folder of the run.
        done: progress so far, in the units of ``total``.
        total: value that ``done`` has at the end; 0 until the run has started.
        status: one line on the state of the work.
        token: token that requests the work to stop.
    """

    def __init__(self, queue: RunQueue, worker: str, run: Run, settings: Settings, stop: threading.Event) -> None:
        self._queue, self._worker, self._id, self._stop, self._over = queue, worker, run.id, stop, threading.Event()
        self.settings, self.token, self.status = settings, StopToken(), ""
        self.fields: dict[str, Any] = run.form
        self.folder: Path = settings.runs / run.id
        self.done, self.total = run.done, run.total

    def work(self) -> None:
        """Do the work of the run.

        Raises:
            StoppedError: ``token`` requested a stop; the message is shown with the run.
            AgoraError: the run has failed.
        """
        raise NotImplementedError

    def run(self) -> None:
        """Do the work until it is finished or stopped, and record the outcome."""
        beats = threading.Thread(target=self._beat, daemon=True)
        beats.start()
        state, message = FAILED, ""
        try:
            with _reporting_compilation(self):
                self.work()
            state = FINISHED
        except StoppedError as error:
            state, message = CANCELLED, str(error)
        except (AgoraError, OSError) as error:
            message = _failure_message(error)
        except Exception as error:  # end the run, or every new worker would take it again and die
            self._queue.end(self._id, self._worker, FAILED, placed(error, __file__))
            raise
        finally:
            self._over.set()
            beats.join()
        if state == CANCELLED and self._stop.is_set():
            self._queue.requeue(self._id, self._worker)
        else:
            self._tell(message)
            self._queue.end(self._id, self._worker, state, message)

    def _beat(self) -> None:
        """Report progress until the run is over; stop the run if this was requested."""
        while not self._over.wait(BEATS if self.total else 0.2):
            with suppress(SQLAlchemyError):  # the database may be back the next time
                if self._stop.is_set() or not self._tell(self.status):
                    self.token.stop()

    def _tell(self, message: str) -> bool:
        return self._queue.report_progress(self._id, self._worker, self.done, self.total, message)


def _failure_message(error: AgoraError | OSError) -> str:
    """Return the reason why a run failed and, if the disk is full, the remedy."""
    shown = error.__cause__ if is_full(error.__cause__) else error
    return (
        disk_message(shown, "finished episodes are kept; free some space, then continue the run")
        if isinstance(shown, OSError)
        else str(error)
    )


class _Notice(logging.Handler):
    """Reports that kernels are being compiled for a run, in this process or in its workers.

    Args:
        execution: execution of the run.
    """

    def __init__(self, execution: Execution) -> None:
        super().__init__()
        self._execution, self._count, self._began = execution, 0, time.monotonic()

    def emit(self, record: logging.LogRecord) -> None:
        """Count the functions in a log record: one, or the number that it states."""
        self._count += getattr(record, "functions", 1)
        seconds = time.monotonic() - self._began
        self._execution.status = f"compiling kernels, needed once per machine: {self._count} functions in {seconds:.0f} s"


@contextmanager
def _reporting_compilation(execution: Execution) -> Iterator[None]:
    """Report the compilation of kernels for a run while the ``with`` block is executed."""
    log, notice = logging.getLogger("agora.core.compiling"), _Notice(execution)
    log.setLevel(logging.INFO)
    log.addHandler(notice)
    try:
        yield
    finally:
        log.removeHandler(notice)
