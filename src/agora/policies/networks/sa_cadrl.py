"""SA-CADRL's network, evaluated in a fixed order, without PyTorch.

Y. F. Chen, M. Everett, M. Liu, J. P. How, IROS 2017. The sizes are taken from the authors' code (mit-acl/gym-collision-avoidance,
``compute_multi_net_param``), but the code's layers also connect people to each other.
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
from agora.policies.networks.value import ValueNetwork, mlp, own
from agora.policies.onnx_graph import Value
from agora.policies.onnx_look_ahead import PERSON_AXIS

if TYPE_CHECKING:
    from agora.policies.policy import Policy


@dataclass(frozen=True)
class SaCadrlNetwork(ValueNetwork):
    """Layers shared by all people, and the maximum of each feature over people.

    Attributes:
        width: width of the layers, as a fraction of the published width.
        ahead: the candidate velocities, and the reward for a step.
    """

    @property
    def parts(self) -> Mapping[str, Sequence[int]]:
        """Return the layer sizes of each sequence of layers."""
        (size,) = self.scaled(50)
        return {"each": (PAIR, size, size), "value": (OWN + size, size, 1)}

    def values(self, arrays: Mapping[str, Floats], pairs: Floats, present: Bools) -> Floats:
        """Return the values (N,) of states given as pairs (N, P, 13)."""
        seen = mlp(arrays, "each", pairs.reshape(-1, PAIR), last_relu=True).reshape(*present.shape, -1)
        crowd = np.where(present[..., None], seen, ZERO).max(1)
        return mlp(arrays, "value", np.concatenate([pairs[:, 0, :OWN], crowd], -1))[:, 0]

    def onnx_values(self, policy: Policy, pairs: Value, present: Value) -> Value:
        """Return the values (N, A, 1, 1) of states given as pairs (N, A, P, 13)."""
        seen = onnx_graph.mlp(policy.arrays, "each", pairs, last_relu=True)
        return onnx_graph.mlp(policy.arrays, "value", pairs.graph.concat([own(pairs), present.where(seen, 0.0).max(PERSON_AXIS)]))

    def learner(self, shape: Shape) -> Any:
        """Return the trainable PyTorch network."""
        from agora.policies.learners.values import SaCadrlLearner  # needs PyTorch

        return SaCadrlLearner(self, shape)
