"""The notices on the terminal while kernels are compiled: one notice at the start, then occasional progress reports."""

from __future__ import annotations

import logging
import sys
import time
from contextlib import suppress

_EVERY = 10.0  # minimum time between two lines, s
_COMPILING = "agora.core.compiling"


class _Notice(logging.Handler):
    """Counts compiled functions, and writes lines to the error stream."""

    def __init__(self) -> None:
        super().__init__()
        self._count, self._began, self._last = 0, 0.0, 0.0

    def emit(self, record: logging.LogRecord) -> None:
        """Count a function, and report progress if the last report was long ago."""
        now, self._count = time.monotonic(), self._count + getattr(record, "functions", 1)
        if not self._began:
            self._began = self._last = now
            _say("compiling kernels; needed once per machine, takes a minute or two ...")
        elif now - self._last >= _EVERY:
            self._last = now
            _say(f"compiling kernels: {self._count} functions in {now - self._began:.0f} s ...")


def _say(line: str) -> None:
    """Write a line if the error stream is open; a closed stream must not count as a failure of the planner being compiled."""
    with suppress(OSError, ValueError):
        print(line, file=sys.stderr, flush=True)


def tell_compiling() -> None:
    """Start reporting on the error stream whenever kernels are compiled, in this process or in workers."""
    log = logging.getLogger(_COMPILING)
    log.setLevel(logging.INFO)
    log.propagate = False
    log.handlers = [_Notice()]
