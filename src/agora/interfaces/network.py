"""Networks: from the input vector of a robot and its memory to an action.

The weights are not part of a network: they are arrays by name, and `agora.policies.policy.Policy` holds both. A policy drives
without PyTorch, so a network computes its step with NumPy; `agora.policies.layers` has layers that do not depend on the batch.
`Network.learner` creates its PyTorch twin, which trainers optimise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from agora.core.state import Floats
from agora.interfaces.encoding import Encoding


@dataclass(frozen=True)
class Shape:
    """The surroundings of a network in a training.

    Attributes:
        observe: encoding of the observations.
        actions: A, values of an action.
        period: control period of the training, s.
        log_std: initial logarithm of the standard deviation of normally distributed actions.
        body: `agora.policies.policy.TrainedRobot` of the robot of the training; None if the policy should drive any robot.
    """

    observe: Encoding
    actions: int
    period: float = 0.1
    log_std: float = -0.5
    body: Any = None


class Network(Protocol):
    """A registered network: a frozen dataclass whose fields are its parameters, which are stored in the policy file."""

    def shapes(self, observe: Encoding, arrays: Mapping[str, Floats]) -> dict[str, tuple[int, ...]]:
        """Return the shapes that the weights must have, by their names.

        Args:
            observe: encoding of its input.
            arrays: the weights, which determine what neither the parameters nor the encoding do, such as the length of an action.

        Raises:
            InputError: it cannot use this encoding.
        """

    def state_size(self, observe: Encoding) -> int:
        """Return S, the number of values of its memory; all are 0 when an episode begins."""

    def step(self, arrays: Mapping[str, Floats], seen: Floats, state: Floats) -> tuple[Floats, Floats]:
        """Return the actions (N, A) of N robots for their inputs (N, D) and memories (N, S), and their new memories (N, S).

        The encoding converts the actions to twists. A row does not depend on the others, not even in its last bit.
        """

    def graph(self, policy: Any, graph: Any) -> None:
        """Add the inputs, operators and outputs of a policy to its ONNX graph: a step, and the conversion of its output.

        Args:
            policy: `agora.policies.policy.Policy` with this network.
            graph: `agora.policies.onnx_graph.OnnxGraph`, which already contains the notes on the encoding.
        """

    def learner(self, shape: Shape) -> Any:
        """Return the untrained network in PyTorch: a module whose method ``policy`` converts it to a policy.

        The trainers ``ppo`` and ``cloning`` take an `agora.policies.learners.actor_critic.ActorCritic`.

        Args:
            shape: of the training.

        Raises:
            InputError: it cannot be trained in this way.
        """
