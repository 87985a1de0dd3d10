"""Policies that look one step ahead and take the velocity whose next state a network values most: the CrowdNav family.

The look-ahead and the action set are those of the CrowdNav code (vita-epfl/CrowdNav, crowd_nav/policy/multi_human_rl.py), with two
differences. Headings are counted from the goal's direction, so that a policy does not depend on how a map is turned; the code
counts them from the map's x axis. And people keep their velocity during the step (the code's ``query_env = false``); by default the
code asks the simulator for their true next state, which no robot can know. The code's reward, too, believes that they keep it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agora.config import build
from agora.core.jit import hidden, kernel
from agora.core.scalar import ONE, ZERO, F, exp
from agora.core.state import Bools, Floats
from agora.errors import InputError, UnknownNameError
from agora.interfaces import Label
from agora.policies.joint_state import GOAL, PAIR, PERSON, RADIUS, ROBOT, SPEED, JointState
from agora.policies.layers import dense, lstm, pool
from agora.policies.weights import label_of, loader, read_weights, write_weights

_FORMAT, _VERSION = "agora.value", 1
_OWN = 6  # of the 13 values of a pair, those of the robot alone
_CHUNK = 8  # decisions that are computed together: their values fit into the cache
_TINY = F(1e-6)
_MOST, _LONGEST = 1000, 10.0  # speeds or headings, and s


@dataclass(frozen=True)
class LookAhead:
    """What a policy tries, and how it rates the step itself; the defaults are those of the CrowdNav code.

    Attributes:
        speeds: how many, up to the preferred speed; slower ones are closer to each other.
        headings: how many; standing is one more candidate.
        step: how far ahead it looks, s.
        discount: of a second at 1 m/s.
        reached: reward of a step that ends at the goal.
        collision: reward of a step with a contact.
        discomfort: reward of a second, for each metre by which the clearance is below ``discomfort_distance``.
        discomfort_distance: clearance to the nearest person below which there is discomfort, m.
    """

    speeds: int = 5
    headings: int = 16
    step: float = 0.25
    discount: float = 0.9
    reached: float = 1.0
    collision: float = -0.25
    discomfort: float = -0.5
    discomfort_distance: float = 0.2

    def __post_init__(self) -> None:
        for name in ("speeds", "headings"):
            if not 1 <= getattr(self, name) <= _MOST:
                raise InputError(f"look_ahead: {name} must be in [1, {_MOST}], got {getattr(self, name)}")
        for name in ("step", "discount"):
            if not 0.0 < getattr(self, name) <= _LONGEST:
                raise InputError(f"look_ahead: {name} must be in (0, {_LONGEST:g}], got {getattr(self, name)}")
        for name in ("reached", "collision", "discomfort", "discomfort_distance"):
            if not math.isfinite(getattr(self, name)):
                raise InputError(f"look_ahead: {name} must be finite, got {getattr(self, name)}")

    @property
    def straight(self) -> int:
        """Index of the candidate that goes to the goal at the preferred speed: the last of the first heading."""
        return self.speeds

    @functools.cached_property
    def velocities(self) -> Floats:
        """(A, 2) candidates in the goal frame, in preferred speeds; the first is to stand."""
        speeds = (np.exp(np.arange(1, self.speeds + 1) / self.speeds) - 1.0) / (math.e - 1.0)
        headings = math.tau * np.arange(self.headings) / self.headings
        rings = np.stack([np.outer(np.cos(headings), speeds), np.outer(np.sin(headings), speeds)], -1).reshape(-1, 2)
        return np.vstack([np.zeros((1, 2)), rings]).astype(np.float32)


class _Rates(NamedTuple):
    """What the kernel takes of a `LookAhead`; ``fading`` is the logarithm of the discount of a step at 1 m/s."""

    step: np.float32
    fading: np.float32
    reached: np.float32
    collision: np.float32
    discomfort: np.float32
    distance: np.float32


@hidden
def _pair(robot, x, y, vx, vy, radius, out):
    """Write the values of a pair: the robot's (6), and place, velocity, radius, distance and sum of radii of a person."""
    for k in range(6):
        out[k] = robot[k]
    out[6], out[7], out[8], out[9], out[10] = x, y, vx, vy, radius
    out[11], out[12] = math.sqrt(x * x + y * y), robot[3] + radius


@kernel
def _pairs(states, people, out, first, last):
    robot = np.zeros(6, np.float32)
    for n in range(first, last):
        row = states[n]
        robot[0], robot[1], robot[2], robot[3], robot[4], robot[5] = row[0], row[1], ZERO, row[2], row[3], row[4]
        for p in range(people):
            at = 7 + 6 * p
            _pair(robot, row[at], row[at + 1], row[at + 2], row[at + 3], row[at + 4], out[n, p])


