"""Compiling in this process: its time, which is no part of a planner's, and a log of what is compiled.

Each function that Numba begins to compile, and what else is announced, is a line of this module's log, at level INFO. A first run
on a machine compiles for a minute or two; a client that shows the log, as the command line does, is not silent meanwhile. What
comes out of the cache on disk is not compiled.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

from numba.core import event

_LOG = logging.getLogger(__name__)


class _Compiling(event.TimingListener):  # type: ignore[misc]
    """Measures, and tells the log."""

    def on_start(self, event: event.Event) -> None:
        function = event.data["dispatcher"].py_func
        _LOG.info("compiling %s.%s", function.__module__, function.__qualname__)
        super().on_start(event)


_COMPILED = _Compiling()
event.register("numba:compile", _COMPILED)


_OTHERS = [0.0]


@contextmanager
def compiling() -> Iterator[None]:
    """Within it something else is compiled, or made ready from a cache."""
    began = time.perf_counter()
    try:
        yield
    finally:
        _OTHERS[0] += time.perf_counter() - began


def announce(what: str) -> None:
    """Tell the log that something else is compiled now."""
    _LOG.info("compiling %s", what)


def seconds_compiling() -> float:
    """Return how long this process has compiled since this module was imported, s."""
    return _OTHERS[0] + (_COMPILED.duration if _COMPILED.done else 0.0)
