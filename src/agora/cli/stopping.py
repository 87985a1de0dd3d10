"""Ctrl-C and SIGTERM while a command runs: the command reports the kept results, and how to continue.

Within `stoppable`, a signal raises an exception in the main thread at any point. There it closes the iterator of a run, which stops
the run (`agora.benchmark.bench`).
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
    """Turn Ctrl-C and SIGTERM in this context into an error that names the kept results; a second signal ends the process at once.

    Args:
        kept: returns what is kept, in words, after a signal. Call this in the main thread.

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
    """Let Ctrl-C and SIGTERM in this context request a regular end of the work; a second signal ends the process at once.

    Args:
        ask: called at the first signal; it returns at once. Call this in the main thread.
        kept: returns what is kept, in words, after the work has ended.

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
    """Handle the first signal in this context by a function, and leave the second to the system, which ends the process.

    Args:
        handle: called with the signal's number and the frame. Call this in the main thread.
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
    said = f"stopped by {STOPS[signal.Signals(number)]}: {kept}; the same command with --resume continues"
    return StoppedError(said, 128 + number)
