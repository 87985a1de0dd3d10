"""The potential with which pedestrians were simulated is learned from them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

pytest.importorskip("torch")

from agora.learning.potential import fit, main, recovery_error, samples_of, take
from agora.learning.recordings import eth_ucy, simulate
from agora.pedestrians.models.deep_social_force import DeepSocialForce
from agora.pedestrians.shared.potential import Potential, load_potential
from agora.world.trajectories import Trajectories

MODEL = DeepSocialForce("helbing_1995")


@pytest.fixture(scope="module")
def samples():
    return take(simulate(MODEL, worlds=12, seed=4), MODEL)


def test_the_potential_of_the_simulation_explains_its_motion(samples):
    # what is left is the spline between places 0.4 s apart
    without, true = samples.error(None, 0.5), samples.error(MODEL.learned(), 0.5)
    assert true < 0.1 * without
    assert samples.error(Potential.exponential(2.1, 0.4), 0.5) > 2.0 * true


def test_the_potential_of_the_simulation_is_recovered_to_five_percent(samples):
    # Kreiss 2021; rms over b in [0.2, 2] m as a share of the rms of 2.1 exp(-b / 0.3 m)
    learned = fit(samples, tau=0.5, steps=250, rate=0.04, seed=2)
    assert recovery_error(learned, MODEL.learned()) < 0.05


def test_the_same_seed_gives_the_same_potential(samples):
    few = dataclasses.replace(samples, **{n: getattr(samples, n)[:60] for n in ("miss", "drive", "b", "push")})
    one, same, other = (fit(few, tau=0.5, steps=5, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.weight, same.weight) and not np.array_equal(one.weight, other.weight)


def test_a_free_pedestrian_who_relaxes_is_explained_without_a_force():
    # v(t) = v0 (1 - e^(-t / tau)) beside one who stands 2 m away
    time = np.arange(0.0, 4.0, 0.4)
    x = 1.3 * (time - 0.5 * (1.0 - np.exp(-time / 0.5)))
    both = Trajectories.of_rows(np.tile(time, 2), np.repeat([1, 2], 10), np.append(x, np.zeros(10)), np.append(0 * x, 0 * x - 2.0))
    made = samples_of(both, MODEL, np.array([[50.0, 0.0], [0.0, -2.0]]), np.array([1.3, 0.0]))
    assert len(made.miss) > 0
    assert made.error(None, 0.5) < 0.12 * float(np.abs(made.miss[:, 0]).max())


def test_members_of_a_group_are_no_neighbours():
    time = np.arange(0.0, 3.0, 0.4)
    bend = 0.3 * time**2
    rows = (np.tile(time, 2), np.repeat([1, 2], 8), np.tile(time, 2), np.append(bend, bend + 0.6))
    apart = Trajectories.of_rows(*rows)
    goals, speeds = np.full((2, 2), 9.0), np.ones(2)
    assert len(samples_of(apart, MODEL, goals, speeds).miss) > 0
    assert len(samples_of(apart.grouped([(1, 2)]), MODEL, goals, speeds).miss) == 0


def test_the_command_writes_what_it_measured(tmp_path, capsys):
    path = tmp_path / "mine.safetensors"
    main(["simulated", str(path), "--seed", "3", "--worlds", "2", "--steps", "3"])
    assert load_potential(path).about["seed"] == "3"
    assert "test error of the next position" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        main(["eth_ucy", str(path), "--scenes", "nowhere"])
    assert "no scene of ETH/UCY called 'nowhere'" in capsys.readouterr().err


@pytest.mark.data
def test_real_pedestrians_make_samples(data, monkeypatch):
    monkeypatch.setenv("AGORA_DATA", str(data))
    made = take(eth_ucy(["zara01"]), MODEL)
    assert len(made.miss) > 500
    assert (made.b >= 0.0).all() and np.isfinite(made.push).all()
