"""Local planners: observation to twist."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from agora.core.state import Array, Floats
from agora.errors import nearest
from agora.interfaces.channel import Channel, channels_of
from agora.interfaces.observation import Observation
from agora.interfaces.span import Span

Memory: TypeAlias = dict[str, Any]
"""What a planner remembers between calls: arrays by name, each with the rows as its first axis; {} at the start of an episode.

A planner that asks another keeps the other's memory, a dict, whole under a name of its own. A dict called `SEEN` holds what the
robot has seen: it is zeroed where the robot's costmaps are cleared.
"""


SEEN = "seen"


NOTES = {"reason": np.int8, "speed_limit": np.float32, "danger": np.float32}
"""What a planner may note at every call, for the episode's record, and the types of its arrays (N,).

``reason`` is the number of an `agora.core.recording.Reason`: why a robot stands, or does something else than go on along its path
(blocked, started in contact, the solver did not converge, escaping ...); 0 for none. ``speed_limit`` and ``danger`` are those of a
`Guidance`, which `agora.planners.guided.GuidedPlanner` notes.

Some reasons need no planner. A robot whose planner needs a path and that has none stands, whatever its planner says, for the reason
``NO_PATH``. If a robot touches something at the first call, ``START_IN_CONTACT`` is noted, unless its planner notes a reason. If a
robot has not moved 0.1 m for 5 s and its planner notes nothing, `agora.engine.standing` notes what is known about it.
"""


Label = Literal["faithful", "small", "reconstruction", "own"]
"""What a planner claims to be: the published method, whose differences the module's docstring names; a published learned one with
a smaller network or less training; one rebuilt from a publication that leaves much unsaid; or its author's own.
"""


@dataclass(frozen=True)
class Declaration:
    """The properties that a planner or an interplanner declares in its attribute ``declares``.

    Attributes:
        needs: names of the channels that it reads, or channels with parameters of their own.
        label: its claim, such as "faithful" or "small".
        tunable: span of each field that may be tried, by its name.
        notes: notes in `NOTES` that it returns at every call.
        concurrent: whether threads may call it at the same time, each for some of the rows.
        turns_at_goal: whether it turns to the goal's heading itself; else the library does.
        top_speed: its largest speed where the robot may be faster, m/s. An interplanner's speed is a share of it.
        danger_threshold: danger above which an interplanner warns.
        period: control period that it was made for, s; 0 for any. It may reject a longer one.
        requires: extras of Agora's installation whose packages it needs, such as "learning".
    """

    needs: Collection[str | Channel] = ()
    label: Label = "own"
    tunable: Mapping[str, Span] = field(default_factory=dict)
    notes: Collection[str] = ()
    concurrent: bool = False
    turns_at_goal: bool = False
    top_speed: float = math.inf
    danger_threshold: float = 1.0
    period: float = 0.0
    requires: Collection[str] = ()

    def __post_init__(self) -> None:
        if any(isinstance(names, str) for names in (self.needs, self.notes, self.requires)):
            raise ValueError("needs, notes and requires must be collections of names, not a string")
        for name in self.notes:
            if name not in NOTES:
                raise ValueError(f"notes: no note called {name!r}; {nearest(name, NOTES)}")
        if not self.top_speed >= 0.0:
            raise ValueError(f"top_speed: expected a number of at least 0, got {self.top_speed}")
        if not 0.0 <= self.period < math.inf:
            raise ValueError(f"period: expected a number of at least 0, got {self.period}")

    @cached_property
    def channels(self) -> dict[str, Channel | None]:
        """The channels that it reads, by their names: with parameters of its own, or None."""
        return channels_of(self.needs)


@dataclass(frozen=True, eq=False)
class Answer:
    """The answer of a planner for N rows.

    Attributes:
        twists: (N, 3) vx, vy, omega in the robots' frames, m/s and rad/s.
        memory: memory for the next call.
        notes: (N,) array of each declared note, with the type in `NOTES`.
    """

    twists: Floats
    memory: Memory = field(default_factory=dict)
    notes: Mapping[str, Array] = field(default_factory=dict)


class BatchPlanner(Protocol):
    """A local planner for a batch: rows share no state."""

    @property
    def declares(self) -> Declaration:
        """The properties of the planner."""

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the twists, the memory for the next call, and the notes."""


class Planner(Protocol):
    """A local planner for one robot, the form to start with: arrays come without the leading axis N.

    ``memory`` is None at the start of an episode and may be any tuple of arrays of fixed shape afterwards.
    """

    @property
    def declares(self) -> Declaration:
        """The properties of the planner."""

    def plan(self, observation: Observation, memory: Any) -> tuple[tuple[float, float, float], Any]:
        """Return the twist (vx, vy, omega) in the robot's frame, and the memory for the next call."""
