"""Local planners: observation to twist."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from agora.core.state import Array, Floats
from agora.interfaces.observation import Observation

Memory = dict[str, Array]
"""What a planner remembers between calls: arrays by name, each with the rows as its first axis; {} at the start of an episode."""


NOTES = {"reason": np.int8, "speed_limit": np.float32, "danger": np.float32}
"""What a `BatchPlanner` can have written into the episode's record at every call, and the types.

It names them in an attribute ``notes``, as it does what it reads in ``needs``: ``notes = frozenset({"reason"})``. Every memory that
it returns then holds an array (N,) of each, under ``NOTE + name``; they are not given back to it. Who names none pays nothing.

``reason`` is the number of an `agora.core.recording.Reason`: why a robot stands, or does something else than go on along its path
(blocked, started in contact, the solver did not converge, escaping ...); 0 for none. ``speed_limit`` and ``danger`` are those of a
`Guidance`, which `agora.planners.guided.Guided` notes.

Two reasons need no planner: a robot whose planner needs a path and that has none stands, whatever its planner says, for the reason
``NO_PATH``; and at the first call of one that touches something ``START_IN_CONTACT`` is noted, if its planner notes nothing.
"""


NOTE = "note."


SEEN = "seen."
"""Begins the names of those arrays of a memory that hold what the robot has seen: zeros where its costmaps are cleared."""


Label = Literal["faithful", "small", "reconstruction", "own"]
"""What a planner claims to be, its attribute ``label``: the published method, whose differences the module's docstring names; a
published learned one with a smaller network or less training; one rebuilt from a publication that leaves much unsaid; or, where a
planner says nothing, its author's own.
"""


@dataclass(frozen=True)
class Span:
    """What `agora tune` or `agora calibrate` may try for a parameter.

    The attribute ``tunable`` of a planner or crowd model maps names of its fields to spans.

    Attributes:
        low, high: least and largest value, whole numbers for a field of whole numbers.
        log: whether all orders of magnitude are alike, for scales and weights.
    """

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        if not self.low < self.high or (self.log and self.low <= 0):
            raise ValueError(f"low must be below high, and above 0 where log is set; got {self.low} and {self.high}")


class BatchPlanner(Protocol):
    """A local planner for a batch: rows share no state.

    ``label`` (`Label`), ``tunable`` (`Span` by field), ``concurrent`` (True: threads may call ``act`` at the same time, each for
    some of the rows) and ``turns_at_goal`` (True: it turns to the goal's heading itself; else the library does) may stand beside.
    """

    needs: ClassVar[frozenset[str]]

    def act(self, observation: Observation, memory: Memory) -> tuple[Floats, Memory]:
        """Return twists (N, 3) in the robot's frame, and the memory for the next call."""


class Planner(Protocol):
    """A local planner for one robot, the form to start with: arrays come without the leading axis N.

    ``memory`` is None at the start of an episode and may be any tuple of arrays of fixed shape afterwards.
    """

    needs: ClassVar[frozenset[str]]

    def plan(self, observation: Observation, memory: Any) -> tuple[tuple[float, float, float], Any]:
        """Return the twist (vx, vy, omega) in the robot's frame, and the memory for the next call."""
