"""Rewards: the value of a control period for learning; and facts, the inputs of rewards.

A reward names facts of `agora.learning.facts.FACTS`, or defines its own. A fact reads the robots' knowledge and the true worlds,
once per control period.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from agora.core.state import Floats, Ints
from agora.interfaces.channel import Channel
from agora.interfaces.observation import Observation
from agora.world.world import World


@dataclass(frozen=True, eq=False)
class Transition:
    """The outcome of one control period for N robots.

    Attributes:
        outcome: (N,) `agora.world.records.RUNNING` or the number of an `agora.core.recording.Outcome`.
        progress: (N,) decrease of the robot's distance to its goal, m.
        clearance: (N,) smallest clearance between robot and pedestrians during the period, m; infinite if there are none.
        dt: control period, s.
        facts: requested facts by name, each (N, ...).
    """

    outcome: Ints
    progress: Floats
    clearance: Floats
    dt: float
    facts: Mapping[str, Floats] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Passed:
    """A finished control period of W worlds; row ``w * R + r`` is robot r of world w. All of it is read-only.

    Attributes:
        observation: the robots' knowledge at its end, with the channels that facts or the policy need.
        world: the true worlds at its end.
        command: (N, 3) commanded twist, m/s and rad/s.
        command_before: (N, 3) commanded twist of the previous control period; 0 in the first of an episode.
    """

    observation: Observation
    world: World
    command: Floats
    command_before: Floats


def _nothing(observation: Observation) -> None:
    """Keep nothing."""


@dataclass(frozen=True)
class Fact:
    """A fact about a control period that rewards can use.

    Attributes:
        name: in `Transition.facts`.
        read: returns it, (N, ...) float32, from the finished period and the value that ``begin`` returned.
        needs: channels that it reads.
        begin: returns copies of parts of the observation that the robots acted on, for ``read``.
        says: shape, meaning and unit, as text.
    """

    name: str
    read: Callable[[Passed, Any], Floats]
    needs: Collection[str | Channel] = frozenset()
    begin: Callable[[Observation], Any] = _nothing
    says: str = ""


class Rewarding(Protocol):
    """A registered reward: a frozen dataclass whose fields are its parameters."""

    @property
    def asks(self) -> Collection[str | Fact]:
        """Facts that it reads: names of the library's facts, or its own facts."""

    def terms(self, transition: Transition) -> dict[str, Floats]:
        """Return the terms (N,) float32, weighted, by name."""

    def __call__(self, transition: Transition) -> Floats:
        """Return the rewards (N,), which are the sums of the terms."""
