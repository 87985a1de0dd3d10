"""The engine of a batch: the library's own engine, or the engine of a simulator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agora.engine.engine import Engine, steps_of
from agora.interfaces import WholeSimulator
from agora.world.world import World

if TYPE_CHECKING:
    from agora.engine.conditions import Conditions
    from agora.interfaces import Backend
    from agora.world.start import Start

__all__ = ["backend_of"]


def backend_of(
    starts: Sequence[Start], conditions: Conditions, *, worlds: int = 0, threads: int = 1, slots: int = 0, drawn: bool = False
) -> Backend:
    """Return the engine of a batch under its conditions (`agora.interfaces.Backend`).

    Args:
        starts: every episode that a world may run.
        conditions: conditions shared by all episodes; the simulator determines the engine.
        worlds: number of worlds, W; 0 for one per start.
        threads: number of threads among which the worlds are divided.
        slots: pedestrian slots per world; 0 for the minimum.
        drawn: whether the starts are only examples; if so, a world may run any start accepted by the engine's ``holds``.

    Raises:
        InputError: the simulator cannot run single steps, or does not support the conditions.
    """
    simulator = steps_of(conditions.simulator)
    if not isinstance(simulator, WholeSimulator):
        return Engine.of(starts, conditions, worlds=worlds, threads=threads, slots=slots, drawn=drawn)
    world = World.of(starts, dt=conditions.periods.physics, worlds=worlds, slots=slots, threads=threads, drawn=drawn)
    return simulator.backend(world, conditions, led=False)
