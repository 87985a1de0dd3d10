"""Behaviours, which set the waypoints and preferred speeds of pedestrians."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from agora.world.start import Start
from agora.world.world import World


class AttachedBehaviour(Protocol):
    """A behaviour attached to the records of a batch of worlds; its memory of the pedestrians is in its own (W, P) arrays."""

    def reset(self, world: int, start: Start) -> None:
        """Begin an episode in one world."""

    def think(self, generation: int) -> Callable[[int, int], None]:
        """Return a function of (first, last) that makes the decisions in worlds ``first <= w < last`` from the given generation (0
        or 1) of the state.
        """


class Behaviour(Protocol):
    """Decides where pedestrians want to go and how fast, before the crowd model moves them; a stage's behaviours run in the order
    listed.

    It writes the current waypoint (``world.waypoints.x``, ``y``), the preferred speed (``world.traits.speed``), the minds
    (``world.minds``), the headings of standing pedestrians, and the group. If it controls a pedestrian's route, it also writes the
    state of the waypoint list (count, index, mode and tolerance). It reads all positions from generation t, and its decisions
    depend neither on the order of slots nor on other worlds. Before the first behaviour runs, every waypoint is reset to the
    current entry of the pedestrian's waypoint list, and every speed to the undisturbed speed (``world.minds.speed``). A behaviour
    therefore writes its decisions at every call, and later behaviours see the decisions of earlier ones. A pedestrian can reach
    entries of its waypoint list even while a behaviour has set a different current waypoint. If a behaviour controls a pedestrian
    (``world.minds.taken``), such as one in a conversation of ``groups``, other behaviours leave that pedestrian unchanged. Finished
    worlds do not change.
    """

    def attach(self, world: World, every: int, sees: int) -> AttachedBehaviour:
        """Return the behaviour attached to the worlds of a batch.

        Args:
            world: records of the worlds; the behaviour keeps a reference to them.
            every: number of physics steps between two decisions.
            sees: bit field of the bodies that pedestrians see, as in `CrowdRecord`.
        """
