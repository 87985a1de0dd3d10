"""The PyTorch network that judges commands, for training; `agora.policies.networks.judge` runs the actor without PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from agora.interfaces import Shape
from agora.policies.command_rollouts import CONTEXT, FEATURES
from agora.policies.commands import COMMANDS, FIRST, IMPOSSIBLE, LEFT, MIRROR, SECOND
from agora.policies.learners.actor_critic import ActorCritic
from agora.policies.learners.distributions import Categorical, Distribution
from agora.policies.learners.recurrent import orthogonal

if TYPE_CHECKING:
    from agora.policies.networks.judge import Judge

_CRITIC = 96


class JudgeLearner(ActorCritic):
    """An actor that scores commands, and a critic that reads the mean and maximum of the actor's features over all commands.

    Both are symmetric under exchange of left and right.

    Args:
        network: network to train.
        shape: encoding, action size, control period and robot used in training.
    """

    def __init__(self, network: Judge, shape: Shape) -> None:
        super().__init__(network, shape)
        network.shapes(shape.observe, {})
        self.register_parameter("log_std", None)
        (first, second), (wide, narrow) = network.context, network.command
        self.context = nn.Sequential(orthogonal(CONTEXT, first), nn.ReLU(), orthogonal(first, second), nn.ReLU())
        self.common, self.command = orthogonal(second, wide), orthogonal(FEATURES, wide)
        self.hidden, self.score = orthogonal(wide, narrow), orthogonal(narrow, 1, 0.01)
        self.critic = nn.Sequential(orthogonal(second + 2 * narrow, _CRITIC), nn.ReLU(), orthogonal(_CRITIC, 1, 1.0))
        order, sign = MIRROR
        self._order, self._sign = torch.from_numpy(order.copy()), torch.from_numpy(sign.copy())
        self._left, self._first, self._second = (torch.from_numpy(index) for index in (LEFT, FIRST, SECOND))
        self._distribution = Categorical(torch.arange(len(COMMANDS), dtype=torch.float32)[:, None])

    @property
    def distribution(self) -> Distribution:
        """Return a distribution over the commands."""
        return self._distribution

    def forward(self, seen: Tensor, state: Tensor, begins: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Evaluate T steps of N worlds; steps are independent, and ``state`` (N, 0) is returned unchanged.

        Args:
            seen: (T, N, D) observations encoded by ``commands``.
            state: (N, 0).
            begins: (T, N) bool.

        Returns:
            Scores of the commands (T, N, K), values (T, N), and the state (N, 0).
        """
        both = torch.stack([seen, seen[..., self._order] * self._sign])
        context = self.context(both[..., :CONTEXT])
        shown = both[..., CONTEXT:].unflatten(-1, (len(COMMANDS), FEATURES))[..., self._left, :]
        values = torch.relu(self.command(shown) + self.common(context)[..., None, :])
        values = torch.relu(self.hidden(values))
        scores = torch.cat(tuple(self.score(values)[..., 0]), -1)
        scores = (scores[..., self._first] + scores[..., self._second]) * 0.5
        scores = scores.masked_fill(~(seen[..., CONTEXT::FEATURES] > 0.5), float(IMPOSSIBLE))
        possible = shown[..., 0] > 0.5
        kept = values * possible[..., None]
        mean = kept.sum(-2).mean(0) / possible.sum(-1, keepdim=True).float().mean(0)
        common = torch.cat([context.mean(0), mean, kept.amax(-2).amax(0)], -1)
        return scores, self.critic(common)[..., 0], state
