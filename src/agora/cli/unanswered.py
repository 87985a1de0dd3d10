"""Notices from commands that run a planner in their own process: they report calls that take long, and the planner's current line.

Ctrl-C ends such a call and also reports the current line; a second Ctrl-C ends the process if the planner's code catches the first.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from types import FrameType
from typing import Self

import typer

from agora import episode
from agora.cli.stopping import STOPS, once
from agora.core import untrusted_calls
from agora.core.compiling import is_compiling
from agora.episode import PLANNER
from agora.errors import StoppedError, place
from agora.planners import adapters

AFTER = 5.0
"""Duration of a call until the first notice, s; further notices follow after twice, four times ... this time."""

_AROUND = {adapters.__file__, episode.__file__}  # files that call untrusted code
_LOOK = 0.1  # period of the checks, as a fraction of the time until the first notice


class Unanswered:
    """Watches the calls of a planner in this process, and reports calls that do not return. Compilation does not count.

    Args:
        planner: name of the planner.
        after: time until the first notice, s.
        say: function that shows a notice.
    """

    def __init__(self, planner: str, after: float = AFTER, say: Callable[[str], None] | None = None) -> None:
        self._planner, self._after = planner, after
        self._say = say or (lambda line: typer.echo(line, err=True))
        self._what, self._calls, self._began, self._caller = "", 0, 0.0, threading.get_ident()
        self._over, self._stack = threading.Event(), ExitStack()

    def before(self, what: str) -> None:
        """Record the start of a call (`agora.episode.Episodes`)."""
        self._what, self._calls, self._began = what, self._calls + (what == PLANNER), time.monotonic()

    def after(self) -> None:
        """Record the end of a call."""
        self._began = 0.0

    def __enter__(self) -> Self:
        self._stack.enter_context(once(untrusted_calls.interrupt))
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._over.set()
        self._stack.close()
        untrusted_calls.forget_signals()
        if isinstance(error, untrusted_calls.Signalled):
            words = f": {self._words(list(traceback.walk_tb(error.__traceback__)))}" if self._began else ""
            raise StoppedError(f"stopped by {STOPS[signal.Signals(error.number)]}{words}", 128 + error.number) from None

    def _watch(self) -> None:
        """Check the current call periodically."""
        told = self._after
        while not self._over.wait(_LOOK * self._after):
            began, now = self._began, time.monotonic()
            if is_compiling() and began:
                self._began = now
            elif not began or now - began < self._after:
                told = self._after
            elif now - began >= told:
                told *= 2.0
                calls = list(traceback.walk_stack(sys._current_frames()[self._caller]))[::-1]
                self._say(f"{self._words(calls)}; press Ctrl-C to stop")

    def _words(self, calls: list[tuple[FrameType, int]]) -> str:
        """Return a text that names the unfinished call and its current line."""
        files = [frame.f_code.co_filename for frame, _ in calls]
        # without a frame of the planner, the call is about to begin
        first = 1 + max((k for k, file in enumerate(files) if file in _AROUND), default=len(files))
        inside = [call for call, file in zip(calls[first:], files[first:], strict=True) if file != untrusted_calls.__file__]
        where = f" ({place(inside)})" if inside else ""
        seconds = f"for {time.monotonic() - self._began:.0f} s"
        if self._what != PLANNER:
            return f"{self._what} has not ended {seconds}{where}"
        return f"planner {self._planner} has not returned from call {self._calls} {seconds}{where}"
