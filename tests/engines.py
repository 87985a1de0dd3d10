"""Engines for tests: every world is at a start, and every period is the physics step but the crowd's."""

from __future__ import annotations

from typing import Any

from agora.draft.periods import Periods
from agora.engine.conditions import Conditions
from agora.engine.engine import Engine


def engine(starts, dt=0.05, every=1, *, worlds=0, threads=1, slots=0, **more: Any) -> Engine:
    """An engine whose worlds begin with the starts, the first again after the last; ``every`` steps make a crowd period."""
    conditions = Conditions(Periods(dt, dt, every * dt, dt), **more)
    made = Engine.of(starts, conditions, worlds=worlds, threads=threads, slots=slots)
    for w in range(made.world.layout.worlds):
        made.reset(w, starts[w % len(starts)])
    return made
