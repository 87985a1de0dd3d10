"""Networks with an actor and a critic, which `agora.learning.trainers.ppo` trains.

To add a network, subclass `ActorCritic` and add a line to `NETWORKS`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor, nn

from agora.errors import InputError, UnknownNameError
from agora.learning.trainers.actor_critic import ActorCritic, Shape
from agora.learning.trainers.ag_rl import AgRl
from agora.learning.trainers.ds_rnn import DsRnn
from agora.learning.trainers.ga3c import Ga3cNetwork
from agora.policies.encoding import Observe
from agora.policies.policy import Policy

__all__ = ["NETWORKS", "ActorCritic", "Shape", "network_of", "tower"]

_ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh}


class Mlp(ActorCritic):
    """Two towers of fully connected layers, one for the actions and one for the value; they share nothing.

    Raises:
        InputError: the encoding is not `Observe`, the only one whose policies have a file format.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        if not isinstance(shape.observe, Observe):
            raise InputError(f"a network 'mlp' sees with the encoding Observe, got {type(shape.observe).__name__}")
        self.observe = shape.observe
        sizes = (shape.observe.length, *shape.sizes)
        self.actor = tower((*sizes, shape.actions), shape.activation, gain=0.01)
        self.critic = tower((*sizes, 1), shape.activation, gain=1.0)

    def forward(self, seen: Tensor, state: Tensor, begins: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Go through T steps of N worlds; every step is seen alone, and ``state`` (N, 0) comes back as it is."""
        mean: Tensor = self.actor(seen)
        value: Tensor = self.critic(seen)
        return mean, value[..., 0], state

    def policy(self, about: Mapping[str, str]) -> Policy:
        """Return the actor as a policy."""
        return Policy.of_torch(self.observe, [self.actor], about, self.shape.body)


NETWORKS: dict[str, type[ActorCritic]] = {
    "ag_rl": AgRl,
    "ds_rnn": DsRnn,
    "ga3c": Ga3cNetwork,
    "mlp": Mlp,
}
"""Networks by name."""


def network_of(name: str, shape: Shape) -> ActorCritic:
    """Return an untrained network.

    Raises:
        UnknownNameError: no such network.
    """
    if name not in NETWORKS:
        raise UnknownNameError("network", name, NETWORKS)
    return NETWORKS[name](shape)


def tower(sizes: Sequence[int], activation: str, gain: float) -> nn.Sequential:
    """Return layers with orthogonal weights and zero biases, and an activation after each but the last.

    Args:
        sizes: of the input, the hidden layers and the output.
        activation: "relu" or "tanh".
        gain: of the last layer's weights; the others have sqrt(2) (A. M. Saxe et al. 2014; the habit of PPO's implementations).

    Raises:
        UnknownNameError: no such activation.
    """
    if activation not in _ACTIVATIONS:
        raise UnknownNameError("activation", activation, _ACTIVATIONS)
    layers: list[nn.Module] = []
    for k, (inputs, outputs) in enumerate(zip(sizes[:-1], sizes[1:], strict=True)):
        last = k == len(sizes) - 2
        layer = nn.Linear(inputs, outputs)
        nn.init.orthogonal_(layer.weight, gain if last else 2.0**0.5)
        nn.init.zeros_(layer.bias)
        layers += [layer] if last else [layer, _ACTIVATIONS[activation]()]
    return nn.Sequential(*layers)
