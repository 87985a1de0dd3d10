"""Behaviours: the destinations and desired speeds of pedestrians."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from agora.world.start import Start
from agora.world.world import World


class AttachedBehaviour(Protocol):
    """A behaviour attached to one world record; it keeps its memory of the pedestrians in its own arrays (W, P)."""

    def reset(self, world: int, start: Start) -> None:
        """Begin an episode in one world."""

    def think(self, generation: int) -> Callable[[int, int], None]:
        """Return the function of (first, last) that decides for worlds ``first <= w < last``, reading this generation (0 or 1)."""


class Behaviour(Protocol):
    """Decides where pedestrians want to go and how fast, before the crowd model moves them; behaviours run in their order.

    It writes the current waypoint (``world.waypoints.x``, ``y``), the preferred speed (``world.traits.speed``), the minds
    (``world.minds``), the headings of standing pedestrians, and the group. If it controls a pedestrian's route, it also writes the
    state of the waypoint list (count, index, mode and tolerance). It reads generation t of all positions, and its result does not
    depend on slots or other worlds. Before the first behaviour runs, every waypoint is reset to the list's current one and every
    speed to the undisturbed one (``world.minds.speed``). A behaviour therefore writes its decision every time, and later behaviours
    see the decisions of earlier ones. Waypoints of the list count as reached, whatever the current waypoint is. Other behaviours do
    not change pedestrians that one behaviour controls (``world.minds.taken``), such as those in a conversation of ``groups``.
    Worlds that are done are not changed.
    """

    def attach(self, world: World, every: int, sees: int) -> AttachedBehaviour:
        """Return the behaviour attached to the worlds of a batch.

        Args:
            world: records of the worlds; the behaviour keeps them.
            every: physics steps between two decisions.
            sees: parties that pedestrians react to; bits as for a `CompiledCrowdModel`.
        """
