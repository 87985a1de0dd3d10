"""Rewards: the worth of a control period, by which policies learn; and facts, which rewards ask for.

A reward names facts of `agora.learning.facts.FACTS`, or brings facts of its own. A fact reads what the robots know and the worlds
as they are; both are read once in a control period.
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
        progress: (N,) how much nearer the robot came to its goal, m.
        clearance: (N,) smallest clearance between robot and pedestrians during the period, m; infinite if there are none.
        dt: control period, s.
        facts: more that a reward asked for, by the names of the facts, each (N, ...).
    """

    outcome: Ints
    progress: Floats
    clearance: Floats
    dt: float
    facts: Mapping[str, Floats] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Passed:
    """A control period of W worlds that is over; row ``w * R + r`` is robot r of world w. All of it is read-only.

    Attributes:
        observation: what the robots know at its end; of the channels, those are there that facts or the policy need.
        world: the worlds at its end, as they truly are.
        command: (N, 3) twist that the action asked for, m/s and rad/s.
        command_before: (N, 3) that of the control period before; 0 in the first of an episode.
    """

    observation: Observation
    world: World
    command: Floats
    command_before: Floats


def _nothing(observation: Observation) -> None:
    """Keep nothing."""


@dataclass(frozen=True)
class Fact:
    """Something that a reward may ask about a control period.

    Attributes:
        name: in `Transition.facts`.
        read: returns it, (N, ...) float32, of the period that passed and of what ``begin`` kept.
        needs: channels that it reads.
        begin: keeps something of the observation by which the robots acted, as copies, for ``read``.
        says: shape, meaning and unit, for readers.
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
        """Facts that it reads: names of the library's, or facts of its own."""

    def terms(self, transition: Transition) -> dict[str, Floats]:
        """Return the terms (N,) float32, weighted, by name."""

    def __call__(self, transition: Transition) -> Floats:
        """Return the rewards (N,), which are the sums of the terms."""
