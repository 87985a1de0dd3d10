"""Behaviours, which set the destinations and desired speeds of pedestrians."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from agora.world.start import Start
from agora.world.world import World


class AttachedBehaviour(Protocol):
    """A behaviour attached to the record of a batch of worlds; it stores its memory of the pedestrians in its own (W, P) arrays."""

    def reset(self, world: int, start: Start) -> None:
        """Begin an episode in one world."""

    def think(self, generation: int) -> Callable[[int, int], None]:
        """Return a function of (first, last) that makes the decisions in worlds ``first <= w < last``, based on the given
        generation (0 or 1) of the state.
        """


class Behaviour(Protocol):
    """Decides where pedestrians want to go and how fast, before the crowd model moves them; behaviours run in the order listed.

    It writes the current waypoint (``world.waypoints.x``, ``y``), the preferred speed (``world.traits.speed``), the minds
    (``world.minds``), the headings of standing pedestrians, and the group. If it controls a pedestrian's route, it also writes the
    state of the waypoint list (count, index, mode and tolerance). It reads all positions in generation t, and its result depends
    neither on slot order nor on other worlds. Before the first behaviour runs, every waypoint is reset to the current entry of the
    pedestrian's waypoint list, and every speed to the undisturbed speed (``world.minds.speed``). A behaviour therefore writes its
    decision every time, and later behaviours see the decisions of earlier ones. Entries of the waypoint list can be reached even
    while a behaviour has set a different current waypoint. If a behaviour controls a pedestrian (``world.minds.taken``), such as
    one in a conversation of ``groups``, other behaviours leave that pedestrian unchanged. Worlds that are done are not changed.
    """

    def attach(self, world: World, every: int, sees: int) -> AttachedBehaviour:
        """Return the behaviour attached to the worlds of a batch.

        Args:
            world: records of the worlds; the behaviour keeps a reference to them.
            every: physics steps between two decisions.
            sees: which agents pedestrians react to, as the same bits as for a `CompiledCrowdModel`.
        """
