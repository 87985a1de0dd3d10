"""The hallucinator: a network that maps a driven trajectory to obstacles for which this trajectory would be optimal.

Z. Wang et al., "From agile ground to aerial navigation: learning from learned hallucination", IROS 2021, section III: an encoder
outputs the distributions of the obstacles one after another. A decoder, the optimiser `agora.learning.trainers.spline_band`, plans
a path among sampled obstacles. The loss is the loss of a variational autoencoder with priors on positions and sizes, plus a term
that keeps obstacles off the trajectory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from agora.learning.trainers.spline_band import SplineBand
from agora.ranges import Length, NotNegative, Positive

_LEAST, _LOG = 0.05, 6.0  # minimum half axis, m; maximum magnitude of the logarithm of a variance
_BESIDE, _SCALE = 0.6, 0.5  # initial lateral offset of an obstacle, and scale of the network's offsets, m


class Obstacles(NamedTuple):
    """The distribution of M obstacles for each of N trajectories, and a sample from it.

    Attributes:
        place: (N, M, 2) means of the centres, m.
        place_log: (N, M, 2) logarithms of the variances of the centres.
        size: (N, M, 2) means of the half axes, m.
        size_log: (N, M, 2) logarithms of the variances of the half axes.
        centre: (N, M, 2) sampled centres, m.
        axes: (N, M, 2) sampled half axes, m.
    """

    place: Tensor
    place_log: Tensor
    size: Tensor
    size_log: Tensor
    centre: Tensor
    axes: Tensor


@dataclass(frozen=True)
class Loss:
    """The weights of the loss.

    Attributes:
        place: weight of the divergence of the centres from their prior.
        size: weight of the divergence of the half axes from their prior.
        apart: final weight of the squared amount by which obstacles are too close to the trajectory; the weight grows from 0 during
            training.
        spread: variance of the prior of the centres, relative to the variance of the trajectory's positions. The mean of the prior
            is the mean of these positions.
        usual: mean of the prior of the half axes, m.
        usual_variance: variance of the prior of the half axes, m2.
        room: distance to the trajectory below which an obstacle is too close, m.
    """

    place: NotNegative = 1e-4
    size: NotNegative = 3e-4
    apart: NotNegative = 0.1
    spread: Positive = 2.0
    usual: Length = 0.3
    usual_variance: Positive = 0.0025
    room: Length = 0.3


class Hallucinator(nn.Module):
    """The encoder: convolutions along the trajectory, and a recurrent unit that outputs one obstacle after another.

    The published network outputs positions in the robot's frame. Here, each position is relative to a point on the trajectory and
    to the trajectory's direction at this point; initially, obstacles lie alternately to the left and right of the trajectory. When
    obstacles started on the trajectory itself, all of them moved away before they explained anything.

    Args:
        samples: number of samples of a trajectory, K.
        obstacles: number of obstacles, M.
        size: size of the recurrent unit.
    """

    def __init__(self, samples: int, obstacles: int, size: int) -> None:
        super().__init__()
        self._count = obstacles
        self.convolutions = nn.Sequential(  # as in the paper: 4 to 16, 32, 64 channels, kernels 5, 5, 3, stride 2
            *(nn.Conv1d(4, 16, 5, 2, 2), nn.ReLU(), nn.Conv1d(16, 32, 5, 2, 2), nn.ReLU()),
            *(nn.Conv1d(32, 64, 3, 2, 1), nn.ReLU(), nn.Flatten()),
        )
        length = int(self.convolutions(torch.zeros(1, 4, samples)).shape[1])
        self.whole = nn.Sequential(nn.Linear(length, size), nn.ReLU())
        self.next = nn.GRUCell(4, size)
        self.read = nn.Linear(size, 8)

    def forward(self, way: Tensor, chance: torch.Generator | None) -> Obstacles:
        """Return obstacles for trajectories (N, K, 4), which contain positions in metres and velocities in m/s.

        If ``chance`` is None, the obstacles are the means instead of samples.
        """
        state: Tensor = self.whole(self.convolutions(way.transpose(1, 2)))
        before, given = torch.zeros(len(way), 4), []
        for m, k in enumerate(torch.linspace(0, way.shape[1] - 1, self._count + 2).long()[1:-1].tolist()):
            state = self.next(before, state)
            place, place_log, size, size_log = self.read(state).split(2, -1)
            ahead = nn.functional.normalize(way[:, k, 2:], dim=-1)
            aside = torch.stack([-ahead[:, 1], ahead[:, 0]], -1)
            offset = _SCALE * place + torch.tensor([0.0, _BESIDE if m % 2 else -_BESIDE])
            place = way[:, k, :2] + offset[:, :1] * ahead + offset[:, 1:] * aside
            place_log = (place_log - 5.0).clamp(-_LOG, _LOG)
            size, size_log = nn.functional.softplus(size - 1.0), (size_log - 6.0).clamp(-2.0 * _LOG, 0.0)
            noise = torch.zeros(2, len(way), 2) if chance is None else torch.randn(2, len(way), 2, generator=chance)
            centre = place + noise[0] * (0.5 * place_log).exp()
            axes = (size + noise[1] * (0.5 * size_log).exp()).clamp_min(_LEAST)
            before = torch.cat([centre - way[:, k, :2], axes], -1)
            given.append((place, place_log, size, size_log, centre, axes))
        return Obstacles(*(torch.stack(part, 1) for part in zip(*given, strict=True)))


def loss_of(weights: Loss, band: SplineBand, way: Tensor, obstacles: Obstacles, share: float) -> tuple[Tensor, dict[str, float]]:
    """Return the loss of hallucinated obstacles, and its terms by name.

    Args:
        weights: weights of the terms.
        band: the decoder.
        way: (N, K, 4) positions and velocities at the knots, m and m/s.
        obstacles: obstacles sampled for these trajectories.
        share: factor of the weight ``apart``, which grows from 0 to 1 during training.
    """
    places, velocities = way[..., :2], way[..., 2:]
    fixed = band.fit(places, velocities)
    planned = band.optimise(fixed, obstacles.centre, obstacles.axes)
    at, speed = band.at_knots
    missed = (at @ planned - places).square().mean() + (band.knot * (speed @ planned - velocities)).square().mean()
    variance = weights.spread * places.var(1, keepdim=True) + 1e-2
    place = _divergence(obstacles.place, obstacles.place_log, places.mean(1, keepdim=True), variance).mean()
    size = _divergence(obstacles.size, obstacles.size_log, torch.tensor(weights.usual), torch.tensor(weights.usual_variance)).mean()
    gap, _ = band.gap(places, obstacles.centre, obstacles.axes)
    apart = (weights.room - gap).clamp_min(0.0).square().sum(1).mean()
    total = missed + weights.place * place + weights.size * size + weights.apart * share * apart
    parts = {"missed": missed, "place_divergence": place, "size_divergence": size, "too_near": apart}
    return total, {name: float(part.detach()) for name, part in parts.items()}


def _divergence(mean: Tensor, log: Tensor, prior: Tensor, variance: Tensor) -> Tensor:
    """Return the element-wise Kullback-Leibler divergence of normal distributions from a prior (D. P. Kingma, M. Welling 2014)."""
    return 0.5 * (variance.log() - log + (log.exp() + (mean - prior).square()) / variance - 1.0)
