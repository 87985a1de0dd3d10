"""Compiling in this process: its time, which is no part of a planner's, and a log of what is compiled.

Each function that Numba begins to compile, and what else is announced, is a line of this module's log, at level INFO. A first run
on a machine compiles for a minute or two; a client that shows the log, as the command line does, is not silent meanwhile. Code from
the cache on disk is not compiled.
"""

from __future__ import annotations

import gc
import logging
from contextlib import AbstractContextManager

from numba.core import event

_LOG = logging.getLogger(__name__)
_KIND = "numba:compile"


class _Compiling(event.TimingListener):  # type: ignore[misc]
    """Measures, and tells the log.

    Python's collector of garbage rests meanwhile: it would look again and again at millions of objects that are all in use, which
    takes an eighth of the time.
    """

    def __init__(self) -> None:
        super().__init__()
        self.inside, self._collects = 0, False

    def on_start(self, event: event.Event) -> None:
        if self.inside == 0:
            self._collects = gc.isenabled()
            gc.disable()
        self.inside += 1
        if "dispatcher" in event.data:
            function = event.data["dispatcher"].py_func
            _LOG.info("compiling %s.%s", function.__module__, function.__qualname__)
        elif event.data["what"]:
            _LOG.info("compiling %s", event.data["what"])
        super().on_start(event)

    def on_end(self, event: event.Event) -> None:
        super().on_end(event)
        self.inside -= 1
        if self.inside == 0 and self._collects:
            gc.enable()


_COMPILED = _Compiling()
event.register(_KIND, _COMPILED)


def compiling(what: str = "") -> AbstractContextManager[None]:
    """Return a context in which something else is compiled, by its name, or made ready from a cache, where it is not named."""
    context: AbstractContextManager[None] = event.trigger_event(_KIND, data={"what": what})
    return context


def compiling_now() -> bool:
    """True while this process compiles."""
    return _COMPILED.inside > 0


def seconds_compiling() -> float:
    """Return how long this process has compiled since this module was imported, s."""
    return _COMPILED.duration if _COMPILED.done else 0.0
