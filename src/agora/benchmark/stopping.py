"""Ctrl-C and SIGTERM while a run is on: what is kept is said, and how to go on."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from agora.benchmark import store
from agora.benchmark.account import described
from agora.core.stranger import Signalled, forget_signals, interrupt
from agora.errors import AgoraError, StoppedError

__all__ = ["episodes_kept", "stoppable"]

_STOPS = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}


@contextmanager
def stoppable(kept: Callable[[], str]) -> Iterator[None]:
    """Turn Ctrl-C and SIGTERM within into an error that says what is kept; a second signal ends the process at once.

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


def episodes_kept(folder: Path) -> str:
    """Say how many episodes of a run are finished and kept."""
    try:
        done = {key.rpartition("/")[0] for key in store.keys(folder / "episodes")}
        run = described(folder)
        planned = sum(run.get("planned", {}).values()) * len(run["planners"])
    except (AgoraError, OSError):
        return f"no episode was begun in {folder}"
    of = f" of {planned}" if planned else ""
    return f"{len(done)}{of} episodes are finished and kept in {folder}"
