"""SARL's network, evaluated in a fixed order, without PyTorch.

C. Chen, Y. Liu, S. Kreiss, A. Alahi, ICRA 2019, equations 2 to 7, without the local map.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.core.scalar import ZERO
from agora.core.state import Bools, Floats
from agora.interfaces import Shape
from agora.policies import onnx_graph
from agora.policies.joint_state import OWN, PAIR
from agora.policies.layers import dense, pool
from agora.policies.networks.value import ValueNetwork, mlp, own
from agora.policies.onnx_graph import Value
from agora.policies.onnx_look_ahead import PERSON_AXIS

if TYPE_CHECKING:
    from agora.policies.policy import Policy


@dataclass(frozen=True)
class SarlNetwork(ValueNetwork):
    """The value is computed from the features of all people, weighted by attention.

    Attributes:
        width: width of the layers, as a fraction of the published width.
        ahead: the candidate velocities, and the reward for a step.
    """

    @property
    def parts(self) -> Mapping[str, Sequence[int]]:
        """Return the layer sizes of each sequence of layers."""
        first, second, third = self.scaled(150, 100, 50)
        return {
            "mlp1": (PAIR, first, second),
            "mlp2": (second, second, third),
            "attention": (2 * second, second, second, 1),
            "mlp3": (OWN + third, first, second, second, 1),
        }

    def values(self, arrays: Mapping[str, Floats], pairs: Floats, present: Bools) -> Floats:
        """Return the values (N,) of states given as pairs (N, P, 13)."""
        count, people = present.shape
        there = present[..., None].astype(np.float32)
        seen = mlp(arrays, "mlp1", pairs.reshape(-1, PAIR), last_relu=True).reshape(count, people, -1)
        features = mlp(arrays, "mlp2", seen.reshape(count * people, -1)).reshape(count, people, -1)
        mean = np.zeros((count, seen.shape[2]), np.float32)
        for p in range(people):  # in sequence, so that absent people do not affect the result
            mean += seen[:, p] * there[:, p]
        mean /= np.maximum(present.sum(1, dtype=np.int64), 1).astype(np.float32)[:, None]
        weight, size = arrays["attention.0.weight"], seen.shape[2]
        of_person = dense(seen.reshape(-1, size), weight[:size], np.zeros(weight.shape[1], np.float32))
        of_mean = dense(mean, weight[size:], arrays["attention.0.bias"])
        both = np.maximum(of_person.reshape(count, people, -1) + of_mean[:, None], ZERO)
        scores = mlp(arrays, "attention", both.reshape(count * people, -1), first=1).reshape(count, people)
        crowd = pool(scores, features, present)
        return mlp(arrays, "mlp3", np.concatenate([pairs[:, 0, :OWN], crowd], -1))[:, 0]

    def onnx_values(self, policy: Policy, pairs: Value, present: Value) -> Value:
        """Return the values (N, A, 1, 1) of states given as pairs (N, A, P, 13)."""
        arrays, there = policy.arrays, present.as_float()
        seen = onnx_graph.mlp(arrays, "mlp1", pairs, last_relu=True)
        features = onnx_graph.mlp(arrays, "mlp2", seen)
        mean = (seen * there).sum(PERSON_AXIS) / there.sum(PERSON_AXIS).maximum(1.0)
        weight, size = arrays["attention.0.weight"], arrays["mlp2.0.weight"].shape[0]
        both = (seen @ weight[:size] + onnx_graph.dense(mean, weight[size:], arrays["attention.0.bias"])).relu()
        scores = onnx_graph.mlp(arrays, "attention", both, first=1)
        crowd = onnx_graph.pool(scores, features, present, PERSON_AXIS)
        return onnx_graph.mlp(arrays, "mlp3", pairs.graph.concat([own(pairs), crowd]))

    def learner(self, shape: Shape) -> Any:
        """Return the trainable PyTorch network."""
        from agora.policies.learners.values import SarlLearner  # needs PyTorch

        return SarlLearner(self, shape)
