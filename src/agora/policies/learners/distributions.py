"""Distributions of the actions that are drawn from the answers of a network: normally distributed, or one of several."""

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
    """Actions (..., A) that are drawn by a network's answers (..., O)."""

    def noise(self, steps: int, rows: int, chance: torch.Generator) -> Tensor:
        """Return the noise (T, N, ...) by which the actions of T steps of N robots are drawn."""

    def draw(self, answers: Tensor, noise: Tensor) -> Tensor:
        """Return the actions (N, A) that answers (N, O) and noise (N, ...) of a step give."""

    def likeliest(self, answers: Tensor) -> Tensor:
        """Return the likeliest actions (..., A)."""

    def drawn(self, actions: Tensor, answers: Sequence[Tensor], noise: Tensor) -> Tensor:
        """Return the `logs` (T, N) of actions (T, N, A) that T answers (N, O) and noise (T, N, ...) gave."""

    def logs(self, actions: Tensor, answers: Tensor) -> Tensor:
        """Return the logarithms (...) of the probabilities of actions, or of their densities."""

    def error(self, wanted: Tensor, answers: Tensor) -> Tensor:
        """Return how far the answers are from giving the actions (..., A) of a teacher, a scalar."""

    def entropy(self, answers: Tensor) -> Tensor:
        """Return the mean entropy, a scalar."""


@dataclass(frozen=True)
class Normal:
    """Normally distributed actions; a network answers their means.

    Attributes:
        log_std: (A,) logarithm of their standard deviation.
    """

    log_std: Tensor

    def noise(self, steps: int, rows: int, chance: torch.Generator) -> Tensor:
        """Return normally distributed noise (T, N, A)."""
        return torch.randn(steps, rows, len(self.log_std), generator=chance)

    def draw(self, answers: Tensor, noise: Tensor) -> Tensor:
        """Return the actions (N, A)."""
        return answers + self.log_std.exp() * noise

    def likeliest(self, answers: Tensor) -> Tensor:
        """Return the means."""
        return answers

    def drawn(self, actions: Tensor, answers: Sequence[Tensor], noise: Tensor) -> Tensor:
        """Return the logarithms (T, N) of the densities, of which the noise says enough."""
        return -0.5 * noise.square().sum(-1) - (self.log_std + 0.5 * LOG_2PI).sum()

    def logs(self, actions: Tensor, answers: Tensor) -> Tensor:
        """Return the logarithms (...) of the densities of actions (..., A)."""
        return log_density(actions, answers, self.log_std)

    def error(self, wanted: Tensor, answers: Tensor) -> Tensor:
        """Return the mean squared error of the means."""
        return torch.nn.functional.mse_loss(answers, wanted)

    def entropy(self, answers: Tensor) -> Tensor:
        """Return the entropy, which the answers do not change."""
        return (self.log_std + 0.5 * (1.0 + LOG_2PI)).sum()


@dataclass(frozen=True)
class Categorical:
    """One of several actions; a network answers scores, whose softmax are the probabilities.

    Attributes:
        choices: (K, A) the actions, all different.
    """

    choices: Tensor

    def noise(self, steps: int, rows: int, chance: torch.Generator) -> Tensor:
        """Return evenly distributed noise (T, N) in [0, 1)."""
        return torch.rand(steps, rows, generator=chance)

    def draw(self, answers: Tensor, noise: Tensor) -> Tensor:
        """Return the actions (N, A): of each row, the first up to which the sum of the probabilities exceeds the noise."""
        sums = torch.log_softmax(answers, -1).exp().cumsum(-1)
        return self.choices[(sums[..., :-1] <= noise[..., None] * sums[..., -1:]).sum(-1)]

    def likeliest(self, answers: Tensor) -> Tensor:
        """Return the actions (..., A) of the highest score."""
        return self.choices[answers.argmax(-1)]

    def drawn(self, actions: Tensor, answers: Sequence[Tensor], noise: Tensor) -> Tensor:
        """Return the logarithms (T, N) of the probabilities."""
        return self.logs(actions, torch.stack(tuple(answers)))

    def logs(self, actions: Tensor, answers: Tensor) -> Tensor:
        """Return the logarithms (...) of the probabilities of actions (..., A), each one of the choices."""
        chosen = (actions[..., None, :] == self.choices).all(-1).to(torch.uint8).argmax(-1)
        logs: Tensor = torch.log_softmax(answers, -1).gather(-1, chosen[..., None])[..., 0]
        return logs

    def error(self, wanted: Tensor, answers: Tensor) -> Tensor:
        """Return the mean of the negative logarithms of the probabilities of the choices that are nearest to what is wanted.

        Choices that score less than -1e8 are impossible, and nothing is learned where one of them is wanted.
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
    """Return the logarithms (...) of the density of normally distributed actions (..., A)."""
    scaled = (actions - means) * torch.exp(-log_std)
    return -0.5 * scaled.square().sum(-1) - (log_std + 0.5 * LOG_2PI).sum()
