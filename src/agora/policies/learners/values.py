"""The value networks of the CrowdNav family in PyTorch, for training."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from agora.interfaces import Shape
from agora.policies.joint_state import OWN, PAIR
from agora.policies.learners.arrays import arrays_of
from agora.policies.policy import Policy

if TYPE_CHECKING:
    from agora.policies.networks.value import ValueNetwork


def mlp(sizes: Sequence[int], *, last_relu: bool = False) -> nn.Sequential:
    """Return fully connected layers of the given sizes, with ReLU between layers and, if ``last_relu``, after the last layer."""
    layers: list[nn.Module] = []
    for k, (inputs, outputs) in enumerate(zip(sizes[:-1], sizes[1:], strict=True)):
        layers.append(nn.Linear(inputs, outputs))
        if last_relu or k < len(sizes) - 2:
            layers.append(nn.ReLU())
    return nn.Sequential(*layers)


class ValueLearner(nn.Module, ABC):
    """A network that evaluates states.

    Args:
        network: network to train.
        shape: encoding, action size, control period and robot used in training.
    """

    def __init__(self, network: ValueNetwork, shape: Shape) -> None:
        super().__init__()
        self.network, self.shape = network, shape

    @abstractmethod
    def forward(self, pairs: Tensor, present: Tensor) -> Tensor:
        """Return the values (N,) of states given as pairs (N, P, 13); ``present`` (N, P) marks the pairs that exist."""

    def policy(self, about: Mapping[str, str]) -> Policy:
        """Return a look-ahead policy that runs without PyTorch.

        Args:
            about: notes to store with the policy.
        """
        return Policy(self.shape.observe, self.network, arrays_of(self), dict(about))


class CadrlLearner(ValueLearner):
    """CADRL (Y. F. Chen et al. 2017): the value is the minimum over people."""

    def __init__(self, network: ValueNetwork, shape: Shape) -> None:
        super().__init__(network, shape)
        self.value = mlp(network.parts["value"])

    def forward(self, pairs: Tensor, present: Tensor) -> Tensor:
        """Return the values (N,) of states given as pairs (N, P, 13); ``present`` (N, P) marks the pairs that exist."""
        values = self.value(pairs)[..., 0].masked_fill(~present, torch.inf)
        return torch.where(present.any(1), torch.amin(values, 1), 0.0)


class LstmRlLearner(ValueLearner):
    """LSTM-RL (M. Everett et al. 2018), as used as a baseline by C. Chen et al. 2019: an LSTM reads the people, farthest first."""

    def __init__(self, network: ValueNetwork, shape: Shape) -> None:
        super().__init__(network, shape)
        self.lstm = nn.LSTMCell(PAIR, network.parts["value"][0] - OWN)
        self.value = mlp(network.parts["value"])

    def forward(self, pairs: Tensor, present: Tensor) -> Tensor:
        """Return the values (N,) of states given as pairs (N, P, 13), nearest first; ``present`` (N, P) marks existing pairs."""
        state = cell = pairs.new_zeros(len(pairs), self.lstm.hidden_size)
        for p in range(pairs.shape[1] - 1, -1, -1):
            after, kept = self.lstm(pairs[:, p], (state, cell))
            there = present[:, p, None]
            state, cell = torch.where(there, after, state), torch.where(there, kept, cell)
        value: Tensor = self.value(torch.cat([pairs[:, 0, :OWN], state], 1))[:, 0]
        return value


class SarlLearner(ValueLearner):
    """SARL (C. Chen et al. 2019, equations 2 to 7), without the local map."""

    def __init__(self, network: ValueNetwork, shape: Shape) -> None:
        super().__init__(network, shape)
        parts = network.parts
        self.mlp1, self.mlp2 = mlp(parts["mlp1"], last_relu=True), mlp(parts["mlp2"])
        self.attention, self.mlp3 = mlp(parts["attention"]), mlp(parts["mlp3"])

    def forward(self, pairs: Tensor, present: Tensor) -> Tensor:
        """Return the values (N,) of states given as pairs (N, P, 13); ``present`` (N, P) marks the pairs that exist."""
        seen = self.mlp1(pairs)
        there = present[..., None].to(pairs.dtype)
        mean = (seen * there).sum(1, keepdim=True) / there.sum(1, keepdim=True).clamp(min=1.0)
        scores = self.attention(torch.cat([seen, mean.expand_as(seen)], -1))[..., 0].masked_fill(~present, -torch.inf)
        share = torch.where(present.any(1, keepdim=True), torch.softmax(scores, 1), 0.0)
        crowd = (share[..., None] * self.mlp2(seen)).sum(1)
        value: Tensor = self.mlp3(torch.cat([pairs[:, 0, :OWN], crowd], 1))[:, 0]
        return value


class SaCadrlLearner(ValueLearner):
    """SA-CADRL (Y. F. Chen et al. 2017): layers shared by all people, and the maximum of each feature over people."""

    def __init__(self, network: ValueNetwork, shape: Shape) -> None:
        super().__init__(network, shape)
        self.each, self.value = mlp(network.parts["each"], last_relu=True), mlp(network.parts["value"])

    def forward(self, pairs: Tensor, present: Tensor) -> Tensor:
        """Return the values (N,) of states given as pairs (N, P, 13); ``present`` (N, P) marks the pairs that exist."""
        crowd = self.each(pairs).masked_fill(~present[..., None], 0.0).amax(1)
        value: Tensor = self.value(torch.cat([pairs[:, 0, :OWN], crowd], 1))[:, 0]
        return value
