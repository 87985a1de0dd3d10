"""Trains the potential of `agora.pedestrians.models.deep_social_force` on recorded pedestrians.

    python -m agora.learning.potential simulated potential.safetensors --seed 1
    python -m agora.learning.potential eth_ucy potential.safetensors --scenes eth hotel zara01 students003 --test zara02

As in Kreiss (2021), the loss is the L1 error of the predicted position at the next time step. Kreiss integrates the model from one
time step to the next. Here, the model's acceleration is instead integrated along the recorded path. This is exact and makes all
samples independent. For any motion, p(t + h) - 2 p(t) + p(t - h) is the integral of (h - |s|) p''(t + s) over [-h, h].
"""

from __future__ import annotations

import argparse
import math
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from agora.core.state import Array, Bools, Doubles, Floats
from agora.errors import AgoraError, InputError
from agora.learning.recordings import STEP, Recording, eth_ucy, simulate
from agora.pedestrians.models.deep_social_force import DeepSocialForce
from agora.pedestrians.shared.potential import Potential
from agora.world.trajectories import Trajectories

_NODES, _NEIGHBOURS, _FELT, _NEAR, _LEAST = 13, 8, 5.0, 3.0, 0.1


@dataclass(frozen=True, eq=False)
class Samples:
    """S samples, each of one pedestrian at one instant, with Q quadrature times around the instant and K neighbours at each time.

    Attributes:
        miss: (S, 2) second difference of the recorded positions, m.
        drive: (S, 2) integral of v0 e - v, i.e. the contribution of the relaxation multiplied by tau, m s.
        b: (S, Q, K) parameter b of the ellipses, m.
        push: (S, Q, K, 2) factor by which -V'(b) is multiplied in the sum over Q and K, s2; 0 for missing neighbours.
    """

    miss: Doubles
    drive: Doubles
    b: Doubles
    push: Doubles

    def force(self, potential: Potential) -> Doubles:
        """Return the contribution of a potential to the second difference, (S, 2) m."""
        return -np.asarray((potential.slope(self.b)[..., None] * self.push).sum((1, 2)))

    def error(self, potential: Potential | None, tau: float) -> float:
        """Return the mean error of the next position, m. If ``potential`` is None, return the error of the relaxation alone."""
        left = self.miss - self.drive / tau - (0.0 if potential is None else self.force(potential))
        return float(np.hypot(*left.T).mean())


_NOTHING = Samples(*(np.zeros((0, *shape)) for shape in ((2,), (2,), (_NODES, _NEIGHBOURS), (_NODES, _NEIGHBOURS, 2))))


def samples_of(recorded: Trajectories, model: DeepSocialForce, goals: Doubles, speeds: Doubles, horizon: float = STEP) -> Samples:
    """Return samples, taken every `STEP`, in which another pedestrian is within 3 m and the acceleration is above 0.1 m/s2.

    Between the recorded positions, pedestrians move along a cubic spline. Members of the same walking group are not counted as
    neighbours, because they do not keep their distance from each other.

    Args:
        recorded: trajectories of n pedestrians.
        model: model whose ellipses and field of view are used.
        goals: (n, 2) goals of the pedestrians, m.
        speeds: (n,) preferred speeds, m/s.
        horizon: h, the half width of the integration interval, s.
    """
    ticks = np.arange(math.floor(recorded.start.min() / STEP), math.ceil(recorded.end.max() / STEP) + 1)
    splines = [_spline(recorded, i) for i in range(recorded.count)]
    ends = np.array([(-1.0, -2.0) if s is None else (s.x[0], s.x[-1]) for s in splines])
    parts = []
    for tick in ticks:
        time = tick * STEP
        here = np.flatnonzero((ends[:, 0] <= time - horizon + 1e-9) & (ends[:, 1] >= time + horizon - 1e-9))
        if len(here) > 1:
            moments = time + horizon * np.linspace(-1.0, 1.0, _NODES)
            place = np.stack([splines[i](moments) for i in here])
            velocity = np.stack([splines[i](moments, 1) for i in here])
            parts.append(_moment(place, velocity, goals[here], speeds[here], recorded.group[here], model, horizon))
    return Samples(*(np.concatenate([getattr(part, f.name) for part in (_NOTHING, *parts)]) for f in fields(Samples)))


