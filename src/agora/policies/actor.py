"""Policies with a memory, trained by policy gradients: what they see, the network of the actor, and the file that keeps both.

To add a network, write a module that evaluates it in a fixed order, and a line of `_NETWORKS`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Protocol

from agora.config import build
from agora.core.state import Floats
from agora.errors import InputError, UnknownNameError
from agora.interfaces import Label
from agora.policies import ag_rl, ds_rnn
from agora.policies.robot_and_people import RobotAndPeople
from agora.policies.weights import check_weights, label_of, loader, read_weights, write_weights

__all__ = ["Actor", "load_actor"]

_FORMAT, _VERSION = "agora.actor", 1


class _Network(Protocol):
    """A module that evaluates a network."""

    def shapes(self, arrays: Mapping[str, Floats], observe: RobotAndPeople) -> dict[str, tuple[int, ...]]:
        """Return the shapes that the weights must have, by the sizes that some of them have."""

    def state_size(self, arrays: Mapping[str, Floats], people: int) -> int:
        """Return S, how many values the network remembers."""

    def step(self, arrays: Mapping[str, Floats], seen: Floats, state: Floats) -> tuple[Floats, Floats]:
        """Return the actions (N, A) of what N robots see (N, D) and remember (N, S), and what they remember then."""


_NETWORKS: dict[str, _Network] = {"ag_rl": ag_rl, "ds_rnn": ds_rnn}


@dataclass(frozen=True)
class _Said:
    """What a file says of its policy beside the weights."""

    network: str
    period: float
    observe: dict[str, Any]
    about: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Actor:
    """A network from what a robot sees and remembers to what it does.

    Attributes:
        network: "ag_rl" or "ds_rnn".
        arrays: its weights by name, float32; inputs first.
        observe: what the robot sees, and what actions mean.
        period: control period of the training, s.
        about: notes for readers, such as steps of training.

    Raises:
        InputError: an unknown network, weights that do not make it up, numbers that are not finite, or no period.
    """

    network: str
    arrays: Mapping[str, Floats]
    observe: RobotAndPeople
    period: float
    about: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.network not in _NETWORKS:
            raise UnknownNameError("network of an actor", self.network, _NETWORKS)
        if not 0.0 < self.period < math.inf:
            raise InputError(f"period must be above 0 s, got {self.period}")
        shapes = _NETWORKS[self.network].shapes(self.arrays, self.observe)
        check_weights(self.arrays, shapes, self.network)

    @property
    def label(self) -> Label:
        """What the policy claims to be, by its notes."""
        return label_of(self.about)

    @functools.cached_property
    def state_size(self) -> int:
        """S, how many values the policy remembers; all zero at the start of an episode."""
        return _NETWORKS[self.network].state_size(self.arrays, self.observe.people)

    def __call__(self, seen: Floats, state: Floats) -> tuple[Floats, Floats]:
        """Return the actions (N, A) of what N robots see (N, D) and remember (N, S), and what they remember then (N, S).

        A row does not depend on the others.
        """
        return _NETWORKS[self.network].step(self.arrays, seen, state)

    def save(self, path: Path) -> None:
        """Write a safetensors file.

        Raises:
            InputError: the file cannot be written.
        """
        observe = {one.name: getattr(self.observe, one.name) for one in fields(self.observe)}
        write_weights(path, _FORMAT, _VERSION, _Said(self.network, self.period, observe, dict(self.about)), self.arrays)


@loader
def load_actor(path: Path) -> Actor:
    """Return the policy of a name (``configs/policies/<name>.safetensors``) or of a file.

    Args:
        path: a name, or a path (a `Path`, or text with a folder or the ending .safetensors).

    Raises:
        UnknownNameError: no such policy.
        InputError: the file is wrong.
    """
    said, arrays = read_weights(path, _FORMAT, _VERSION, _Said)
    observe = build(said.observe, RobotAndPeople, f"{path}: observe")
    try:
        return Actor(said.network, arrays, observe, said.period, said.about)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
