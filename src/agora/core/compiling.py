"""Compilation in this process: the time it takes, which does not count as planning time, and a log of the compiled functions.

Whenever Numba begins to compile a function, or another announced step begins, this module logs one line at level INFO. The first
run on a machine compiles for a minute or two; meanwhile, clients such as the command line show the log. Code from the cache on disk
is not compiled.
"""

from __future__ import annotations

import gc
import logging
from contextlib import AbstractContextManager

from numba.core import event

_LOG = logging.getLogger(__name__)
_KIND = "numba:compile"


class _Compiling(event.TimingListener):  # type: ignore[misc]
    """Measures compilation time and writes the log.

    Python's garbage collector is paused during compilation: it would repeatedly scan millions of objects that are all in use, which
    takes an eighth of the compilation time.
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


def record_compiling(what: str = "") -> AbstractContextManager[None]:
    """Return a context whose duration counts as compilation time. ``what`` names what is compiled; it is empty if compiled code is
    loaded from a cache.
    """
    context: AbstractContextManager[None] = event.trigger_event(_KIND, data={"what": what})
    return context


def is_compiling() -> bool:
    """True while this process compiles."""
    return _COMPILED.inside > 0


def seconds_compiling() -> float:
    """Return the time that this process has spent compiling since this module was imported, s."""
    return _COMPILED.duration if _COMPILED.done else 0.0
