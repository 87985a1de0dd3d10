"""The empty arena of DynaBARN."""

from __future__ import annotations

from dataclasses import dataclass

from agora.datasets.dynabarn import GOAL, START, arena_map
from agora.draft.scenario import Robot, Scenario
from agora.draft.surroundings import Surroundings
from agora.seeds import Stream


@dataclass(frozen=True)
class DynaBarnArena:
    """The 20 m square that DynaBARN's cylinders cross, without the cylinders; needs no data set.

    The square has walls on three sides. The scenario is the same as in the BARN challenge: from (11, 0), outside the open side, to
    (-9, 0). The arena is intended for the ``motion_profiles`` obstacles mode.
    """

    def names(self) -> list[str]:
        """Return the name of the only world."""
        return ["arena"]

    def world(self, name: str, stream: Stream) -> Surroundings:
        """Return the arena."""
        return Surroundings(arena_map("dynabarn_arena"), Scenario(robots=(Robot(START, GOAL),)))
