"""Learns the potential of `agora.pedestrians.deep_social_force` from recorded pedestrians.

    python -m agora.learning.potential simulated potential.safetensors --seed 1
    python -m agora.learning.potential eth_ucy potential.safetensors --scenes eth hotel zara01 students003 --test zara02

As in Kreiss (2021), what is learned from is how far the place at the next time is missed, in L1. Kreiss integrates the model from
one time to the next; here its acceleration is summed along the recorded path instead, which is exact and makes every sample
independent of the others: for any motion p(t + h) - 2 p(t) + p(t - h) is the integral of (h - |s|) p''(t + s) over [-h, h].
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from agora.core.state import Array, Bools, Doubles
from agora.datasets.eth_ucy import SOURCES, read_scene
from agora.datasets.trajectories import Trajectories
from agora.engine.world import Engine, Layout
from agora.errors import InputError
from agora.maps.grid import Map
from agora.pedestrians.deep_social_force import DeepSocialForce
from agora.pedestrians.potential import Potential
from agora.tasks.start import PedestrianStarts, Start

STEP = 0.4
"""Time between two recorded places, s."""

_NODES, _NEIGHBOURS, _FELT, _NEAR, _LEAST = 9, 8, 5.0, 3.0, 0.1


@dataclass(frozen=True, eq=False)
class Samples:
    """S moments of one pedestrian each, with Q moments about it and K neighbours in each.

    Attributes:
        miss: (S, 2) second difference of the recorded places, m.
        drive: (S, 2) integral of v0 e - v, m s: what relaxation adds, times tau.
        b: (S, Q, K) of the ellipses, m.
        push: (S, Q, K, 2) what -V'(b) is multiplied by in the sum over Q and K, s2; 0 where there is no neighbour.
    """

    miss: Doubles
    drive: Doubles
    b: Doubles
    push: Doubles

    def force(self, potential: Potential) -> Doubles:
        """Return what a potential adds to the second difference, (S, 2) m."""
        return -np.asarray((potential.slope(self.b)[..., None] * self.push).sum((1, 2)))

    def error(self, potential: Potential | None, tau: float) -> float:
        """Return by how much the next place is missed, m: mean distance; without a potential where None."""
        left = self.miss - self.drive / tau - (0.0 if potential is None else self.force(potential))
        return float(np.hypot(*left.T).mean())


def joined(parts: Sequence[Samples]) -> Samples:
    """Return the samples of several recordings together."""
    return Samples(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Samples)))


def samples_of(recorded: Trajectories, model: DeepSocialForce, goals: Doubles, speeds: Doubles) -> Samples:
    """Return the moments at which somebody is within 3 m and the acceleration is above 0.1 m/s2.

    Between the recorded places, `STEP` apart, everybody moves on a cubic spline; members of the same walking group are not counted
    as neighbours, because they do not keep away from each other.

    Args:
        recorded: n pedestrians.
        model: whose ellipses and view are used.
        goals: (n, 2) where they go, m.
        speeds: (n,) preferred speeds, m/s.
    """
    ticks = np.arange(math.floor(recorded.start.min() / STEP), math.ceil(recorded.end.max() / STEP) + 1)
    splines = [_spline(recorded, i) for i in range(recorded.count)]
    ends = np.array([(-1.0, -2.0) if s is None else (s.x[0], s.x[-1]) for s in splines])
    parts = []
    for tick in ticks:
        time = tick * STEP
        here = np.flatnonzero((ends[:, 0] <= time - STEP + 1e-9) & (ends[:, 1] >= time + STEP - 1e-9))
        if len(here) > 1:
            moments = time + STEP * np.linspace(-1.0, 1.0, _NODES)
            place = np.stack([splines[i](moments) for i in here])
            velocity = np.stack([splines[i](moments, 1) for i in here])
            parts.append(_moment(place, velocity, goals[here], speeds[here], recorded.group[here], model))
    parts = [part for part in parts if len(part.miss)]
    if not parts:
        raise InputError("the recording holds no moment to learn from: nobody is within 3 m of another while turning or braking")
    return joined(parts)


def _spline(recorded: Trajectories, i: int) -> Any:
    """The path of a pedestrian; None for one who is too short in the picture."""
    from scipy.interpolate import CubicSpline

    knots = slice(recorded.first[i], recorded.first[i + 1])
    time = recorded.knot_time[knots]
    if len(time) < 4:
        return None
    return CubicSpline(time, np.column_stack((recorded.knot_x[knots], recorded.knot_y[knots])), bc_type="natural")


def _moment(place: Doubles, velocity: Doubles, goal: Doubles, speed: Doubles, group: Array, model: DeepSocialForce) -> Samples:
    """The samples of one time: places and velocities (n, Q, 2) of who is there."""
    share = 1.0 - np.abs(np.linspace(-1.0, 1.0, _NODES))
    weight = STEP**2 * share / share.sum()
    ahead = goal[:, None] - place
    e = ahead / np.maximum(np.linalg.norm(ahead, axis=-1, keepdims=True), 1e-9)
    miss = place[:, -1] - 2.0 * place[:, _NODES // 2] + place[:, 0]
    drive = (weight[:, None] * (speed[:, None, None] * e - velocity)).sum(1)
    apart = np.linalg.norm(place[:, None, _NODES // 2] - place[None, :, _NODES // 2], axis=-1)
    together = (group[:, None] == group[None]) & (group[:, None] >= 0)
    apart = np.where(together | np.eye(len(place), dtype=np.bool_), np.inf, apart)
    kept = np.flatnonzero((apart.min(1) < _NEAR) & (np.linalg.norm(miss, axis=-1) > _LEAST * STEP**2))
    order = np.argsort(apart[kept], axis=1, kind="stable")[:, :_NEIGHBOURS]
    felt = np.take_along_axis(apart[kept], order, 1) < _FELT
    b, push = _ellipses(place, velocity, e, kept, order, felt, model)
    wide = ((0, 0), (0, 0), (0, _NEIGHBOURS - order.shape[1]))
    push = push * weight[:, None, None]
    return Samples(miss[kept], drive[kept], np.pad(b, wide), np.pad(push, (*wide, (0, 0))))


def _ellipses(
    place: Doubles, velocity: Doubles, e: Doubles, who: Array, others: Array, felt: Bools, model: DeepSocialForce
) -> tuple[Doubles, Doubles]:
    """The b (S, Q, K) of neighbours and their gradients (S, Q, K, 2), weighted by the view."""
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
    """Return the potential that misses the next places least, in L1 (Adam on all samples at once).

    The same seed gives the same potential on the same machine.

    Args:
        samples: to learn from.
        tau: relaxation time, s.
        units: of the hidden layer. steps: of Adam. rate: its first step; it falls to 0 on a cosine.
        seed: of the first weights.
    """
    import torch

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
    return Potential(*(v.detach().numpy() for v in (-torch.exp(log_rate), offset, weight)))


def simulate(model: DeepSocialForce, *, worlds: int = 32, pedestrians: int = 8, duration: float = 8.0, seed: int = 0) -> Recording:
    """Return what Agora's engine makes of pedestrians who cross a square of 6 m, recorded every `STEP`.

    Steps of 0.02 s, without walls, each to a goal far beyond the other side; the speed is not capped.
    """
    dt, rng = 0.02, np.random.default_rng(seed)
    plain = Map.open((-60.0, -60.0), (60.0, 60.0), resolution=1.0)
    starts = [_crossing(rng, plain, pedestrians) for _ in range(worlds)]
    engine = Engine(Layout.of(starts, worlds, dt), [plain], dt=dt, crowd=model)
    for w, start in enumerate(starts):
        engine.reset(w, start)
    rows = []
    for step in range(round(duration / dt) + 1):
        if step % round(STEP / dt) == 0:
            now = engine.pedestrians
            rows.append(np.stack((now.x[:, :pedestrians], now.y[:, :pedestrians]), -1).astype(np.float64))
        engine.step()
    engine.close()
    place = np.stack(rows)
    time = STEP * np.arange(len(place))
    who = np.arange(pedestrians)
    return [
        (
            Trajectories.of_rows(np.repeat(time, pedestrians), np.tile(who, len(time)), *place[:, w].reshape(-1, 2).T),
            start.pedestrians.waypoints[:, 0],
            start.pedestrians.speed,
        )
        for w, start in enumerate(starts)
    ]


Recording = list[tuple[Trajectories, Doubles, Doubles]]
"""Takes of a recording: trajectories of n pedestrians, their goals (n, 2) and preferred speeds (n,)."""


def _crossing(rng: np.random.Generator, plain: Map, count: int) -> Start:
    """Pedestrians who cross a square from all sides, about half a metre apart at least."""
    position = np.zeros((0, 2))
    while len(position) < count:
        drawn = rng.uniform(-3.0, 3.0, 2)
        if len(position) == 0 or np.linalg.norm(position - drawn, axis=1).min() > 0.6:
            position = np.vstack((position, drawn))
    across = -position + rng.uniform(-2.0, 2.0, (count, 2))
    ahead = across / np.linalg.norm(across, axis=1, keepdims=True)
    speed = rng.uniform(0.8, 1.6, count)
    whole = np.ones(count, np.int32)
    return Start(
        entry="crossing",
        seed=0,
        map=plain,
        robots=(),
        pedestrians=PedestrianStarts(
            position=position,
            speed=speed,
            radius=np.full(count, 0.3),
            group=-whole,
            id=np.arange(1, count + 1, dtype=np.int32),
            waypoints=(position + 40.0 * ahead)[:, None],
            waypoint_count=whole,
            mode=0 * whole,
            tolerance=np.full(count, 0.5),
            velocity=speed[:, None] * ahead,
        ),
        timeout=1e6,
        goal_tolerance=0.3,
    )
