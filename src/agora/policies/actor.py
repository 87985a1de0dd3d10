"""Policies with a memory, trained by policy gradients: what they see, the network of the actor, and the file that keeps both.

The network is that of DS-RNN (S. Liu et al., ICRA 2021): an actor that keeps a recurrent state for the robot, for its velocity and
for each person. `agora.learning.trainers.ds_rnn` trains it; here it is evaluated in a fixed order, without PyTorch.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from agora.config import build
from agora.core.state import Floats
from agora.errors import InputError, UnknownNameError
from agora.interfaces import Label
from agora.policies.joint_state import GOAL, PERSON, RADIUS, ROBOT, SPEED, VX, VY
from agora.policies.layers import attend, dense, gru, relu, tanh
from agora.policies.robot_and_people import RobotAndPeople
from agora.policies.weights import label_of, loader, read_weights, write_weights

__all__ = ["Actor", "load_actor"]

_FORMAT, _VERSION = "agora.actor", 1

NODE, MOTION = (GOAL, SPEED, RADIUS), (VX, VY)
"""Where the values of the robot's node and of its own velocity stand in what the robot sees."""

ACTIONS = 2


def inputs_of(observe: RobotAndPeople) -> int:
    """Return how many values of a person DS-RNN's edges read: the place alone, or everything but the mark."""
    return 2 if observe.places_only else PERSON - 1


def _ds_rnn_shapes(arrays: Mapping[str, Floats], observe: RobotAndPeople) -> dict[str, tuple[int, ...]]:
    """The shapes that DS-RNN's weights must have, by the sizes that some of them have."""

    def size(name: str, axis: int, default: int = 1) -> int:
        array = arrays.get(name)
        return default if array is None or array.ndim <= axis else array.shape[axis]

    edge, node, attention = size("spatial.state_weight", 0), size("node.state_weight", 0), size("key.weight", 1)
    embedded, output = size("person.weight", 1), size("output.weight", 1)
    head = size("actor.0.weight", 1)
    layers = {
        "person": (inputs_of(observe), embedded),
        "motion": (len(MOTION), embedded),
        "key": (edge, attention),
        "query": (edge, attention),
        "robot": (len(NODE), embedded),
        "edges": (2 * edge, embedded),
        "output": (node, output),
        "actor.0": (output, head),
        "actor.1": (head, head),
        "actor.2": (head, ACTIONS),
    }
    units = {"spatial": (embedded, edge), "temporal": (embedded, edge), "node": (2 * embedded, node)}
    shapes: dict[str, tuple[int, ...]] = {}
    for name, (inputs, outputs) in layers.items():
        shapes |= {f"{name}.weight": (inputs, outputs), f"{name}.bias": (outputs,)}
    for name, (inputs, outputs) in units.items():
        shapes |= {f"{name}.weight": (inputs, 3 * outputs), f"{name}.bias": (3 * outputs,)}
        shapes |= {f"{name}.state_weight": (outputs, 3 * outputs), f"{name}.state_bias": (3 * outputs,)}
    return shapes


def _ds_rnn_state(arrays: Mapping[str, Floats], people: int) -> int:
    edge, node = len(arrays["spatial.state_weight"]), len(arrays["node.state_weight"])
    return edge + node + people * (1 + edge)


def _ds_rnn(arrays: Mapping[str, Floats], seen: Floats, state: Floats) -> tuple[Floats, Floats]:
    """Return the actions and the next state; a row of the state is that of the velocity, of the robot, and of people.

    People's states stand in the order in which people are seen now, behind the marks by which they are found again.
    """

    def layer(name: str, values: Floats) -> Floats:
        return dense(np.ascontiguousarray(values), arrays[f"{name}.weight"], arrays[f"{name}.bias"])

    def unit(name: str, values: Floats, before: Floats) -> Floats:
        weights = (arrays[f"{name}.{part}"] for part in ("weight", "bias", "state_weight", "state_bias"))
        return gru(values, np.ascontiguousarray(before), *weights)

    rows, people = len(seen), (seen.shape[1] - ROBOT) // PERSON
    edge, node = len(arrays["spatial.state_weight"]), len(arrays["node.state_weight"])
    persons = seen[:, ROBOT:].reshape(rows, people, PERSON)
    marks, known = persons[..., -1], state[:, edge + node : edge + node + people]
    present = marks != 0.0
    same = (marks[:, :, None] == known[:, None, :]) & present[..., None]
    kept = state[:, edge + node + people :].reshape(rows, people, edge)
    before = np.where(same.any(2)[..., None], np.take_along_axis(kept, same.argmax(2)[..., None], 1), np.float32(0.0))

    inputs = arrays["person.weight"].shape[0]
    seen_people = relu(layer("person", persons[..., :inputs].reshape(-1, inputs)))
    spatial = unit("spatial", seen_people, before.reshape(-1, edge)).reshape(rows, people, edge)
    spatial = np.where(present[..., None], spatial, np.float32(0.0))
    temporal = unit("temporal", relu(layer("motion", seen[:, MOTION])), state[:, :edge])
    count = present.sum(1, dtype=np.int64).astype(np.float32)
    keys = layer("key", spatial.reshape(-1, edge)).reshape(rows, people, -1)
    crowd = attend(layer("query", temporal) * count[:, None], keys, spatial, present)
    edges = relu(layer("edges", np.concatenate([temporal, crowd], 1)))
    robot = relu(layer("robot", seen[:, NODE]))
    after = unit("node", np.concatenate([robot, edges], 1), state[:, edge : edge + node])
    hidden = tanh(layer("actor.1", tanh(layer("actor.0", layer("output", after)))))
    return layer("actor.2", hidden), np.concatenate([temporal, after, marks, spatial.reshape(rows, -1)], 1)


@dataclass(frozen=True)
class _Network:
    """How a network is checked and evaluated."""

    shapes: Any
    state_size: Any
    step: Any


_NETWORKS = {"ds_rnn": _Network(_ds_rnn_shapes, _ds_rnn_state, _ds_rnn)}


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
        network: "ds_rnn".
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
        for name in sorted(shapes.keys() | self.arrays.keys()):
            if name not in self.arrays or name not in shapes:
                raise InputError(f"weight {name} {'is missing' if name in shapes else f'is no part of {self.network}'}")
            array = self.arrays[name]
            if array.shape != shapes[name] or not array.size:
                raise InputError(f"weight {name}: expected the shape {shapes[name]}, got {array.shape}")
            if array.dtype != np.float32 or not np.isfinite(array).all():
                raise InputError(f"weight {name} must be finite float32, got {array.dtype}")

    @property
    def label(self) -> Label:
        """What the policy claims to be, by its notes."""
        return label_of(self.about)

    @functools.cached_property
    def state_size(self) -> int:
        """S, how many values the policy remembers; all zero at the start of an episode."""
        size: int = _NETWORKS[self.network].state_size(self.arrays, self.observe.people)
        return size

    def __call__(self, seen: Floats, state: Floats) -> tuple[Floats, Floats]:
        """Return the actions (N, A) of what N robots see (N, D) and remember (N, S), and what they remember then (N, S).

        A row does not depend on the others.
        """
        answer: tuple[Floats, Floats] = _NETWORKS[self.network].step(self.arrays, seen, state)
        return answer

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