def _spline(recorded: Trajectories, i: int) -> Any:
    """Return the path of pedestrian ``i`` as a spline; None if there are fewer than four recorded positions."""
    from scipy.interpolate import CubicSpline

    knots = slice(recorded.first[i], recorded.first[i + 1])
    time = recorded.knot_time[knots]
    if len(time) < 4:
        return None
    return CubicSpline(time, np.column_stack((recorded.knot_x[knots], recorded.knot_y[knots])), bc_type="natural")


def _moment(
    place: Doubles, velocity: Doubles, goal: Doubles, speed: Doubles, group: Array, model: DeepSocialForce, horizon: float
) -> Samples:
    """Return the samples at a given instant, given the positions and velocities (n, Q, 2) of the people present."""
    share = 1.0 - np.abs(np.linspace(-1.0, 1.0, _NODES))
    weight = horizon**2 * share / share.sum()
    ahead = goal[:, None] - place
    e = ahead / np.maximum(np.linalg.norm(ahead, axis=-1, keepdims=True), 1e-9)
    miss = place[:, -1] - 2.0 * place[:, _NODES // 2] + place[:, 0]
    drive = (weight[:, None] * (speed[:, None, None] * e - velocity)).sum(1)
    apart = np.linalg.norm(place[:, None, _NODES // 2] - place[None, :, _NODES // 2], axis=-1)
    together = (group[:, None] == group[None]) & (group[:, None] >= 0)
    apart = np.where(together | np.eye(len(place), dtype=np.bool_), np.inf, apart)
    kept = np.flatnonzero((apart.min(1) < _NEAR) & (np.linalg.norm(miss, axis=-1) > _LEAST * horizon**2))
    order = np.argsort(apart[kept], axis=1, kind="stable")[:, :_NEIGHBOURS]
    felt = np.take_along_axis(apart[kept], order, 1) < _FELT
    b, push = _ellipses(place, velocity, e, kept, order, felt, model)
    wide = ((0, 0), (0, 0), (0, _NEIGHBOURS - order.shape[1]))
    push = push * weight[:, None, None]
    return Samples(miss[kept], drive[kept], np.pad(b, wide), np.pad(push, (*wide, (0, 0))))


def _ellipses(
    place: Doubles, velocity: Doubles, e: Doubles, who: Array, others: Array, felt: Bools, model: DeepSocialForce
) -> tuple[Doubles, Doubles]:
    """Return b (S, Q, K) for all neighbours, and its gradients (S, Q, K, 2), weighted by the field of view."""
    r = place[who][:, :, None] - place[others].transpose(0, 2, 1, 3)
    q = r - model.stride * velocity[others].transpose(0, 2, 1, 3)
    d, far = (np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-6) for v in (r, q))
    m = r / d + q / far
    size = np.maximum(np.linalg.norm(m, axis=-1, keepdims=True), 1e-9)
    b = 0.5 * size * np.sqrt(d * far)
    seen = -(m * e[who][:, :, None]).sum(-1, keepdims=True) >= math.cos(math.radians(model.field_of_view) / 2.0) * size
    push = (d + far) / (4.0 * b) * m * np.where(seen, 1.0, model.behind) * felt[:, None, :, None]
    return b[..., 0], push


def fit(samples: Samples, *, tau: float, units: int = 5, steps: int = 2000, rate: float = 0.02, seed: int = 0) -> Potential:
    """Return the potential with the smallest L1 error of the next positions (Adam on all samples at once).

    The same seed gives the same potential on the same machine.

    Args:
        samples: training samples.
        tau: relaxation time, s.
        units: number of units in the hidden layer.
        steps: number of Adam steps.
        rate: initial learning rate of Adam; it decreases to 0 along a cosine.
        seed: seed of the initial weights.
    """
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # so that results do not depend on the number of cores
    felt = np.flatnonzero(np.abs(samples.push).sum((1, 3)).max(-1) > 0)
    b = torch.tensor(samples.b[felt], dtype=torch.float32)
    push = torch.tensor(samples.push[felt], dtype=torch.float32)
    aim = torch.tensor((samples.miss - samples.drive / tau)[felt], dtype=torch.float32)
    made = torch.Generator().manual_seed(seed)
    first = torch.linspace(0.0, 2.0, units) + 0.1 * torch.randn(units, generator=made)
    log_rate = first.requires_grad_()
    offset = (0.5 * torch.randn(units, generator=made)).requires_grad_()
    weight = (0.5 + 0.1 * torch.randn(units, generator=made)).requires_grad_()
    optimiser = torch.optim.Adam([log_rate, offset, weight], lr=rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for _ in range(steps):
        optimiser.zero_grad()
        speed = -torch.exp(log_rate)
        slope = (torch.sigmoid(b[..., None] * speed + offset) * (speed * weight)).sum(-1)
        loss = (aim + (slope[..., None] * push).sum((1, 2))).abs().mean()
        loss.backward()
        optimiser.step()
        schedule.step()
    torch.set_num_threads(threads)
    return Potential(*_arrays(-torch.exp(log_rate), offset, weight))


def _arrays(*tensors: Any) -> tuple[Floats, Floats, Floats]:
    rate, offset, weight = (t.detach().numpy() for t in tensors)
    return rate, offset, weight


def take(recording: Recording, model: DeepSocialForce, horizon: float = STEP) -> Samples:
    """Return the samples from all takes of a recording.

    Raises:
        InputError: the recording yields no samples.
    """
    parts = [samples_of(trajectories, model, goals, speeds, horizon) for trajectories, goals, speeds in recording]
    samples = Samples(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Samples)))
    if not len(samples.miss):
        raise InputError(
            "the recording has no sample to learn from: no pedestrian is within 3 m of another while turning or braking"
        )
    return samples


def recovery_error(learned: Potential, true: Potential) -> float:
    """Return the RMS error of a potential over b from 0.2 to 2 m, as a fraction of the RMS of the true potential."""
    b = np.linspace(0.2, 2.0, 181)
    return float(np.sqrt(np.mean((learned.value(b) - true.value(b)) ** 2) / np.mean(true.value(b) ** 2)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Train a potential as specified by the command-line options, and print its errors."""
    parser = argparse.ArgumentParser(
        prog="python -m agora.learning.potential", description="Learn the interaction potential of pedestrians."
    )
    parser.add_argument("source", choices=("simulated", "eth_ucy"), help="data to learn from")
    parser.add_argument("output", type=Path, help="safetensors file to write")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=2000, help="number of Adam steps")
    parser.add_argument("--units", type=int, default=5, help="number of units in the hidden layer")
    parser.add_argument("--worlds", type=int, default=64, help="number of simulated worlds")
    parser.add_argument(
        "--scenes", nargs="+", default=["eth", "hotel", "zara01", "students003"], help="ETH/UCY scenes to learn from"
    )
    parser.add_argument("--test", default="zara02", help="held-out ETH/UCY scene")
    parser.add_argument("--horizon", type=float, default=STEP, help="horizon of a sample, s")
    options = parser.parse_args(arguments)
    try:
        learned = _learn(options, list(sys.argv[1:] if arguments is None else arguments))
        learned.save(options.output)
    except AgoraError as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from error
    for name, text in learned.about.items():
        print(f"{name}: {text}")


def _learn(options: argparse.Namespace, command: Sequence[str]) -> Potential:
    """Train the potential that the options specify; return it with its errors."""
    simulated = options.source == "simulated"
    model = DeepSocialForce(potential="helbing_1995")
    if simulated:
        parts = [simulate(model, worlds=options.worlds, seed=options.seed + k) for k in (0, 1_000_000)]
    else:
        parts = [eth_ucy(options.scenes), eth_ucy([options.test])]
    known, unseen = (take(part, model, options.horizon) for part in parts)
    tau, true = model.relaxation_time, model.learned()
    learned = fit(known, tau=tau, units=options.units, steps=options.steps, seed=options.seed)
    about = {
        "label": "small, learned from simulated pedestrians" if simulated else "small, learned from ETH/UCY",
        "command": shlex.join(("python", "-m", "agora.learning.potential", *command)),
        "seed": str(options.seed),
        "data": f"simulated with helbing_1995, {options.worlds} takes"
        if simulated
        else f"{', '.join(options.scenes)}; test {options.test}",
        "samples": f"{len(known.miss)}, test {len(unseen.miss)}",
        "model": f"stride {model.stride} s, field of view {model.field_of_view:g} degrees, behind {model.behind}, tau {tau} s",
        "test error of the next position": f"{unseen.error(learned, tau):.5f} m",
        "test error without a potential": f"{unseen.error(None, tau):.5f} m",
        "test error of helbing_1995": f"{unseen.error(true, tau):.5f} m",
        "rms difference from helbing_1995, b in [0.2, 2] m": f"{100 * recovery_error(learned, true):.2f} % of its rms",
    }
    return replace(learned, about=about)


if __name__ == "__main__":
    main()
