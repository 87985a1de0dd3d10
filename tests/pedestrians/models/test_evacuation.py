"""Helbing 2000: bodies in contact, as its equations say, as JuPedSim has them, and faster is slower."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from agora.pedestrians.models.evacuation import Evacuation
from pedestrians import crowds
from pedestrians.jupedsim_walks import CASES, FILE, STEPS

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "faster_is_slower.py"
FINE = np.float32(0.0005)


def advance(crowd, model, steps, dt=FINE):
    """Semi-implicit Euler, without a cap."""
    people = crowd.pedestrians
    for _ in range(steps):
        a = crowds.forces(model, crowd, dt=dt)
        people.vx[:] += dt * a[..., 0]
        people.vy[:] += dt * a[..., 1]
        people.x[:] += dt * people.vx
        people.y[:] += dt * people.vy
    n = int(crowd.traits.count[0])
    return np.stack([people.x, people.y], -1)[0, :n].astype(float), np.stack([people.vx, people.vy], -1)[0, :n].astype(float)


def test_two_who_push_towards_each_other_come_to_rest_where_springs_balance():
    model = Evacuation(friction=0.0)
    crowd = crowds.placed([(0.0, 0.7), (0.66, 0.7)], goal=[(600.0, 0.7), (-600.0, 0.7)], speed=4.0, radius=0.3)
    place, velocity = advance(crowd, model, 12000)
    d = np.linalg.norm(place[1] - place[0])
    overlap = 0.6 - d
    assert np.abs(velocity).max() < 1e-3
    assert model.repulsion * np.exp(overlap / model.length) + model.body * max(overlap, 0) == pytest.approx(
        80.0 * 4.0 / 0.5, rel=2e-3
    )


def test_a_body_that_is_pressed_in_swings_with_the_period_of_its_spring():
    model = Evacuation(repulsion=0.0, friction=0.0, relaxation_time=36_000.0)
    crowd = crowds.placed([(0.0, 0.0), (0.56, 0.0)], radius=0.3)
    people, moments, before = crowd.pedestrians, [], 1.0
    for k in range(200):
        advance(crowd, model, 1)
        gap = float(people.x[0, 1] - people.x[0, 0]) - 0.6
        if before < 0 <= gap:
            moments.append((k + 1) * float(FINE))
        before = gap
    quarter = 0.5 * np.pi * np.sqrt(80.0 / 2 / 1.2e5)  # half the mass: both move
    assert moments == [pytest.approx(quarter, abs=2 * float(FINE))]


def test_sliding_is_braked_along_the_surface_alone_and_more_the_deeper_they_are_pressed():
    model = Evacuation(repulsion=0.0, body=0.0, relaxation_time=36_000.0)
    for overlap in (0.004, 0.01):
        crowd = crowds.placed([(0.0, 0.0), (0.0, 0.6 - overlap)], velocity=[(0.7, 0.4), (-0.2, -0.3)], radius=0.3)
        a, b = crowds.forces(model, crowd, dt=FINE)[0, :2]
        assert a == pytest.approx([2.4e5 * overlap * (-0.2 - 0.7) / 80.0, 0.0], rel=2e-4, abs=1e-4)
        assert b == pytest.approx(-a, rel=1e-5, abs=1e-5)
    apart = crowds.placed([(0.0, 0.0), (0.0, 0.61)], velocity=[(0.7, 0.4), (-0.2, -0.3)], radius=0.3)
    assert np.abs(crowds.forces(model, apart, dt=FINE)[0, :2]).max() < 3e-5  # 0.7 m/s in 36,000 s


def test_a_wall_presses_back_and_brakes_who_slides_along_it():
    model = Evacuation(relaxation_time=36_000.0)
    crowd = crowds.placed([(1.72, 0.3)], velocity=[(0.2, -0.8)], radius=0.3, maps=crowds.wall_at(2.0))
    ax, ay = crowds.forces(model, crowd, dt=FINE)[0, 0]
    overlap = 0.3 - 0.28
    assert ax == pytest.approx(-(2000.0 * np.exp(overlap / 0.08) + 1.2e5 * overlap) / 80.0, rel=1e-3)
    assert ay == pytest.approx(2.4e5 * overlap * 0.8 / 80.0, rel=1e-3)


def test_forces_between_pedestrians_cancel(rng):
    model = Evacuation(relaxation_time=36_000.0)
    crowd = crowds.placed(rng.uniform(0, 2.5, (24, 2)), velocity=rng.normal(0, 1, (24, 2)), radius=rng.uniform(0.2, 0.35, 24))
    a = crowds.forces(model, crowd, dt=FINE)[0, :24].astype(float)
    assert np.abs(a).sum() > 1000.0
    assert np.abs(a.sum(axis=0)).max() < 1e-5 * np.abs(a).sum()


def test_friction_stays_stable_where_the_step_is_long_and_the_press_is_hard():
    crowd = crowds.placed([(0.0, 0.0), (0.0, 0.4)], velocity=[(1.0, 0.0), (-1.0, 0.0)], radius=0.3)
    model = Evacuation(repulsion=0.0, body=0.0, relaxation_time=36_000.0)
    sliding = [float(np.diff(advance(crowd, model, 1, np.float32(0.004))[1][:, 0])[0]) for _ in range(4)]
    assert sliding == pytest.approx([-1.0, -0.5, -0.25, -0.125], rel=0.02)


@pytest.mark.parametrize("case", CASES)
def test_trajectories_are_those_of_jupedsim(case):
    (dt, nearest), kept = CASES[case], np.load(FILE)
    position, velocity, goal, theirs = (kept[f"{case} {field}"] for field in ("position", "velocity", "goal", "walks"))
    crowd = crowds.placed(position, velocity, goal, speed=1.5, radius=0.3)
    ours = np.array([advance(crowd, Evacuation(), 1, np.float32(dt))[0] for _ in range(STEPS)])
    closest = min(np.linalg.norm(theirs[:, i] - theirs[:, j], axis=-1).min() for i in range(7) for j in range(i))
    assert (closest < 0.6) == (nearest < 0.6)
    assert np.abs(ours - theirs).max() < 2e-5


def test_who_hurries_leaves_later():
    example = runpy.run_path(str(EXAMPLE))
    gone = example["left"]([0.75, 1.5, 5.0], 1, 60, 120.0, Evacuation())
    slow, best, fast = ((gone >= 60).argmax(axis=0) * example["DT"]).mean(axis=1)
    assert gone[-1].min() >= 60
    assert 1.15 * best < slow
    assert 1.3 * best < fast
