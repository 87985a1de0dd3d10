"""A base class for networks that evaluate states: CADRL, LSTM-RL, SA-CADRL, SARL.

The policy takes the velocity with the highest expected return.

`agora.policies.look_ahead` defines the candidate velocities and the reward for a step. Values in ONNX graphs have the axes row,
candidate, person and entry; an axis on which a value does not depend has a length of 1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.core.scalar import ZERO
from agora.core.state import Bools, Floats
from agora.errors import InputError
from agora.interfaces import Encoding, Shape
from agora.policies.joint_state import GOAL, GOAL_FRAME, OWN, RADIUS, SPEED, JointState
from agora.policies.layers import dense
from agora.policies.look_ahead import LookAhead, look_ahead, present_in
from agora.policies.onnx_graph import OnnxGraph, Value
from agora.policies.onnx_look_ahead import PERSON_AXIS, chosen, looked_ahead
from agora.ranges import Checked, Size
from agora.registry import name_of

if TYPE_CHECKING:
    from agora.policies.policy import Policy

_CHUNK = 8  # number of decisions computed together; small enough for their values to fit into the cache


@dataclass(frozen=True)
class ValueNetwork(Checked):
    """A network that maps joint states to values, with the look-ahead that chooses velocities according to these values.

    The published sizes are taken from the CrowdNav code (vita-epfl/CrowdNav, crowd_nav/configs/policy.config), unless stated
    otherwise. A subclass defines its layers (`parts`), its values in NumPy and in ONNX, and its PyTorch version.

    Attributes:
        width: width of the layers, as a fraction of the published width.
        ahead: the candidate velocities, and the reward for a step.
    """

    width: Size = 1.0
    ahead: LookAhead = field(default_factory=LookAhead)

    def scaled(self, *sizes: int) -> list[int]:
        """Return the given published layer sizes, scaled to this width."""
        return [max(1, round(self.width * size)) for size in sizes]

    @property
    def parts(self) -> Mapping[str, Sequence[int]]:
        """Return the layer sizes of each sequence of layers, by name, from input to output."""
        raise NotImplementedError

    def values(self, arrays: Mapping[str, Floats], pairs: Floats, present: Bools) -> Floats:
        """Return the values (N,) of states given as pairs (N, P, 13); ``present`` (N, P) marks the pairs that exist."""
        raise NotImplementedError

    def onnx_values(self, policy: Policy, pairs: Value, present: Value) -> Value:
        """Return the values (N, A, 1, 1) of states given as pairs (N, A, P, 13); ``present`` (N, 1, P, 1) marks the pairs that
        exist.
        """
        raise NotImplementedError

    def shapes(self, observe: Encoding, arrays: Mapping[str, Floats]) -> dict[str, tuple[int, ...]]:
        """Return the shapes that the weights must have.

        Raises:
            InputError: the encoding is not a `JointState`.
        """
        if not isinstance(observe, JointState):
            name, other = name_of("networks", self), type(observe).__name__
            raise InputError(f"network {name!r} sees with the encoding joint_state, got {other}")
        return {
            name: shape
            for part, sizes in self.parts.items()
            for k, (inputs, outputs) in enumerate(zip(sizes[:-1], sizes[1:], strict=True))
            for name, shape in ((f"{part}.{k}.weight", (inputs, outputs)), (f"{part}.{k}.bias", (outputs,)))
        }

    def state_size(self, observe: Encoding) -> int:
        """Return 0, because the network has no memory."""
        return 0

    def returns(self, arrays: Mapping[str, Floats], states: Floats) -> Floats:
        """Return the expected return (N, A) of each candidate: the step's reward plus the discounted value of the next state."""
        present, count = present_in(states), len(self.ahead.velocities)
        out = np.empty((len(states), count), np.float32)
        for first in range(0, len(states), _CHUNK):
            rows = slice(first, first + _CHUNK)
            pairs, rewards, discounts = look_ahead(states[rows], self.ahead)
            there = np.repeat(present[rows], count, 0)
            values = self.values(arrays, pairs.reshape(-1, *pairs.shape[2:]), there).reshape(rewards.shape)
            out[rows] = rewards + discounts[:, None] * values
        return out

    def choose(self, arrays: Mapping[str, Floats], states: Floats, allowed: Bools | None = None) -> Floats:
        """Return the velocities (N, 2), m/s in the goal frame, for joint states (N, D).

        If no one is present, or the goal is within the robot's radius, the robot drives straight to the goal, or takes the closest
        allowed candidate.

        Args:
            arrays: the weights.
            states: (N, D) joint states.
            allowed: (N, A) whether each candidate is allowed; by default, all are. The first candidate, standing still, should be
                allowed.
        """
        promised = self.returns(arrays, states)
        goes = ~present_in(states).any(1) | (states[:, GOAL] < states[:, RADIUS])
        promised[goes] = self.ahead.velocities[:, 0]
        if allowed is not None:
            promised = np.where(allowed, promised, np.float32(-np.inf))
            goes &= allowed[:, self.ahead.straight]
        velocities: Floats = self.ahead.velocities[np.argmax(promised, 1)] * states[:, SPEED, None]
        straight = np.minimum(states[:, SPEED], states[:, GOAL] / np.float32(self.ahead.step))
        velocities[goes] = np.stack([straight, np.zeros_like(straight)], -1)[goes]
        return velocities

    def step(self, arrays: Mapping[str, Floats], seen: Floats, state: Floats) -> tuple[Floats, Floats]:
        """Return the best velocities (N, 2), in units of the preferred speed, for joint states (N, D), and the empty memory."""
        return self.choose(arrays, seen) / seen[:, SPEED, None], state

    def graph(self, policy: Policy, graph: OnnxGraph) -> None:
        """Add the whole look-ahead to an ONNX graph.

        The graph reads ``state`` (N, D). It writes ``velocity`` (N, 2), the result of `choose` with all candidates allowed, and
        ``promised`` (N, A), the result of `returns`.
        """
        ahead, candidates = self.ahead, len(self.ahead.velocities)
        state = graph.read("state", policy.observe.length)
        pairs, rewards, discounts, present = looked_ahead(ahead, state, policy.observe.length)
        promised = (rewards + discounts * self.onnx_values(policy, pairs, present)).reshape(0, candidates)
        graph.write("velocity", chosen(ahead, state, present, promised), 2)
        graph.write("promised", promised, candidates)
        outputs = {
            "velocity": f"m/s in the speeds of the state; frame: {GOAL_FRAME}",
            "promised": "reward of the step and discounted value after it, for each candidate",
        }
        graph.about["ahead"] = json.dumps(asdict(ahead))
        graph.about["candidates"] = json.dumps(ahead.velocities.tolist())
        graph.about["outputs"] = json.dumps(outputs)

    def learner(self, shape: Shape) -> Any:
        """Return the trainable PyTorch network, which the ``value_learning`` trainer optimises."""
        raise NotImplementedError


def mlp(arrays: Mapping[str, Floats], name: str, values: Floats, *, first: int = 0, last_relu: bool = False) -> Floats:
    """Return the output of the layers ``<name>.<first>``, ``<name>.<first + 1>`` ... in sequence, with ReLU between layers."""
    count = sum(key.startswith(f"{name}.") and key.endswith(".weight") for key in arrays)
    for k in range(first, count):
        values = dense(values, arrays[f"{name}.{k}.weight"], arrays[f"{name}.{k}.bias"])
        if k < count - 1 or last_relu:
            np.maximum(values, ZERO, out=values)
    return values


def own(pairs: Value) -> Value:
    """Return the robot's values (N, A, 1, 6) from pairs (N, A, P, 13)."""
    return pairs.part(0, 1, PERSON_AXIS).part(0, OWN)


def to_robot_frame(velocities: Floats, states: Floats) -> Floats:
    """Rotate velocities (N, 2) from the goal frame into the robots' own frames."""
    c, s = states[:, 5], states[:, 6]
    return np.stack([c * velocities[:, 0] + s * velocities[:, 1], c * velocities[:, 1] - s * velocities[:, 0]], -1)
