"""Behaviours: where pedestrians want to go, and how fast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from agora.world.start import Start
from agora.world.world import World


class AttachedBehaviour(Protocol):
    """A behaviour at work on one world record; its memory of the pedestrians are arrays (W, P) of its own."""

    def reset(self, world: int, start: Start) -> None:
        """Begin an episode in one world."""

    def think(self, generation: int) -> Callable[[int, int], None]:
        """Return the function of (first, last) that decides for worlds ``first <= w < last``, reading this generation (0 or 1)."""


class Behaviour(Protocol):
    """Decides, before the crowd model moves them, where pedestrians want to go and how fast; behaviours decide in their order.

    It writes the current waypoint (``world.waypoints.x``, ``y``), the preferred speed (``world.traits.speed``), the minds
    (``world.minds``), the headings of those who stand, and, where it takes somebody's way over, how the list is followed (its
    count, index, mode and tolerance) and the group; it reads generation t of everybody's places, and nothing of it depends on
    slots or other worlds. Before the first behaviour decides, every waypoint is the list's current one again and every speed the
    undisturbed one (``world.minds.speed``): who wants something else says so every time, and later behaviours see what earlier
    ones decided. Waypoints of the list count as reached whatever the current one is. Whose mind a behaviour has taken over
    (``world.minds.taken``) is left alone by the others, as those are who stand in a conversation of ``groups``. Worlds that are
    done are left alone.
    """

    def attach(self, world: World, every: int, sees: int) -> AttachedBehaviour:
        """Return the behaviour at work on the worlds of a batch.

        Args:
            world: records of the worlds; the behaviour keeps them.
            every: physics steps between two decisions.
            sees: parties that pedestrians react to; bits as for a `CompiledCrowdModel`.
        """
