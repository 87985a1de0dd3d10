"""Local planners, which compute a twist from an observation."""

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
"""The memory of a planner between calls: arrays by name, each with rows as its first axis; {} at the start of an episode.

A planner that calls another planner stores the other's memory, a dict, as a single entry under a name of its choice. A dict named
`SEEN` holds what the robot has seen; its values are set to zero when the robot's costmaps are cleared.
"""


SEEN = "seen"


NOTES = {"reason": np.int8, "speed_limit": np.float32, "danger": np.float32}
"""The notes that a planner may add to the episode's record at every call, with the types of their arrays (N,).

``reason`` is the number of an `agora.core.recording.Reason` that explains why a robot stops or does not follow its path (blocked,
started in contact, the solver did not converge, escaping ...); 0 if there is no reason. ``speed_limit`` and ``danger`` are values
of a `Guidance`, noted by `agora.planners.guided.GuidedPlanner`.

Some reasons are noted without the planner. If the planner needs a path and there is none, the robot stops whatever the planner
returns, with the reason ``NO_PATH``. If a robot touches something at the first call, ``START_IN_CONTACT`` is noted unless its
planner notes a reason. If a robot has moved less than 0.1 m in 5 s and its planner gives no reason, `agora.engine.standing` notes
the reason as far as it is known.
"""


Label = Literal["faithful", "small", "reconstruction", "own"]
"""How closely a planner follows a publication: "faithful", the published method, with any differences listed in the module's
docstring; "small", a published learned method with a smaller network or less training; "reconstruction", a method rebuilt from a
publication that leaves many details open; or "own", the author's own method.
"""


@dataclass(frozen=True)
class Declaration:
    """The properties that a planner or interplanner declares in its attribute ``declares``.

    Attributes:
        needs: channels that the planner reads: names, or channel objects with parameters.
        label: how closely the planner follows a publication, such as "faithful" or "small".
        tunable: span of values to try for each tunable field, keyed by field name.
        notes: names of the notes, from `NOTES`, that the planner returns at every call.
        concurrent: whether several threads may call the planner at the same time, each for a part of the rows.
        turns_at_goal: whether the planner itself turns the robot to the goal heading; otherwise the library does this.
        top_speed: maximum speed of the planner, m/s, if the robot can drive faster. An interplanner's speed limit is a fraction of
            this speed.
        danger_threshold: level of danger above which an interplanner warns.
        period: control period for which the planner was designed, s; 0 for any period. A planner may reject a longer period.
        requires: Agora's optional dependency groups (extras) that the planner needs, such as "learning".
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
        """The channels that the planner reads, keyed by name: a channel object if the planner sets parameters, otherwise None."""
        return channels_of(self.needs)


@dataclass(frozen=True, eq=False)
class Answer:
    """The output of a planner for N rows.

    Attributes:
        twists: (N, 3) vx, vy and omega in the robots' frames, m/s and rad/s.
        memory: memory for the next call.
        notes: the declared notes, keyed by name, each an array (N,) of the type given in `NOTES`.
    """

    twists: Floats
    memory: Memory = field(default_factory=dict)
    notes: Mapping[str, Array] = field(default_factory=dict)


class BatchPlanner(Protocol):
    """A local planner for a batch of robots, whose rows share no state."""

    @property
    def declares(self) -> Declaration:
        """The properties of the planner."""

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the twists, the memory for the next call, and the notes."""


class Planner(Protocol):
    """A local planner for a single robot, the recommended form to start with. Its arrays do not have the leading axis N.

    ``memory`` is None at the start of an episode and may be any tuple of arrays of fixed shape afterwards.
    """

    @property
    def declares(self) -> Declaration:
        """The properties of the planner."""

    def plan(self, observation: Observation, memory: Any) -> tuple[tuple[float, float, float], Any]:
        """Return the twist (vx, vy, omega) in the robot's frame, and the memory for the next call."""
