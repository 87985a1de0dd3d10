"""Interplanners, which change the path between the global and the local planner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from agora.core.state import Array, Bools, Floats, Ints
from agora.interfaces.observation import Observation
from agora.interfaces.planner import Declaration, Memory
from agora.world.tracks import Tracks


@dataclass(frozen=True, eq=False)
class Guidance:
    """The output of an interplanner: the changed paths of N robots, and limits for their local planners.

    Attributes:
        path: (N, K, 2) path points, m; after ``path_count`` points, the last point is repeated.
        path_count: (N,) number of points of the path. If the number is 0, there is no path, and the robot stops unless its local
            planner is recovering.
        goal: (N, 3) pose at the end of the path.
        speed: (N,) speed limit as a fraction of the local planner's top speed: 1 for no limit, 0 to stop.
        danger: (N,) level of danger, from 0 (no people nearby) to 1.
        reason: (N,) int8, number of the reason for which the path was changed (`agora.core.recording.Reason`); None if no row has a
            reason.
        pedestrians: pedestrians to pass to the local planner instead of the known ones; None for no change.
        twist: (N, 3) twists that replace the local planner's twists in the rows selected by ``overrules``; None if no twists are
            replaced.
        overrules: (N,) True in rows in which ``twist`` replaces the twist of the local planner.
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
    """Changes paths and limits speeds between the global and the local planner, for a batch of robots whose rows share no state.

    An interplanner always needs the path; `agora.planners.guided.GuidedPlanner` combines it with any local planner.
    """

    @property
    def declares(self) -> Declaration:
        """The properties of the interplanner."""

    def guide(self, observation: Observation, memory: Memory) -> tuple[Guidance, Memory]:
        """Return the guidance for the local planner, and the memory for the next call."""
