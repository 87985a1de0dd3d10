"""The PyTorch network that the ``ppo`` and ``cloning`` trainers optimise: an actor and a critic, optionally recurrent."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from agora.core.state import Bools, Floats
from agora.errors import InputError
from agora.interfaces import Network, Shape
from agora.policies.learners.arrays import arrays_of
from agora.policies.learners.distributions import Distribution, Normal
from agora.policies.policy import Policy
from agora.registry import name_of

__all__ = ["ActorCritic", "actor_critic", "look"]


class ActorCritic(nn.Module, ABC):
    """A stochastic policy, whose actions are normally distributed unless a subclass overrides this, and a value function of the
    observations.

    Args:
        network: network of the policy.
        shape: encoding, action size, control period and robot used in training.

    Attributes:
        network: network of the policy, as given.
        shape: encoding, action size, control period and robot used in training, as given.
        state_size: number of values carried from step to step, S; 0 for a feed-forward network.
        log_std: (A,) logarithm of the standard deviation of the actions.
    """

    state_size: int = 0

    def __init__(self, network: Network, shape: Shape) -> None:
        super().__init__()
        self.network, self.shape = network, shape
        self.log_std = nn.Parameter(torch.full((shape.actions,), shape.log_std))

    @property
    def distribution(self) -> Distribution:
        """Return the distribution of actions, whose parameters are the first output of `forward`."""
        return Normal(self.log_std)

    @abstractmethod
    def forward(self, seen: Tensor, state: Tensor, begins: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Evaluate T steps of N worlds.

        Args:
            seen: (T, N, D) encoded observations.
            state: (N, S) state of the network before the first step.
            begins: (T, N) bool, whether an episode begins with the step; the network then resets the state to zero.

        Returns:
            Means of the actions (T, N, A), or other parameters of the distribution; values (T, N); and the state (N, S) after the
            last step.
        """

    def policy(self, about: Mapping[str, str]) -> Policy:
        """Return a policy that runs without PyTorch; the policy takes the mean of the actions or the most likely action.

        Args:
            about: notes to store with the policy.
        """
        shape = self.shape
        return Policy(shape.observe, self.network, self.weights(), dict(about), shape.body, shape.period)

    def weights(self) -> dict[str, Floats]:
        """Return the actor's weights by name, as the policy's network expects them."""
        return {name: array for name, array in arrays_of(self).items() if not name.startswith("critic")}


def actor_critic(network: Network, shape: Shape) -> ActorCritic:
    """Return an untrained network with an actor and a critic.

    Raises:
        InputError: the network does not provide an actor and a critic.
    """
    made = network.learner(shape)
    if not isinstance(made, ActorCritic):
        raise InputError(f"network {name_of('networks', network)!r} has no actor and critic, so this trainer cannot improve it")
    return made


@torch.no_grad()
def look(network: ActorCritic, seen: Floats, state: Tensor, begins: Bools) -> tuple[Tensor, Tensor, Tensor]:
    """Evaluate one step of N worlds.

    Args:
        network: network to evaluate.
        seen: (N, D) encoded observations.
        state: (N, S) state of the network before the step.
        begins: (N,) whether an episode begins with the step.

    Returns:
        Means of the actions (N, A), values (N,), and the state after the step (N, S).
    """
    means, values, after = network(torch.from_numpy(seen[None]), state, torch.from_numpy(begins[None]))
    return means[0], values[0], after
