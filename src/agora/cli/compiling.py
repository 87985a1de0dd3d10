"""The notice of a terminal while kernels compile: at once that they do, and from time to time their progress."""

from __future__ import annotations

import logging
import sys
import time
from contextlib import suppress

_EVERY = 10.0  # s between two lines
_COMPILING = "agora.core.compiling"


class _Notice(logging.Handler):
    """Counts the functions that are compiled, and writes lines to the error stream."""

    def __init__(self) -> None:
        super().__init__()
        self._count, self._began, self._last = 0, 0.0, 0.0

    def emit(self, record: logging.LogRecord) -> None:
        """Count a function; say something where the last word was long ago."""
        now, self._count = time.monotonic(), self._count + getattr(record, "functions", 1)
        if not self._began:
            self._began = self._last = now
            _say("compiling kernels; once on a machine, this takes a minute or two ...")
        elif now - self._last >= _EVERY:
            self._last = now
            _say(f"compiling kernels: {self._count} functions in {now - self._began:.0f} s ...")


def _say(line: str) -> None:
    """Write a line, if anybody reads the error stream: a planner that compiles is not to blame for a closed one."""
    with suppress(OSError, ValueError):
        print(line, file=sys.stderr, flush=True)


def tell_compiling() -> None:
    """Say on the error stream from now on when kernels compile, here or in workers."""
    log = logging.getLogger(_COMPILING)
    log.setLevel(logging.INFO)
    log.propagate = False
    log.handlers = [_Notice()]
