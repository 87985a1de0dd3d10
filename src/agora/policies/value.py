"""Policies that look one step ahead and take the velocity whose next state a network values most: the CrowdNav family.

`agora.policies.look_ahead` says what they try.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from agora.config import build
from agora.core.scalar import ZERO
from agora.core.state import Bools, Floats
from agora.errors import InputError, UnknownNameError
from agora.interfaces import Label
from agora.policies.joint_state import GOAL, OWN, PAIR, RADIUS, SPEED, JointState
from agora.policies.layers import dense, lstm, pool
from agora.policies.look_ahead import LookAhead, look_ahead, present_in
from agora.policies.weights import label_of, loader, read_weights, write_weights

_FORMAT, _VERSION = "agora.value", 1
_CHUNK = 8  # decisions that are computed together: their values fit into the cache


def _mlp(arrays: Mapping[str, Floats], name: str, values: Floats, *, first: int = 0, last_relu: bool = False) -> Floats:
    """The layers ``<name>.<first>``, ``<name>.<first + 1>`` ... one after the other, with ReLU between them."""
    count = _depth(arrays, name)
    for k in range(first, count):
        values = dense(values, arrays[f"{name}.{k}.weight"], arrays[f"{name}.{k}.bias"])
        if k < count - 1 or last_relu:
            np.maximum(values, ZERO, out=values)
    return values


def _depth(arrays: Mapping[str, Floats], name: str) -> int:
    return sum(key.startswith(f"{name}.") and key.endswith(".weight") for key in arrays)


def _sarl(arrays: Mapping[str, Floats], pairs: Floats, present: Bools) -> Floats:
    """C. Chen et al. 2019, equations 2 to 7, without the local map."""
    count, people = present.shape
    there = present[..., None].astype(np.float32)
    seen = _mlp(arrays, "mlp1", pairs.reshape(-1, PAIR), last_relu=True).reshape(count, people, -1)
    features = _mlp(arrays, "mlp2", seen.reshape(count * people, -1)).reshape(count, people, -1)
    mean = np.zeros((count, seen.shape[2]), np.float32)
    for p in range(people):  # one after the other, so that people who are not there change nothing
        mean += seen[:, p] * there[:, p]
    mean /= np.maximum(present.sum(1, dtype=np.int64), 1).astype(np.float32)[:, None]
    weight, size = arrays["attention.0.weight"], seen.shape[2]
    of_person = dense(seen.reshape(-1, size), weight[:size], np.zeros(weight.shape[1], np.float32))
    of_mean = dense(mean, weight[size:], arrays["attention.0.bias"])
    both = np.maximum(of_person.reshape(count, people, -1) + of_mean[:, None], ZERO)
    scores = _mlp(arrays, "attention", both.reshape(count * people, -1), first=1).reshape(count, people)
    crowd = pool(scores, features, present)
    return _mlp(arrays, "mlp3", np.concatenate([pairs[:, 0, :OWN], crowd], -1))[:, 0]


def _cadrl(arrays: Mapping[str, Floats], pairs: Floats, present: Bools) -> Floats:
    """Y. F. Chen et al. 2017, section III C: the value with the worst person."""
    values = _mlp(arrays, "value", pairs.reshape(-1, PAIR)).reshape(present.shape)
    worst: Floats = np.where(present, values, np.float32(np.inf)).min(1)
    return np.where(present.any(1), worst, ZERO)


def _lstm_rl(arrays: Mapping[str, Floats], pairs: Floats, present: Bools) -> Floats:
    """M. Everett et al. 2018, as a baseline of C. Chen et al. 2019: an LSTM over people, the farthest first."""
    count, people = present.shape
    weights = tuple(arrays[f"lstm.{name}"] for name in ("weight", "bias", "state_weight", "state_bias"))
    hidden_state, cell = (np.zeros((count, weights[2].shape[0]), np.float32) for _ in range(2))
    for p in range(people - 1, -1, -1):
        after, kept = lstm(np.ascontiguousarray(pairs[:, p]), hidden_state, cell, *weights)
        there = present[:, p, None]
        hidden_state, cell = np.where(there, after, hidden_state), np.where(there, kept, cell)
    return _mlp(arrays, "value", np.concatenate([pairs[:, 0, :OWN], hidden_state], -1))[:, 0]


def _sa_cadrl(arrays: Mapping[str, Floats], pairs: Floats, present: Bools) -> Floats:
    """Y. F. Chen et al. 2017 (SA-CADRL): layers that all people share, and the largest of each of their values."""
    seen = _mlp(arrays, "each", pairs.reshape(-1, PAIR), last_relu=True).reshape(*present.shape, -1)
    crowd = np.where(present[..., None], seen, ZERO).max(1)
    return _mlp(arrays, "value", np.concatenate([pairs[:, 0, :OWN], crowd], -1))[:, 0]


_NETWORKS = {"cadrl": _cadrl, "lstm_rl": _lstm_rl, "sa_cadrl": _sa_cadrl, "sarl": _sarl}


class _Shapes:
    """Takes the weights of a network part by part, and refuses those that do not fit together: kernels check no bounds."""

    def __init__(self, network: str, arrays: Mapping[str, Floats]) -> None:
        self._network, self._arrays, self._left = network, arrays, set(arrays)

    def take(self, name: str, *shape: int) -> None:
        """Take an array of a shape."""
        self._left.discard(name)
        if name not in self._arrays or self._arrays[name].shape != shape:
            found = self._arrays[name].shape if name in self._arrays else "nothing"
            raise InputError(f"{self._network} network: {name}: expected an array {shape}, got {found}")

    def mlp(self, name: str, inputs: int) -> int:
        """Take layers one after the other, and return how many values the last gives."""
        for k in range(max(_depth(self._arrays, name), 1)):
            bias = np.atleast_1d(self._arrays.get(f"{name}.{k}.bias", np.zeros(0, np.float32)))
            self.take(f"{name}.{k}.weight", inputs, len(bias))
            self.take(f"{name}.{k}.bias", len(bias))
            inputs = len(bias)
        return inputs

    def lstm(self, name: str, inputs: int) -> int:
        """Take a long short-term memory, and return how many values its state has."""
        size = len(np.atleast_1d(self._arrays.get(f"{name}.state_weight", np.zeros(0, np.float32))))
        self.take(f"{name}.weight", inputs, 4 * size)
        self.take(f"{name}.state_weight", size, 4 * size)
        for bias in ("bias", "state_bias"):
            self.take(f"{name}.{bias}", 4 * size)
        return size

    def check(self) -> None:
        """Take all weights of the network."""
        if self._network == "sarl":
            seen = self.mlp("mlp1", PAIR)
            features, scores = self.mlp("mlp2", seen), self.mlp("attention", 2 * seen)
            self.one("attention", scores)
            self.one("mlp3", self.mlp("mlp3", OWN + features))
        else:
            inputs = {"cadrl": lambda: PAIR, "lstm_rl": lambda: OWN + self.lstm("lstm", PAIR)}
            crowd = inputs.get(self._network, lambda: OWN + self.mlp("each", PAIR))
            self.one("value", self.mlp("value", crowd()))
        if self._left:
            raise InputError(f"{self._network} network: {min(self._left)} belongs to no part of it")

    def one(self, name: str, outputs: int) -> None:
        """Refuse a part that gives more or less than one value."""
        if outputs != 1:
            raise InputError(f"{self._network} network: {name} gives {outputs} values, expected 1")


@dataclass(frozen=True)
class _Said:
    """What a file says of its policy beside the weights."""

    network: str
    observe: dict[str, Any]
    ahead: dict[str, Any]
    about: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class ValuePolicy:
    """A value network with what it sees and what it tries.

    Attributes:
        network: "cadrl", "lstm_rl", "sa_cadrl" or "sarl".
        arrays: its weights by name, float32; inputs first.
        observe: the joint states.
        ahead: what is tried.
        about: notes for readers, such as steps of training.

    Raises:
        InputError: an unknown network, weights that do not make it up, or numbers that are not finite.
    """

    network: str
    arrays: Mapping[str, Floats]
    observe: JointState = field(default_factory=JointState)
    ahead: LookAhead = field(default_factory=LookAhead)
    about: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.network not in _NETWORKS:
            raise UnknownNameError("value network", self.network, _NETWORKS)
        for name, array in self.arrays.items():
            if array.dtype != np.float32 or not np.isfinite(array).all():
                raise InputError(f"weight {name} must be finite float32, got {array.dtype}")
        _Shapes(self.network, self.arrays).check()

    @property
    def label(self) -> Label:
        """What the policy claims to be, by its notes."""
        return label_of(self.about)

    def values(self, pairs: Floats, present: Bools) -> Floats:
        """Return the values (N,) of states given as pairs (N, P, 13) of which ``present`` (N, P) are there."""
        return _NETWORKS[self.network](self.arrays, pairs, present)

    def returns(self, states: Floats) -> Floats:
        """Return what each candidate promises (N, A): the reward of the step, and the discounted value of the state after it."""
        present, count = present_in(states), len(self.ahead.velocities)
        out = np.empty((len(states), count), np.float32)
        for first in range(0, len(states), _CHUNK):
            rows = slice(first, first + _CHUNK)
            pairs, rewards, discounts = look_ahead(states[rows], self.ahead)
            values = self.values(pairs.reshape(-1, *pairs.shape[2:]), np.repeat(present[rows], count, 0)).reshape(rewards.shape)
            out[rows] = rewards + discounts[:, None] * values
        return out

    def __call__(self, states: Floats, allowed: Bools | None = None) -> Floats:
        """Return the velocities (N, 2), m/s in the goal frame, for joint states (N, D).

        Where nobody is there, and within a robot's radius of the goal, it goes straight to the goal, or with the allowed candidate
        that comes nearest to it.

        Args:
            states: (N, D).
            allowed: (N, A) candidates among which to choose, all by default. The first, to stand, should be among them.
        """
        promised = self.returns(states)
        goes = ~present_in(states).any(1) | (states[:, GOAL] < states[:, RADIUS])
        promised[goes] = self.ahead.velocities[:, 0]
        if allowed is not None:
            promised = np.where(allowed, promised, np.float32(-np.inf))
            goes &= allowed[:, self.ahead.straight]
        velocities: Floats = self.ahead.velocities[np.argmax(promised, 1)] * states[:, SPEED, None]
        straight = np.minimum(states[:, SPEED], states[:, GOAL] / np.float32(self.ahead.step))
        velocities[goes] = np.stack([straight, np.zeros_like(straight)], -1)[goes]
        return velocities

    def save(self, path: Path) -> None:
        """Write a safetensors file.

        Raises:
            InputError: the file cannot be written.
        """
        said = _Said(self.network, _plain(self.observe), _plain(self.ahead), dict(self.about))
        write_weights(path, _FORMAT, _VERSION, said, self.arrays)


def to_robot_frame(velocities: Floats, states: Floats) -> Floats:
    """Turn velocities (N, 2) of the goal frame into the robots' own frames."""
    c, s = states[:, 5], states[:, 6]
    return np.stack([c * velocities[:, 0] + s * velocities[:, 1], c * velocities[:, 1] - s * velocities[:, 0]], -1)


def _plain(record: Any) -> dict[str, Any]:
    return {one.name: getattr(record, one.name) for one in fields(record)}


@loader
def load_value_policy(path: Path) -> ValuePolicy:
    """Return the value policy of a name (``configs/policies/<name>.safetensors``) or of a file.

    Args:
        path: a name, or a path (a `Path`, or text with a folder or the ending .safetensors).

    Raises:
        UnknownNameError: no such policy.
        InputError: the file is wrong.
    """
    said, arrays = read_weights(path, _FORMAT, _VERSION, _Said)
    observe = build(said.observe, JointState, f"{path}: observe")
    ahead = build(said.ahead, LookAhead, f"{path}: ahead")
    try:
        return ValuePolicy(said.network, arrays, observe, ahead, said.about)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
