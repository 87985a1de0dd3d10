"""The navigation decisions for robots, and an interplanner's guidance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from agora.core.state import Array, Floats

__all__ = ["Decision", "Led"]


class Led(NamedTuple):
    """An interplanner's guidance for one robot: the fields of `agora.interfaces.Guidance` without the leading axis N."""

    path: Floats
    goal: Array | None
    speed: float
    danger: float
    reason: int = 0


@dataclass(frozen=True, eq=False)
class Decision:
    """A decision for all robots of a navigator.

    Attributes:
        twists: (R, 3) vx, vy and omega in the robots' frames, m/s and rad/s.
        failures: messages of planners that failed, keyed by robot index; these robots stop.
        standing: reasons why robots stop although their planner did not fail, or why they have no path to follow, keyed by robot
            index.
        planning_time: planning time per planned robot, s.
        notes: other remarks on the decision.
        noted: notes of the planner, (R,) each, keyed by the names in `agora.interfaces.NOTES`; empty if no planning took place.
    """

    twists: Floats
    failures: dict[int, str] = field(default_factory=dict)
    standing: dict[int, str] = field(default_factory=dict)
    planning_time: float = 0.0
    notes: tuple[str, ...] = ()
    noted: dict[str, Array] = field(default_factory=dict)
