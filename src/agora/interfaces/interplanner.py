"""Interplanners: path to path, between the global and the local planner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from agora.core.state import Array, Bools, Floats, Ints
from agora.interfaces.observation import Observation
from agora.interfaces.planner import Declaration, Memory
from agora.world.tracks import Tracks


@dataclass(frozen=True, eq=False)
class Guidance:
    """The answer of an interplanner: the changed paths of N robots, and limits for their local planners.

    Attributes:
        path: (N, K, 2) m; after ``path_count`` points it repeats the last.
        path_count: (N,); 0 if there is no path: the robot stops, unless its local planner is recovering.
        goal: (N, 3) pose at the end of the path.
        speed: (N,) speed limit of the local planner, in its own top speeds: 1 for no change, 0 for standing still.
        danger: (N,) from 0, nobody nearby, to 1.
        reason: (N,) int8, numbers of an `agora.core.recording.Reason` why the path was changed; None for no reason anywhere.
        pedestrians: pedestrians that the local planner gets instead of the known ones; None for no change.
        twist: (N, 3) twists that overrule the local planner, in the rows of ``overrules``; None for none.
        overrules: (N,) rows in which ``twist`` overrules the local planner.
    """

    path: Floats
    path_count: Ints
    goal: Floats
    speed: Floats
    danger: Floats
    reason: Array | None = None
    pedestrians: Tracks | None = None
    twist: Floats | None = None
    overrules: Bools | None = None


class InterPlanner(Protocol):
    """Path to path, between the global and the local planner, for a batch: rows share no state.

    It always needs the path; `agora.planners.guided.GuidedPlanner` combines it with any local planner.
    """

    @property
    def declares(self) -> Declaration:
        """The properties of the interplanner."""

    def guide(self, observation: Observation, memory: Memory) -> tuple[Guidance, Memory]:
        """Return the guidance of the local planner, and the memory for the next call."""
