"""How long Numba has compiled in this process, which is no part of a planner's time."""

from __future__ import annotations

import time
from typing import Any

from numba.core import event


class _Watch(event.Listener):  # type: ignore[misc]
    """Adds up the time of compilations, which contain others."""

    def __init__(self) -> None:
        self.total, self.under_way, self.began = 0.0, 0, 0.0

    def on_start(self, _: Any) -> None:
        if not self.under_way:
            self.began = time.perf_counter()
        self.under_way += 1

    def on_end(self, _: Any) -> None:
        self.under_way -= 1
        if not self.under_way:
            self.total += time.perf_counter() - self.began


_WATCH = _Watch()
event.register("numba:compile", _WATCH)


def seconds_compiling() -> float:
    """Return how long Numba has compiled since this module was imported, s."""
    return _WATCH.total
