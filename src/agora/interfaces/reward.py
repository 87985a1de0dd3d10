"""Rewards, which rate each control period for reinforcement learning, and facts, which are the inputs of rewards.

A reward names facts from `agora.learning.facts.FACTS` or defines its own. Facts are computed once per control period, from what the
robots know and from the true state of the worlds.
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
        clearance: (N,) minimum clearance between the robot and pedestrians during the period, m; infinite if there are none.
        dt: control period, s.
        facts: the requested facts, keyed by name, each an array (N, ...).
    """

    outcome: Ints
    progress: Floats
    clearance: Floats
    dt: float
    facts: Mapping[str, Floats] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Passed:
    """A finished control period of W worlds. Row ``w * R + r`` is robot r of world w. All data is read-only.

    Attributes:
        observation: what the robots know at the end of the period, with the channels that the facts or the policy need.
        world: true state of the worlds at the end of the period.
        command: (N, 3) commanded twist, m/s and rad/s.
        command_before: (N, 3) commanded twist of the previous control period; 0 in the first period of an episode.
    """

    observation: Observation
    world: World
    command: Floats
    command_before: Floats


def _nothing(observation: Observation) -> None:
    """Keep nothing (the default for ``begin``)."""


@dataclass(frozen=True)
class Fact:
    """A fact about a control period that rewards can use.

    Attributes:
        name: key in `Transition.facts`.
        read: function that returns the fact, (N, ...) float32, given the finished period and the value that ``begin`` returned.
        needs: channels that the fact reads.
        begin: function called with the observation on which the robots act, at the start of the period; it returns copies of the
            parts that ``read`` needs.
        says: description of the fact: shape, meaning and unit.
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
        """The facts that the reward reads: names of the library's facts, or `Fact` objects of its own."""

    def terms(self, transition: Transition) -> dict[str, Floats]:
        """Return the weighted terms by name, each (N,) float32."""

    def __call__(self, transition: Transition) -> Floats:
        """Return the rewards (N,), which are the sums of the terms."""