def pairs_of(states: Floats) -> tuple[Floats, Bools]:
    """Return the pairs (N, P, 13) of joint states (N, D), as networks read them, and which of them there are (N, P).

    The values are those of the code's ``rotate``: distance to the goal, preferred speed, 0 (the heading, which means nothing to a
    robot that moves any way), radius, velocity (2); the person's place (2), velocity (2), radius, distance, and the sum of radii.
    """
    people = (states.shape[1] - ROBOT) // PERSON
    out = np.empty((len(states), people, PAIR), np.float32)
    _pairs(np.ascontiguousarray(states), people, out, 0, len(states))
    return out, present_in(states)


def present_in(states: Floats) -> Bools:
    """Return which people (N, P) there are in joint states (N, D)."""
    there: Bools = states[:, ROBOT + PERSON - 1 :: PERSON] > 0.5
    return there


@kernel
def _look(states, velocities, rates, people, out, rewards, discounts, first, last):
    robot = np.zeros(6, np.float32)
    for n in range(first, last):
        row = states[n]
        discounts[n] = exp(rates.fading * row[1])
        for a in range(len(velocities)):
            ux, uy = velocities[a, 0] * row[1], velocities[a, 1] * row[1]
            gx, gy = row[0] - ux * rates.step, -uy * rates.step
            left = math.sqrt(gx * gx + gy * gy)
            ex, ey = (gx / left, gy / left) if left > _TINY else (ONE, ZERO)
            robot[0], robot[1], robot[3] = left, row[1], row[2]
            robot[4], robot[5] = ex * ux + ey * uy, ex * uy - ey * ux
            clearance = F(1e9)
            for p in range(people):
                at = 7 + 6 * p
                if row[at + 5] <= ZERO:
                    out[n, a, p, :] = ZERO
                    continue
                x, y, vx, vy, radius = row[at], row[at + 1], row[at + 2], row[at + 3], row[at + 4]
                sx, sy = (vx - ux) * rates.step, (vy - uy) * rates.step
                length2 = sx * sx + sy * sy
                share = min(max(-(x * sx + y * sy) / length2, ZERO), ONE) if length2 > ZERO else ZERO
                nx, ny = x + share * sx, y + share * sy
                clearance = min(clearance, math.sqrt(nx * nx + ny * ny) - row[2] - radius)
                qx, qy = x + sx, y + sy
                _pair(robot, ex * qx + ey * qy, ex * qy - ey * qx, ex * vx + ey * vy, ex * vy - ey * vx, radius, out[n, a, p])
            if clearance < ZERO:
                rewards[n, a] = rates.collision
            elif left < row[2]:
                rewards[n, a] = rates.reached
            else:
                rewards[n, a] = rates.discomfort * rates.step * max(rates.distance - clearance, ZERO)


def look_ahead(states: Floats, ahead: LookAhead) -> tuple[Floats, Floats, Floats]:
    """Return the pairs (N, A, P, 13) after a step with each candidate, the rewards (N, A) of the step, and its discounts (N,).

    A step ends at the goal where it ends within the robot's radius of it, and in a contact where the discs meet anywhere on the
    straight way from its beginning to its end (the code's ``step``). A robot that may drive faster counts time faster (Y. F. Chen
    et al. 2017).

    Args:
        states: (N, D) joint states.
        ahead: what is tried.
    """
    people, count = (states.shape[1] - ROBOT) // PERSON, len(ahead.velocities)
    out, rewards = np.empty((len(states), count, people, PAIR), np.float32), np.empty((len(states), count), np.float32)
    discounts, fading = np.empty(len(states), np.float32), ahead.step * math.log(ahead.discount)
    rated = (ahead.reached, ahead.collision, ahead.discomfort, ahead.discomfort_distance)
    rates = _Rates(F(ahead.step), F(fading), *map(F, rated))
    _look(np.ascontiguousarray(states), ahead.velocities, rates, people, out, rewards, discounts, 0, len(states))
    return out, rewards, discounts


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
    return _mlp(arrays, "mlp3", np.concatenate([pairs[:, 0, :_OWN], crowd], -1))[:, 0]


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
    return _mlp(arrays, "value", np.concatenate([pairs[:, 0, :_OWN], hidden_state], -1))[:, 0]


_NETWORKS = {"cadrl": _cadrl, "lstm_rl": _lstm_rl, "sarl": _sarl}


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
            self.one("mlp3", self.mlp("mlp3", _OWN + features))
        else:
            inputs = PAIR if self._network == "cadrl" else _OWN + self.lstm("lstm", PAIR)
            self.one("value", self.mlp("value", inputs))
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
        network: "cadrl", "lstm_rl" or "sarl".
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
