"""Encodings, which convert observations to a policy's input vectors, and its actions to twists.

A training environment and the planner that runs the trained policy use the same encoding. `agora.policies.encoding` has base
classes that implement most of the methods.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from agora.core.state import Array, Bools, Floats
from agora.interfaces.channel import Channel
from agora.interfaces.observation import Observation
from agora.robots.limits import Limits

if TYPE_CHECKING:
    from agora.robots.model import RobotModel


class Encoding(Protocol):
    """A registered encoding: a frozen dataclass whose fields are its parameters, which are stored in the policy file."""

    @property
    def needs(self) -> Collection[str | Channel]:
        """The channels that the encoding reads."""

    @property
    def length(self) -> int:
        """Length of the input vector, D."""

    @property
    def low(self) -> Floats:
        """(D,) minimum values of the input vector."""

    @property
    def high(self) -> Floats:
        """(D,) maximum values of the input vector."""

    @property
    def beams(self) -> int:
        """Number of scan values in the vector; 0 if it contains no scan."""

    def check(self, robot: RobotModel) -> None:
        """Raise `InputError` if the robot cannot provide the input or carry out the actions."""

    def write(self, observation: Observation, out: Floats, first: int, last: int) -> None:
        """Write the vectors of rows ``first <= n < last`` into ``out`` (N, D); several threads may call it at the same time for
        different rows.
        """

    def remember(self, seen: Floats, before: Floats, begins: Bools) -> None:
        """Copy the remembered values from the vectors of the previous control period, ``before`` (N, D), into the current vectors,
        ``seen`` (N, D).

        Rows whose episode is just beginning, ``begins`` (N,), have no previous vector. Calling it twice has the same effect as
        calling it once.
        """

    def action_size(self, limits: Limits) -> int:
        """Return the number of values in an action, A."""

    def twists(self, actions: Array, limits: Limits, pose: Floats, goal: Floats) -> Floats:
        """Return the twists (N, 3) that correspond to actions (N, A) in [-1, 1], for robots with these poses (N, 3) and goals (N,
        3).
        """

    def actions(self, twists: Array, limits: Limits, pose: Floats, goal: Floats) -> Floats:
        """Return the actions (N, A) whose twists are closest to the given ones (N, 3)."""

    def notes(self) -> Mapping[str, Any]:
        """Return notes on the vector for readers of an exported file: ``parts``, ``units``, ``frame``, ``actions``."""
