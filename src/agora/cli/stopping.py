"""Handles Ctrl-C and SIGTERM while a command runs: the command reports which results are kept, and how to continue.

Within `stoppable`, a signal raises an exception in the main thread at any point. The exception closes the iterator of a run, which
stops the run (`agora.benchmark.bench`).
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from agora.core.untrusted_calls import Signalled, forget_signals, interrupt, raise_caught
from agora.errors import StoppedError

__all__ = ["STOPS", "finishing", "once", "raise_caught", "stoppable"]

STOPS = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}


@contextmanager
def stoppable(kept: Callable[[], str]) -> Iterator[None]:
    """Return a context manager that turns the first Ctrl-C or SIGTERM into an error stating which results were kept; a second
    signal ends the process immediately. Use it in the main thread only.

    Args:
        kept: function called after a signal; it returns a text that says which results were kept.

    Raises:
        StoppedError: a signal arrived.
    """
    try:
        with once(interrupt):
            yield
    except Signalled as signalled:
        raise _stopped_by(signalled.number, kept()) from None
    finally:
        forget_signals()


@contextmanager
def finishing(ask: Callable[[], None], kept: Callable[[], str]) -> Iterator[None]:
    """Return a context manager in which the first Ctrl-C or SIGTERM requests a graceful stop; a second one ends the process
    immediately. Use it in the main thread only.

    Args:
        ask: function called at the first signal to request the stop; it must return immediately.
        kept: function called after the work has ended; it returns a text that says which results were kept.

    Raises:
        StoppedError: a signal arrived, and the work has ended.
    """
    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        came.append(number)
        ask()

    with once(note):
        yield
    if came:
        raise _stopped_by(came[0], kept())


@contextmanager
def once(handle: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Return a context manager that handles the first signal with a function; a second signal ends the process immediately. Use it
    in the main thread only.

    Args:
        handle: function called with the signal number and the stack frame.
    """

    def first(number: int, frame: FrameType | None) -> None:
        for each in STOPS:
            signal.signal(each, signal.SIG_DFL)
        handle(number, frame)

    before = {number: signal.signal(number, first) for number in STOPS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stopped_by(number: int, kept: str) -> StoppedError:
    said = f"stopped by {STOPS[signal.Signals(number)]}: {kept}; run the same command with --resume to continue"
    return StoppedError(said, 128 + number)
