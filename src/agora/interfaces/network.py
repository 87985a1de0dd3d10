"""Networks, which compute a robot's action from its input vector and memory.

The weights are not part of a network: they are arrays by name, and `agora.policies.policy.Policy` holds both. Policies run without
PyTorch, so a network computes its step with NumPy; `agora.policies.layers` has layers whose results do not depend on the batch.
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
    """The properties of a training run that determine a network's shape.

    Attributes:
        observe: encoding of the observations.
        actions: number of values in an action, A.
        period: control period during training, s.
        log_std: initial logarithm of the standard deviation of normally distributed actions.
        body: description of the training robot (`agora.policies.policy.TrainedRobot`); None if the policy should be able to drive
            any robot.
    """

    observe: Encoding
    actions: int
    period: float = 0.1
    log_std: float = -0.5
    body: Any = None


class Network(Protocol):
    """A registered network: a frozen dataclass whose fields are its parameters, which are stored in the policy file."""

    def shapes(self, observe: Encoding, arrays: Mapping[str, Floats]) -> dict[str, tuple[int, ...]]:
        """Return the required shapes of the weights, keyed by name.

        Args:
            observe: encoding of the network's input.
            arrays: the weights. They provide sizes that neither the parameters nor the encoding determine, such as the length of an
                action.

        Raises:
            InputError: the network cannot use this encoding.
        """

    def state_size(self, observe: Encoding) -> int:
        """Return the number of values in the network's memory, S. All are 0 when an episode begins."""

    def step(self, arrays: Mapping[str, Floats], seen: Floats, state: Floats) -> tuple[Floats, Floats]:
        """Return the actions (N, A) of N robots for their inputs (N, D) and memories (N, S), and their new memories (N, S).

        The encoding converts the actions to twists. The result of a row does not depend on the other rows, bit for bit.
        """

    def graph(self, policy: Any, graph: Any) -> None:
        """Add the inputs, operators and outputs of a policy to its ONNX graph, which computes one step of the network and converts
        its output.

        Args:
            policy: `agora.policies.policy.Policy` with this network.
            graph: `agora.policies.onnx_graph.OnnxGraph`, which already contains the notes on the encoding.
        """

    def learner(self, shape: Shape) -> Any:
        """Return the untrained PyTorch network: a module whose ``policy()`` method converts it to a policy.

        The ``ppo`` and ``cloning`` trainers take an `agora.policies.learners.actor_critic.ActorCritic`.

        Args:
            shape: properties of the training run.

        Raises:
            InputError: the network cannot be trained in this way.
        """
