"""Networks: from the vector that a robot sees, and what it remembers, to an action.

The weights are no part of a network: they are arrays by name, and `agora.policies.policy.Policy` holds both. A policy drives
without PyTorch, so a network computes its step with NumPy; `agora.policies.layers` has layers that do not depend on the batch. Its
twin in PyTorch, which trainers improve, is made by `Network.learner` when a training asks for it.
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
        log_std: logarithm of the standard deviation of normally distributed actions at the beginning.
        body: `agora.policies.policy.TrainedRobot` of the robot of the training; None if the policy is to drive any.
    """

    observe: Encoding
    actions: int
    period: float = 0.1
    log_std: float = -0.5
    body: Any = None


class Network(Protocol):
    """A registered network: a frozen dataclass whose fields are its parameters, which the file of a policy holds."""

    def shapes(self, observe: Encoding, arrays: Mapping[str, Floats]) -> dict[str, tuple[int, ...]]:
        """Return the shapes that the weights must have, by their names.

        Args:
            observe: encoding of what it sees.
            arrays: the weights, which tell what neither the parameters nor the encoding say, such as the length of an action.

        Raises:
            InputError: it does not see with this encoding.
        """

    def state_size(self, observe: Encoding) -> int:
        """Return S, how many values it remembers from decision to decision; all are 0 when an episode begins."""

    def step(self, arrays: Mapping[str, Floats], seen: Floats, state: Floats) -> tuple[Floats, Floats]:
        """Return the actions (N, A) of what N robots see (N, D) and remember (N, S), and what they remember then (N, S).

        The encoding takes the actions. A row is bit-exact independent of the others.
        """

    def graph(self, policy: Any, graph: Any) -> None:
        """Add the inputs, operators and outputs of a policy to its ONNX graph: a step, and what follows it.

        Args:
            policy: `agora.policies.policy.Policy` with this network.
            graph: `agora.policies.onnx_graph.OnnxGraph`, in which the notes on the encoding are already.
        """

    def learner(self, shape: Shape) -> Any:
        """Return the network in PyTorch, untrained: a module whose method ``policy`` makes a policy of it.

        The trainers ``ppo`` and ``cloning`` take an `agora.policies.learners.actor_critic.ActorCritic`.

        Args:
            shape: of the training.

        Raises:
            InputError: it cannot be trained so.
        """
