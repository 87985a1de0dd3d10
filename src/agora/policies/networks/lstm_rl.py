"""LSTM-RL's network, evaluated in a fixed order, without PyTorch.

M. Everett, Y. F. Chen, J. P. How, IROS 2018, as used as a baseline by C. Chen et al., ICRA 2019: an LSTM reads the people, farthest
first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.core.state import Bools, Floats
from agora.interfaces import Encoding, Shape
from agora.policies import onnx_graph
from agora.policies.joint_state import OWN, PAIR, PERSON, ROBOT
from agora.policies.layers import lstm
from agora.policies.networks.value import ValueNetwork, mlp, own
from agora.policies.onnx_graph import Value
from agora.policies.onnx_look_ahead import PERSON_AXIS

if TYPE_CHECKING:
    from agora.policies.policy import Policy


@dataclass(frozen=True)
class LstmRlNetwork(ValueNetwork):
    """A long short-term memory reads the people, nearest last.

    Attributes:
        width: width of the layers, as a fraction of the published width.
        ahead: the candidate velocities, and the reward for a step.
    """

    @property
    def parts(self) -> Mapping[str, Sequence[int]]:
        """Return the layer sizes of each sequence of layers."""
        (size,) = self.scaled(50)
        return {"value": (OWN + size, *self.scaled(150, 100, 100), 1)}

    def shapes(self, observe: Encoding, arrays: Mapping[str, Floats]) -> dict[str, tuple[int, ...]]:
        """Return the shapes that the weights of the layers and of the memory must have."""
        (size,) = self.scaled(50)
        memory: dict[str, tuple[int, ...]] = {"lstm.weight": (PAIR, 4 * size), "lstm.state_weight": (size, 4 * size)}
        return super().shapes(observe, arrays) | memory | {f"lstm.{bias}": (4 * size,) for bias in ("bias", "state_bias")}

    def values(self, arrays: Mapping[str, Floats], pairs: Floats, present: Bools) -> Floats:
        """Return the values (N,) of states given as pairs (N, P, 13)."""
        count, people = present.shape
        weights = tuple(arrays[f"lstm.{name}"] for name in ("weight", "bias", "state_weight", "state_bias"))
        hidden_state, cell = (np.zeros((count, weights[2].shape[0]), np.float32) for _ in range(2))
        for p in range(people - 1, -1, -1):
            after, kept = lstm(np.ascontiguousarray(pairs[:, p]), hidden_state, cell, *weights)
            there = present[:, p, None]
            hidden_state, cell = np.where(there, after, hidden_state), np.where(there, kept, cell)
        return mlp(arrays, "value", np.concatenate([pairs[:, 0, :OWN], hidden_state], -1))[:, 0]

    def onnx_values(self, policy: Policy, pairs: Value, present: Value) -> Value:
        """Return the values (N, A, 1, 1) of states given as pairs (N, A, P, 13)."""
        arrays = policy.arrays
        state = cell = pairs.graph.constant(np.zeros((1, 1, 1, len(arrays["lstm.state_weight"])), np.float32))
        for p in range((policy.observe.length - ROBOT) // PERSON - 1, -1, -1):
            after, kept = onnx_graph.lstm(arrays, "lstm", pairs.part(p, p + 1, PERSON_AXIS), state, cell)
            there = present.part(p, p + 1, PERSON_AXIS)
            state, cell = there.where(after, state), there.where(kept, cell)
        return onnx_graph.mlp(arrays, "value", pairs.graph.concat([own(pairs), state]))

    def learner(self, shape: Shape) -> Any:
        """Return the trainable PyTorch network."""
        from agora.policies.learners.values import LstmRlLearner  # needs PyTorch

        return LstmRlLearner(self, shape)
