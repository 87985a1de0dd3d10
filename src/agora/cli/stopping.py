"""Ctrl-C and SIGTERM while a command is at work: it reports the kept results, and how to go on.

A signal is raised in the main thread, whatever that does. There it closes the iterator of a run,
which stops it (`agora.benchmark.bench`).
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from agora.core.stranger import Signalled, forget_signals, interrupt
from agora.errors import StoppedError

__all__ = ["stoppable"]

_STOPS = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}


@contextmanager
def stoppable(kept: Callable[[], str]) -> Iterator[None]:
    """Turn Ctrl-C and SIGTERM within into an error that names the kept results; a second signal ends the process at once.

    Args:
        kept: returns what is kept, in words, when a signal has come. Call this in the main thread.

    Raises:
        StoppedError: a signal came.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        for each in _STOPS:
            signal.signal(each, signal.SIG_DFL)
        interrupt(number, frame)

    before = {number: signal.signal(number, stop) for number in _STOPS}
    try:
        yield
    except Signalled as signalled:
        said = f"stopped by {_STOPS[signal.Signals(signalled.number)]}: {kept()}; the same command with --resume goes on"
        raise StoppedError(said, 128 + signalled.number) from None
    finally:
        forget_signals()
        for number, handler in before.items():
            signal.signal(number, handler)
