"""What `agora.learning.trainers.ppo` asks of a network: an actor and a critic, which may remember.

`agora.learning.trainers.networks` has the networks by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from agora.core.state import Bools, Floats
from agora.interfaces import Savable
from agora.learning.trainers.distributions import Distribution, Normal
from agora.policies.encoding import Encoding
from agora.policies.policy import Body


@dataclass(frozen=True)
class Shape:
    """What a network is made for, and how large it is.

    Attributes:
        observe: encoding of the observations.
        actions: A, values of an action.
        sizes: of the hidden layers.
        activation: of the hidden layers, "relu" or "tanh".
        log_std: logarithm of the standard deviation of the actions at the beginning.
        width: of the layers of a network with published sizes, as a share of them.
        period: control period of the training, s.
        body: the robot of the training, if the policy is to drive no other.
    """

    observe: Encoding
    actions: int
    sizes: tuple[int, ...] = (128, 128)
    activation: str = "relu"
    log_std: float = -0.5
    width: float = 1.0
    period: float = 0.1
    body: Body | None = None


class ActorCritic(nn.Module, ABC):
    """A policy whose actions are drawn, normally distributed if no subclass says otherwise, and the value of what it sees.

    Args:
        shape: what the network is made for.

    Attributes:
        shape: as given.
        state_size: S, how many values it carries from step to step; 0 for a feed-forward network.
        log_std: (A,) logarithm of the standard deviation of the actions.
    """

    state_size: int = 0

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.log_std = nn.Parameter(torch.full((shape.actions,), shape.log_std))

    @property
    def distribution(self) -> Distribution:
        """How actions are drawn from the first answer of `forward`."""
        return Normal(self.log_std)

    @abstractmethod
    def forward(self, seen: Tensor, state: Tensor, begins: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Go through T steps of N worlds.

        Args:
            seen: (T, N, D) encoded observations.
            state: (N, S) before the first step.
            begins: (T, N) bool, whether an episode begins with the step; the network zeroes the state there.

        Returns:
            Means of the actions (T, N, A), or what else the distribution is made of; values (T, N); and the state after the last
            step (N, S).
        """

    @abstractmethod
    def policy(self, about: Mapping[str, str]) -> Savable:
        """Return the policy that drives without PyTorch: it takes the means of the actions, or the likeliest ones.

        Args:
            about: notes for readers.
        """


def look(network: ActorCritic, seen: Floats, state: Tensor, begins: Bools) -> tuple[Tensor, Tensor, Tensor]:
    """Ask a network about one step of N worlds.

    Args:
        network: that is asked.
        seen: (N, D) encoded observations.
        state: (N, S) before the step.
        begins: (N,) whether an episode begins with the step.

    Returns:
        Means of the actions (N, A), values (N,), and the state after the step (N, S).
    """
    means, values, after = network(torch.from_numpy(seen[None]), state, torch.from_numpy(begins[None]))
    return means[0], values[0], after
