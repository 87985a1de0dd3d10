"""LfLH: the decoder plans and can be differentiated, hallucinated obstacles leave ways free, and a policy learns from them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from tests.learning.trainers.runs import trained
from tests.suites import plane

from agora.errors import InputError
from agora.learning.open_drives import aims_of, open_drives, scans_of, shrunk
from agora.learning.trainers.hallucination import Hallucination, Imagination
from agora.learning.trainers.hallucinator import Hallucinator, Loss, loss_of
from agora.learning.trainers.spline_band import SplineBand
from agora.policies.encoding import Observe
from agora.policies.networks.ds_rnn import DsRnnNetwork
from agora.policies.networks.mlp import Mlp
from agora.policies.scan_and_aim import ScanAndAim
from agora.testing import check_trainer

BAND = SplineBand()
SUITE = plane(robots={"name": "random", "distance": 3.0}, robot="jackal_barn", timeout=5.0)
SMALL = Hallucination(
    network=Mlp((24,), "relu"),
    observe=ScanAndAim(beams=9),
    size=16,
    hallucination_rounds=2,
    updates=2,
    ways=8,
    rounds=4,
    samples=64,
    batch=32,
    lap=2,
    validate=2,
)


def straight(speed: float = 1.0) -> torch.Tensor:
    """The control points of a straight way along x."""
    x = torch.arange(BAND.points) * BAND.knot * speed - BAND.knot * speed
    return torch.stack([x, 0.0 * x], -1)[None]


def test_a_spline_is_fitted_to_what_it_can_be():
    points = torch.from_numpy(np.random.default_rng(1).normal(size=(3, BAND.points, 2)).astype(np.float32))
    place, velocity = BAND.at_knots
    assert BAND.fit(place @ points, velocity @ points).numpy() == pytest.approx(points.numpy(), abs=2e-3)
    assert (place @ straight())[0, :, 0].numpy() == pytest.approx(np.arange(15) * BAND.knot, abs=1e-5)
    assert (velocity @ straight())[0, :, 0].numpy() == pytest.approx(1.0, abs=1e-5)


def test_the_best_way_between_two_states_on_a_line_is_the_line_and_an_obstacle_bends_it():
    far, axes = torch.full((1, 1, 2), 50.0), torch.full((1, 1, 2), 0.3)
    assert BAND.optimise(straight(), far, axes).numpy() == pytest.approx(straight().numpy(), abs=1e-4)
    for side in (-1.0, 1.0):
        beside = torch.tensor([[[1.0, -0.2 * side]]])
        bent = BAND.optimise(straight(), beside, axes)
        assert float(side * bent[0, :, 1].abs().max() * bent[0, :, 1].sum().sign()) > 0.05
        assert float(BAND.gap(bent, beside, axes)[0].min()) > float(BAND.gap(straight(), beside, axes)[0].min()) + 0.05


def test_speeds_beyond_the_limit_cost():
    """From 1 m/s to 1 m/s so far that the smoothest way is faster between than it may be."""
    ends, (_, velocity) = straight(), BAND.at_knots
    ends[:, -3:, 0] += 1.6
    far, axes = torch.full((1, 1, 2), 50.0), torch.full((1, 1, 2), 0.3)
    free, held = ((velocity @ dataclasses.replace(BAND, max_v=limit).optimise(ends, far, axes))[0, :, 0] for limit in (9.0, 2.0))
    assert float(free.max()) > 2.1
    assert 1.9 < float(held.max()) < 2.05


def test_the_unrolled_optimiser_has_the_gradient_of_its_finite_differences():
    way = straight()
    axes = torch.tensor([[[0.3, 0.4]]], dtype=torch.float32)

    def bend(y: torch.Tensor) -> torch.Tensor:
        return BAND.optimise(way, torch.stack([torch.tensor(1.0), y])[None, None], axes)[0, :, 1].square().sum()

    y = torch.tensor(-0.25, requires_grad=True)
    bend(y).backward()
    step = 3e-3
    with torch.no_grad():
        slope = (bend(torch.tensor(-0.25 + step)) - bend(torch.tensor(-0.25 - step))) / (2 * step)
    assert float(y.grad) == pytest.approx(float(slope), rel=0.05)


def test_the_gap_to_a_disc_is_the_distance_to_it():
    places = torch.tensor([[[2.0, 0.0], [0.0, 1.5], [0.1, 0.0]]])
    gap, slope = BAND.gap(places, torch.zeros(1, 1, 2), torch.full((1, 1, 2), 0.5))
    assert gap[0, :, 0].numpy() == pytest.approx([1.5, 1.0, -0.4], abs=1e-5)
    assert slope[0, :2, 0].numpy() == pytest.approx(np.eye(2), abs=1e-5)


def test_obstacles_that_explain_a_way_are_found_by_descent():
    """A way that swerves is not the smoothest between its ends; obstacles that follow the decoder's gradient explain it."""
    drives = open_drives(np.random.default_rng(3), 32, 2.2, 2.0, 4.0)
    trainer = dataclasses.replace(SMALL, network=Mlp((4,), "relu"))
    at = np.round(np.arange(15) * BAND.knot / drives.step).astype(int)
    pose, speed = drives.pose[:, at], drives.twist[:, at, :1]
    velocity = speed * np.stack([np.cos(pose[..., 2]), np.sin(pose[..., 2])], -1)
    way = torch.from_numpy(np.concatenate([pose[..., :2], velocity], -1).astype(np.float32))
    torch.manual_seed(1)
    network = Hallucinator(15, trainer.obstacles, 32)
    descent, missed = torch.optim.Adam(network.parameters(), 3e-3), []
    for _ in range(25):
        loss, parts = loss_of(Loss(), BAND, way, network(way, None), 0.0)
        descent.zero_grad()
        loss.backward()
        descent.step()
        missed.append(parts["missed"])
    assert min(missed[-5:]) < 0.8 * missed[0]


