"""The network of `agora.predictors.learned_motion` in PyTorch, and its training on observed future positions of people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from agora.core.state import Floats
from agora.errors import DivergedError
from agora.learning.walks import Samples
from agora.policies.learners.arrays import arrays_of
from agora.predictors.learned_motion import FADING, faded
from agora.predictors.motion_seen import OWN, PAIR

_KEYS = 16
_MIRROR_OWN = (1.0, -1.0) * 4 + (1.0,) * 3
_MIRROR_PAIR = (1.0, -1.0) * 3 + (1.0,) * 2
_SOFT = 1e-4  # makes the distance smooth at 0, m2


class Motion(nn.Module):
    """The network with trainable weights.

    Args:
        width: width of the layers.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.person, self.pair = nn.Linear(OWN, width), nn.Linear(PAIR, width)
        self.query, self.key, self.value = nn.Linear(width, _KEYS), nn.Linear(width, _KEYS), nn.Linear(width, width)
        self.joint, self.out = nn.Linear(2 * width, 2 * width), nn.Linear(2 * width, 2 * len(FADING))

    def forward(self, own: Tensor, pairs: Tensor, near: Tensor, sure: Tensor) -> Tensor:
        """Return the deviations (M, K, 2), like `agora.predictors.learned_motion.deviations`."""
        person, others = torch.relu(self.person(own)), torch.relu(self.pair(pairs))
        scores = (self.query(person)[:, None] * self.key(others)).sum(-1) / _KEYS**0.5
        weights = torch.softmax(scores.masked_fill(~near, -1e9), 1) * near
        about = (weights[..., None] * torch.relu(self.value(others))).sum(1)
        hidden = torch.relu(self.joint(torch.cat([person, about], 1)))
        parts: Tensor = self.out(hidden).reshape(-1, len(FADING), 2) * sure[:, None, None]
        return parts


def fit(
    sets: Sequence[Samples],
    shares: Sequence[float],
    *,
    width: int = 48,
    steps: int = 4500,
    batch: int = 768,
    rate: float = 4e-3,
    decay: float = 1e-3,
    soon: float = 0.5,
    seed: int = 0,
) -> dict[str, Floats]:
    """Train the network to minimise the mean distance to the true positions, and return the weights by name.

    Half of the samples are mirrored. The same seed gives the same weights on the same machine.

    Args:
        sets: sets of training samples.
        shares: fraction of each set in a batch.
        width: width of the layers.
        steps: number of AdamW steps.
        batch: number of samples per step.
        rate: maximum learning rate; the rate rises to this value once and then falls.
        decay: weight decay.
        soon: time constant that emphasises early errors, s; an error at time t has the weight ``1 + soon / t``.
        seed: seed of the initial weights and of the choice of samples.

    Raises:
        DivergedError: the loss is non-finite.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # so that results do not depend on the number of cores
    torch.manual_seed(seed)
    chance, network = np.random.default_rng(seed), Motion(width)
    descent = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=decay)
    schedule = torch.optim.lr_scheduler.OneCycleLR(descent, rate, steps)
    counts = [max(round(batch * share / sum(shares)), 1) for share in shares]
    shown = [_Shown(samples, soon) for samples in sets]
    for step in range(steps):
        loss = torch.stack([one.loss(network, count, chance) for one, count in zip(shown, counts, strict=True)]).sum() / batch
        if not torch.isfinite(loss):
            raise DivergedError(f"step {step}: the loss is not finite")
        descent.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        descent.step()
        schedule.step()
    torch.set_num_threads(threads)
    return arrays_of(network)


class _Shown:
    """A set of samples as tensors.

    Args:
        samples: the samples.
        soon: time constant that emphasises early errors, as in `fit`, s.
    """

    def __init__(self, samples: Samples, soon: float) -> None:
        looked = samples.seen
        self._seen = [torch.from_numpy(part) for part in (looked.own, looked.pairs, looked.near, looked.sure)]
        self._off = torch.from_numpy(samples.off)
        self._faded = torch.from_numpy(faded(samples.moments.tolist()))
        self._weight = torch.from_numpy((1.0 + soon / samples.moments).astype(np.float32))
        self._mirrors = [torch.tensor(signs) for signs in (_MIRROR_OWN, _MIRROR_PAIR, (1.0, -1.0))]

    def loss(self, network: Motion, count: int, chance: np.random.Generator) -> Tensor:
        """Return the sum of the weighted distances for ``count`` random samples."""
        some = torch.from_numpy(chance.integers(0, len(self._off), count))
        mirrored = torch.from_numpy(chance.random(count) < 0.5)[:, None]
        own, pairs, near, sure = (part[some] for part in self._seen)
        own_signs, pair_signs, signs = (torch.where(mirrored, mirror, torch.ones(())) for mirror in self._mirrors)
        parts = network(own * own_signs, pairs * pair_signs[:, None], near, sure)
        error = torch.einsum("tk,nkc->ntc", self._faded, parts) - self._off[some] * signs[:, None]
        distance = torch.sqrt((error**2).sum(-1) + _SOFT)
        return (distance * self._weight).mean(1).sum()
