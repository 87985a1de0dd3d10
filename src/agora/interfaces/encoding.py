"""Encodings: conversion of observations to the input vector of a policy, and of actions to twists.

Training environments and the planners that drive with policies use the same encoding. `agora.policies.encoding` has base classes
that implement most of it.
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
        """Channels that it reads."""

    @property
    def length(self) -> int:
        """D, the number of values."""

    @property
    def low(self) -> Floats:
        """(D,) the smallest values."""

    @property
    def high(self) -> Floats:
        """(D,) the largest values."""

    @property
    def beams(self) -> int:
        """Number of values of the scan in the vector; 0 for none."""

    def check(self, robot: RobotModel) -> None:
        """Raise an `InputError` for a robot that cannot provide this input."""

    def write(self, observation: Observation, out: Floats, first: int, last: int) -> None:
        """Write the vectors of the rows ``first <= n < last`` into ``out`` (N, D); threads call it for different rows."""

    def remember(self, seen: Floats, before: Floats, begins: Bools) -> None:
        """Copy into the current vectors ``seen`` (N, D) what they keep of ``before`` (N, D), the vectors of one control period ago.

        In rows whose episode ``begins`` (N,) there is no earlier vector. A second call changes nothing.
        """

    def action_size(self, limits: Limits) -> int:
        """Return A, the number of values of an action."""

    def twists(self, actions: Array, limits: Limits, pose: Floats, goal: Floats) -> Floats:
        """Return the twists (N, 3) of actions (N, A) in [-1, 1] of robots with these poses (N, 3) and goals (N, 3)."""

    def actions(self, twists: Array, limits: Limits, pose: Floats, goal: Floats) -> Floats:
        """Return the actions (N, A) whose twists are closest to the given ones (N, 3)."""

    def notes(self) -> Mapping[str, Any]:
        """Return notes on the vector for readers of an exported file: ``parts``, ``units``, ``frame``, ``actions``."""
