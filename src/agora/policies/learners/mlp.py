"""Two towers of fully connected layers in PyTorch, for training; `agora.policies.networks.mlp` runs the actor alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from agora.core.state import Floats
from agora.errors import UnknownNameError
from agora.interfaces import Shape
from agora.policies.dense_layers import layers_of_torch, weights_of
from agora.policies.learners.actor_critic import ActorCritic
from agora.policies.learners.distributions import Categorical, Distribution
from agora.policies.planner_choice import PlannerChoice

if TYPE_CHECKING:
    from agora.policies.networks.mlp import Mlp

__all__ = ["Towers", "tower"]

_ACTIVATIONS: dict[str, type[nn.Module] | None] = {"none": None, "relu": nn.ReLU, "sigmoid": nn.Sigmoid, "tanh": nn.Tanh}


class Towers(ActorCritic):
    """Two towers without shared weights, one for the actions and one for the value; the last layer for the value has no activation.

    If the encoding is `PlannerChoice`, the actor outputs scores for the planners, one of which is sampled.
    """

    def __init__(self, network: Mlp, shape: Shape) -> None:
        super().__init__(network, shape)
        sizes, activations = (shape.observe.length, *network.sizes), network.activations
        self.actor = tower((*sizes, shape.actions), activations, gain=0.01)
        self.critic = tower((*sizes, 1), (*activations[:-1], "none"), gain=1.0)
        self._choice = Categorical(torch.eye(shape.actions)) if isinstance(shape.observe, PlannerChoice) else None
        if self._choice:
            self.register_parameter("log_std", None)

    @property
    def distribution(self) -> Distribution:
        """Return a categorical distribution over the planners, or a normal distribution of actions."""
        return self._choice or super().distribution

    def forward(self, seen: Tensor, state: Tensor, begins: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Evaluate T steps of N worlds; steps are independent, and ``state`` (N, 0) is returned unchanged."""
        mean: Tensor = self.actor(seen)
        value: Tensor = self.critic(seen)
        return mean, value[..., 0], state

    def weights(self) -> dict[str, Floats]:
        """Return the weights of the actor."""
        return weights_of(layers_of_torch([self.actor]))


def tower(sizes: Sequence[int], activations: Sequence[str], gain: float) -> nn.Sequential:
    """Return layers with orthogonal weights and zero biases, each followed by an activation.

    Args:
        sizes: sizes of the input, the hidden layers and the output.
        activations: activation of each layer, including the last: "none", "relu", "sigmoid" or "tanh".
        gain: gain of the last layer's weights; the gain of the other layers is sqrt(2) (A. M. Saxe et al. 2014; the convention of
            PPO implementations).

    Raises:
        UnknownNameError: there is no activation with this name.
    """
    layers: list[nn.Module] = []
    for k, (inputs, outputs, name) in enumerate(zip(sizes[:-1], sizes[1:], activations, strict=True)):
        if name not in _ACTIVATIONS:
            raise UnknownNameError("activation", name, _ACTIVATIONS)
        layer = nn.Linear(inputs, outputs)
        nn.init.orthogonal_(layer.weight, gain if k == len(sizes) - 2 else 2.0**0.5)
        nn.init.zeros_(layer.bias)
        activation = _ACTIVATIONS[name]
        layers += [layer] if activation is None else [layer, activation()]
    return nn.Sequential(*layers)
