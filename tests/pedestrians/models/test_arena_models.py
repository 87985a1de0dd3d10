"""RVO2's parameters, passthrough and spinny: small models with the names that Arena gives them."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pyrvo
import pytest
from tests.engines import engine as engine_at
from tests.starts import people, start

from agora.errors import InputError
from agora.pedestrians.models.passthrough import Passthrough
from agora.pedestrians.models.pedsim import Pedsim
from agora.pedestrians.models.rvo2 import Rvo2
from agora.pedestrians.models.spinny import Spinny
from pedestrians import crowds


def test_rvo2_moves_crowds_as_the_library_does_with_the_parameters_of_its_example(rng):
    worst = []
    for _ in range(60):
        n = int(rng.integers(2, 14))
        place, velocity, goal = rng.uniform(-4, 4, (n, 2)), rng.normal(0, 0.7, (n, 2)), rng.uniform(-30, 30, (n, 2))
        if (np.hypot(*(place[:, None] - place).T) + 9 * np.eye(n)).min() < 0.6:
            continue
        world = pyrvo.RVOSimulator(0.25, 15.0, 10, 10.0, 10.0, 0.3, 2.0)
        for k in range(n):
            world.add_agent(tuple(place[k].tolist()))
            world.set_agent_velocity(k, tuple(velocity[k].tolist()))
            way = goal[k] - place[k]
            world.set_agent_pref_velocity(k, tuple((way / max(1.0, np.hypot(*way))).tolist()))
        world.do_step()
        theirs = [world.get_agent_velocity(k).to_tuple() for k in range(n)]
        ours = crowds.forces(Rvo2(), crowds.placed(place, velocity, goal, speed=1.0, radius=0.3), dt=0.25)[0, :n]
        worst.extend(np.hypot(*(ours - theirs).T))
    assert len(worst) > 150
    assert np.mean(np.array(worst) < 1e-4) > 0.99
    assert np.quantile(worst, 0.99) < 1e-3


def test_passthrough_is_pedsim(rng):
    crowd = crowds.random_crowd(rng)
    assert np.array_equal(crowds.forces(Passthrough(), crowd), crowds.forces(Pedsim(), crowd))
    assert {f.name: f.default for f in dataclasses.fields(Passthrough)} == {f.name: f.default for f in dataclasses.fields(Pedsim)}


def test_spinnys_force_is_the_velocity_turned_to_the_left_and_a_push_on_who_stands(rng):
    crowd = crowds.random_crowd(rng)
    people_, active = crowd.pedestrians, crowd.pedestrians.active
    people_.vx[:, ::3], people_.vy[:, ::3], people_.heading[:] = 0.0, 0.0, rng.uniform(-3.1, 3.1, people_.x.shape)
    v = people_.vx + 1j * people_.vy
    z = np.where(v == 0.0, 0.6 * np.exp(1j * people_.heading), 1.7 * v) * np.exp(0.4j)
    a = crowds.forces(Spinny(angle=0.4, rate=1.7, push=0.6), crowd)
    assert np.allclose(a[active], np.stack([z.real, z.imag], -1)[active], rtol=1e-5, atol=1e-5)
    assert not a[~active].any()


def spun(model: Spinny, velocity: tuple[float, float], dt: float = 0.05, seconds: float = 10.0) -> np.ndarray:
    """Heading and velocity (steps, P, 3) of two under ``spinny``, of whom the second stands at first."""
    crowd = people([[-3.0, 1.0], [2.0, 2.0]], [[[4.0, 1.0]], [[5.0, 2.0]]], speed=1.4)
    crowd.velocity[0], crowd.heading[1] = velocity, 2.2
    one = start(crowd=crowd, pose=(8.0, 8.0, 0.0))
    engine = engine_at([one], dt, crowd=model)
    seen = []
    for _ in range(round(seconds / dt)):
        engine.step()
        now = engine.world.pedestrians
        seen.append(np.stack([now.heading[0, :2], now.vx[0, :2], now.vy[0, :2]], -1))
    return np.array(seen)


def test_spinny_turns_left_ever_faster_up_to_its_cap():
    heading, vx, vy = spun(Spinny(), (0.3, -0.1))[:, 0].T
    turned, speed = np.diff(np.unwrap(heading)), np.hypot(vx, vy)
    assert turned.min() > 0.0
    assert turned.mean() / 0.05 == pytest.approx(0.5, rel=0.05)  # sin 30 deg per second
    assert np.all(np.diff(speed) > -1e-6)
    assert speed[-1] == pytest.approx(1.4, rel=1e-5)


@pytest.mark.parametrize("dt", [0.01, 0.05, 0.1])
def test_who_stands_under_spinny_begins_to_turn_too(dt):
    heading, vx, vy = spun(Spinny(), (0.0, 0.0), dt)[:, 1].T
    assert math.atan2(vy[0], vx[0]) == pytest.approx(2.2 + math.pi / 6, abs=1e-3)
    assert math.hypot(vx[0], vy[0]) == pytest.approx(dt, rel=1e-3)  # 1 m/s2
    assert math.hypot(vx[-1], vy[-1]) == pytest.approx(1.4, rel=1e-5)
    assert np.unwrap(heading)[-1] > 2.2 + 3.0
    assert not spun(Spinny(push=0.0), (0.0, 0.0), dt, 1.0)[:, 1, 1:].any()  # as in the fork of pedsim_ros


def test_an_angle_that_is_none_is_refused():
    with pytest.raises(InputError, match="^angle: expected a finite number"):
        Spinny(angle=math.nan)
