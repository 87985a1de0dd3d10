"""Distributions of actions, given the outputs of a network: normal or categorical."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

LOG_2PI = math.log(2.0 * math.pi)
_IMPOSSIBLE = -1e8


class Distribution(Protocol):
    """A distribution of actions (..., A), given the outputs (..., O) of a network."""

    def noise(self, steps: int, rows: int, chance: torch.Generator) -> Tensor:
        """Return the noise (T, N, ...) from which the actions in T steps of N robots are sampled."""

    def draw(self, answers: Tensor, noise: Tensor) -> Tensor:
        """Sample actions (N, A), given the outputs (N, O) and the noise (N, ...) of a step."""

    def likeliest(self, answers: Tensor) -> Tensor:
        """Return the most likely actions (..., A)."""

    def drawn(self, actions: Tensor, answers: Sequence[Tensor], noise: Tensor) -> Tensor:
        """Return what `logs` returns (T, N), for actions (T, N, A) that were sampled with T outputs (N, O) and the noise (T, N,
        ...).
        """

    def logs(self, actions: Tensor, answers: Tensor) -> Tensor:
        """Return the logarithms (...) of the actions' probabilities, or of their probability densities."""

    def error(self, wanted: Tensor, answers: Tensor) -> Tensor:
        """Return the error of the outputs relative to a teacher's actions (..., A), a scalar."""

    def entropy(self, answers: Tensor) -> Tensor:
        """Return the mean entropy, a scalar."""


@dataclass(frozen=True)
class Normal:
    """Normally distributed actions; the network outputs their means.

    Attributes:
        log_std: (A,) logarithm of the standard deviation of the actions.
    """

    log_std: Tensor

    def noise(self, steps: int, rows: int, chance: torch.Generator) -> Tensor:
        """Return normally distributed noise (T, N, A)."""
        return torch.randn(steps, rows, len(self.log_std), generator=chance)

    def draw(self, answers: Tensor, noise: Tensor) -> Tensor:
        """Return sampled actions (N, A)."""
        return answers + self.log_std.exp() * noise

    def likeliest(self, answers: Tensor) -> Tensor:
        """Return the means."""
        return answers

    def drawn(self, actions: Tensor, answers: Sequence[Tensor], noise: Tensor) -> Tensor:
        """Return the logarithms (T, N) of the densities, computed only from the noise."""
        return -0.5 * noise.square().sum(-1) - (self.log_std + 0.5 * LOG_2PI).sum()

    def logs(self, actions: Tensor, answers: Tensor) -> Tensor:
        """Return the logarithms (...) of the densities of actions (..., A)."""
        return log_density(actions, answers, self.log_std)

    def error(self, wanted: Tensor, answers: Tensor) -> Tensor:
        """Return the mean squared error of the means."""
        return torch.nn.functional.mse_loss(answers, wanted)

    def entropy(self, answers: Tensor) -> Tensor:
        """Return the entropy, which does not depend on the outputs."""
        return (self.log_std + 0.5 * (1.0 + LOG_2PI)).sum()


@dataclass(frozen=True)
class Categorical:
    """A choice among several actions; the probabilities are the softmax of the network's scores.

    Attributes:
        choices: (K, A) actions to choose from; all are different.
    """

    choices: Tensor

    def noise(self, steps: int, rows: int, chance: torch.Generator) -> Tensor:
        """Return uniform noise (T, N) in [0, 1)."""
        return torch.rand(steps, rows, generator=chance)

    def draw(self, answers: Tensor, noise: Tensor) -> Tensor:
        """Return the actions (N, A): in each row, the first action at which the cumulative probability exceeds the noise."""
        sums = torch.log_softmax(answers, -1).exp().cumsum(-1)
        return self.choices[(sums[..., :-1] <= noise[..., None] * sums[..., -1:]).sum(-1)]

    def likeliest(self, answers: Tensor) -> Tensor:
        """Return the actions (..., A) with the highest score."""
        return self.choices[answers.argmax(-1)]

    def drawn(self, actions: Tensor, answers: Sequence[Tensor], noise: Tensor) -> Tensor:
        """Return the logarithms (T, N) of the probabilities."""
        return self.logs(actions, torch.stack(tuple(answers)))

    def logs(self, actions: Tensor, answers: Tensor) -> Tensor:
        """Return the logarithms (...) of the probabilities of actions (..., A), each of which must be one of the choices."""
        chosen = (actions[..., None, :] == self.choices).all(-1).to(torch.uint8).argmax(-1)
        logs: Tensor = torch.log_softmax(answers, -1).gather(-1, chosen[..., None])[..., 0]
        return logs

    def error(self, wanted: Tensor, answers: Tensor) -> Tensor:
        """Return the mean negative log-probability of the choices closest to the teacher's actions.

        Choices with scores below -1e8 are impossible. Samples for which the teacher's choice is impossible contribute no loss.
        """
        nearest = (wanted[..., None, :] - self.choices).square().sum(-1).argmin(-1)[..., None]
        possible = answers.gather(-1, nearest) > _IMPOSSIBLE
        logs = torch.log_softmax(answers, -1).gather(-1, nearest)
        return -torch.where(possible, logs, 0.0).sum() / possible.sum().clamp(min=1)

    def entropy(self, answers: Tensor) -> Tensor:
        """Return the mean entropy of scores (..., K)."""
        logs = torch.log_softmax(answers, -1)
        return -(logs.exp() * logs).sum(-1).mean()


def log_density(actions: Tensor, means: Tensor, log_std: Tensor) -> Tensor:
    """Return the logarithms (...) of the probability densities of normally distributed actions (..., A)."""
    scaled = (actions - means) * torch.exp(-log_std)
    return -0.5 * scaled.square().sum(-1) - (log_std + 0.5 * LOG_2PI).sum()
