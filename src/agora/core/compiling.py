"""Numba's compiling in this process: its time, which is no part of a planner's, and a log of the compiled functions.

Each function that Numba begins to compile is a line of this module's log, at level INFO. A first run on a machine compiles for a
minute or two; a client that shows the log, as the command line does, is not silent meanwhile. Functions that come out of the cache
on disk are not compiled.
"""

from __future__ import annotations

import logging

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


def seconds_compiling() -> float:
    """Return how long Numba has compiled since this module was imported, s."""
    return _COMPILED.duration if _COMPILED.done else 0.0
