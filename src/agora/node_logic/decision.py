"""The navigation decisions of robots, and an interplanner's guidance for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from agora.core.state import Array, Floats

__all__ = ["Decision", "Led"]


class Led(NamedTuple):
    """An interplanner's guidance for one robot, with the fields of `agora.interfaces.Guidance`: (K, 2), (3,) and numbers."""

    path: Floats
    goal: Array | None
    speed: float
    danger: float
    reason: int = 0


@dataclass(frozen=True, eq=False)
class Decision:
    """A decision for the robots of a navigator.

    Attributes:
        twists: (R, 3) vx, vy and omega in the robots' frames, m/s and rad/s.
        failures: messages of planners that failed, by the robot's number; these robots stop.
        standing: reasons why robots stand although their planner did not fail, or have no path to follow, by number.
        planning_time: planning time per robot with a plan, s.
        notes: other remarks.
        noted: notes of the planner, (R,) by the names of `agora.interfaces.NOTES`; empty if no robot was planned for.
    """

    twists: Floats
    failures: dict[int, str] = field(default_factory=dict)
    standing: dict[int, str] = field(default_factory=dict)
    planning_time: float = 0.0
    notes: tuple[str, ...] = ()
    noted: dict[str, Array] = field(default_factory=dict)
