"""How long Numba has compiled in this process, which is no part of a planner's time."""

from __future__ import annotations

from numba.core import event

_COMPILED = event.TimingListener()
event.register("numba:compile", _COMPILED)


def seconds_compiling() -> float:
    """Return how long Numba has compiled since this module was imported, s."""
    return _COMPILED.duration if _COMPILED.done else 0.0