def test_drives_keep_the_limits_and_begin_at_zero():
    drives = open_drives(np.random.default_rng(0), 50, 3.0, 1.5, 2.0)
    assert drives.pose.shape == (50, 151, 3)
    assert (drives.pose[:, 0] == 0.0).all()
    assert 0.0 < drives.twist[..., 0].min() <= drives.twist[..., 0].max() <= 1.5
    assert np.abs(drives.twist[..., 1]).max() <= 2.0
    aims, far = aims_of(drives, 1.0)
    legs = np.hypot(*np.diff(drives.pose[..., :2], axis=1).transpose(2, 0, 1))
    assert (far == (legs.sum(1) >= 1.0)).all()
    assert (np.linalg.norm(aims[far], axis=1) <= 1.0 + 0.04).all()


def test_obstacles_keep_their_margin_from_a_way_or_are_left_out(rng):
    ways = open_drives(rng, 40, 2.1, 2.0, 4.0).pose[..., :2]
    centre, axes = rng.normal(0.0, 1.0, (40, 12, 2)), rng.uniform(0.1, 0.6, (40, 12, 2))
    kept = shrunk(ways, centre, axes, 0.27)
    assert (kept <= axes + 1e-12).all()
    there = kept[..., 0] > 0.0
    assert there.any() and not there.all()
    away = np.linalg.norm(ways[:, :, None] - centre[:, None], axis=-1)
    ratio = np.linalg.norm((ways[:, :, None] - centre[:, None]) / np.where(there[..., None], kept, 1.0)[:, None], axis=-1)
    gaps = np.where(there[:, None], away * (1.0 - 1.0 / ratio), np.inf)
    assert gaps.min() == pytest.approx(0.27, abs=1e-6)


def test_scans_are_the_distances_to_ellipses():
    centre, axes = np.array([[[2.0, 0.0], [0.0, 1.0]]]), np.array([[[0.5, 0.5], [1e9, 0.25]]])
    axes[0, 1] = 0.3, 0.25
    scan = scans_of(centre, axes, (-np.pi / 2, np.pi / 2), 3, 1, 5.0)
    assert scan[0] == pytest.approx([5.0, 1.5, 0.75])
    assert scans_of(centre, 0.0 * axes, (-1.0, 1.0), 4, 2, 5.0).min() == 5.0
    inside = scans_of(np.array([[[0.1, 0.0]]]), np.array([[[0.5, 0.5]]]), (0.0, 0.1), 1, 2, 5.0)
    assert inside[0, 0] == 0.0


def test_a_policy_comes_to_do_what_the_robot_did_and_a_resumed_training_repeats_its_curve():
    more = dataclasses.replace(SMALL, rounds=30, samples=256, rate=3e-3, lap=32)
    notes = trained(more, SUITE, "plane")
    losses = [values["action_loss"] for _, values in notes.curve if "action_loss" in values]
    assert notes.validated[:3] == [2 + 1, 2 + 2, 2 + 4]
    assert np.mean(losses[-5:]) < 0.7 * losses[0]
    check_trainer(SMALL, SUITE, "plane")


def test_what_cannot_be_trained_is_refused():
    with pytest.raises(InputError, match="need the encoding scan_and_aim, got Observe"):
        Hallucination(observe=Observe(9))
    with pytest.raises(InputError, match="sizes: must not decrease"):
        Imagination(sizes=(0.5, 0.2))
    blind = plane(robots={"name": "random", "distance": 3.0}, robot="crowdnav", timeout=5.0)
    with pytest.raises(InputError, match="has no lidar"):
        trained(SMALL, blind, "plane")
    with pytest.raises(InputError, match="sees with the encoding robot_and_people, got ScanAndAim"):
        trained(dataclasses.replace(SMALL, network=DsRnnNetwork()), SUITE, "plane")
