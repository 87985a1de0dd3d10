"""CADRL's network, evaluated in a fixed order, without PyTorch.

Y. F. Chen, M. Liu, M. Everett, J. P. How, ICRA 2017, section III C: the value of a state is the minimum over people.
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
from agora.policies.joint_state import PAIR
from agora.policies.networks.value import ValueNetwork, mlp
from agora.policies.onnx_graph import Value
from agora.policies.onnx_look_ahead import PERSON_AXIS

if TYPE_CHECKING:
    from agora.policies.policy import Policy

_LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class CadrlNetwork(ValueNetwork):
    """The value of a state is the minimum of the values of all robot-person pairs.

    Attributes:
        width: width of the layers, as a fraction of the published width.
        ahead: the candidate velocities, and the reward for a step.
    """

    @property
    def parts(self) -> Mapping[str, Sequence[int]]:
        """Return the layer sizes of each sequence of layers."""
        return {"value": (PAIR, *self.scaled(150, 100, 100), 1)}

    def values(self, arrays: Mapping[str, Floats], pairs: Floats, present: Bools) -> Floats:
        """Return the values (N,) of states given as pairs (N, P, 13)."""
        values = mlp(arrays, "value", pairs.reshape(-1, PAIR)).reshape(present.shape)
        worst: Floats = np.where(present, values, np.float32(np.inf)).min(1)
        return np.where(present.any(1), worst, ZERO)

    def onnx_values(self, policy: Policy, pairs: Value, present: Value) -> Value:
        """Return the values (N, A, 1, 1) of states given as pairs (N, A, P, 13)."""
        worst = present.where(onnx_graph.mlp(policy.arrays, "value", pairs), _LARGEST).min(PERSON_AXIS)
        return present.any(PERSON_AXIS).where(worst, 0.0)

    def learner(self, shape: Shape) -> Any:
        """Return the trainable PyTorch network."""
        from agora.policies.learners.values import CadrlLearner  # needs PyTorch

        return CadrlLearner(self, shape)
