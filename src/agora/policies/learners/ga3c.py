"""GA3C-CADRL's network in PyTorch, for training; `agora.policies.networks.ga3c` evaluates its actor without PyTorch.

M. Everett, Y. F. Chen, J. P. How, IROS 2018, section III and figure 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from agora.errors import InputError
from agora.interfaces import Shape
from agora.policies.agents import CHOICES, HOST, HOST_MEAN, HOST_SCALE, OTHER, OTHER_MEAN, OTHER_SCALE
from agora.policies.joint_state import COSINE, GOAL, PERSON, RADIUS, ROBOT, SINE, SPEED
from agora.policies.learners.actor_critic import ActorCritic
from agora.policies.learners.distributions import Categorical, Distribution
from agora.policies.learners.recurrent import orthogonal

if TYPE_CHECKING:
    from agora.policies.networks.ga3c import Ga3cNetwork


class Ga3cLearner(ActorCritic):
    """An actor and a critic that share two layers and a long short-term memory; the memory reads the other agents, nearest last.

    The actor scores eleven actions (`agora.policies.agents.CHOICES`), one of which is sampled.

    Args:
        network: network to train.
        shape: encoding, action size, control period and robot used in training.

    Raises:
        InputError: the encoding's ``period`` differs from the control period.
    """

    def __init__(self, network: Ga3cNetwork, shape: Shape) -> None:
        super().__init__(network, shape)
        if abs(network.seen(shape.observe).period - shape.period) > 1e-6:
            turns = network.seen(shape.observe).period
            raise InputError(f"agents: period must be the control period, {shape.period:g} s, got {turns:g}")
        self.register_parameter("log_std", None)
        memory, hidden = network.scaled
        self.lstm = nn.LSTMCell(OTHER, memory)
        self.hidden = nn.Sequential(orthogonal(HOST + memory, hidden), nn.ReLU(), orthogonal(hidden, hidden), nn.ReLU())
        self.choice, self.critic = orthogonal(hidden, len(CHOICES), 0.01), orthogonal(hidden, 1, 1.0)
        self._distribution = Categorical(torch.from_numpy(CHOICES))

    @property
    def distribution(self) -> Distribution:
        """Return a distribution over the eleven actions."""
        return self._distribution

    def forward(self, seen: Tensor, state: Tensor, begins: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Evaluate T steps of N worlds; steps are independent, and ``state`` (N, 0) is returned unchanged.

        Args:
            seen: (T, N, D) joint states.
            state: (N, 0).
            begins: (T, N) bool.

        Returns:
            Scores of the actions (T, N, 11), values (T, N), and the state (N, 0).
        """
        host, others, present = read(seen.flatten(0, 1))
        memory = cell = host.new_zeros(len(host), self.lstm.hidden_size)
        for values, there in zip(others, present[..., None], strict=True):
            after, kept = self.lstm(values, (memory, cell))
            memory, cell = torch.where(there, after, memory), torch.where(there, kept, cell)
        hidden = self.hidden(torch.cat([host, memory], -1))
        return self.choice(hidden).unflatten(0, seen.shape[:2]), self.critic(hidden).view(seen.shape[:2]), state


def read(seen: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the network's inputs for joint states (N, D), as `agora.policies.networks.ga3c.read` does for arrays."""
    goal, speed, radius = (seen[:, k] for k in (GOAL, SPEED, RADIUS))
    host = torch.stack([goal, torch.atan2(seen[:, SINE], seen[:, COSINE]), speed, radius], -1)
    slots = seen[:, ROBOT:].unflatten(-1, (-1, PERSON)).transpose(0, 1).flip(0)
    both = radius + slots[..., 4]
    apart = slots[..., :2].square().sum(-1).sqrt() - both
    others = torch.cat([slots[..., :5], both[..., None], apart[..., None]], -1)
    scaled = (others - torch.from_numpy(OTHER_MEAN)) / torch.from_numpy(OTHER_SCALE)
    return (host - torch.from_numpy(HOST_MEAN)) / torch.from_numpy(HOST_SCALE), scaled, slots[..., -1] != 0.0
