"""Walks to learn from are what was recorded or simulated, and a rule that people follow is learned from them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agora.learning.walks import Samples, Walks, recorded, samples_of, simulated
from agora.predictors.learned_motion import deviations, faded
from agora.validation.prediction import Samples as Judged

STEP = 0.4


def slowing(people: int, seed: int, seconds: float = 8.0) -> Walks:
    """People who come to rest in 2 s, each from a speed and in a direction of its own."""
    rng, time = np.random.default_rng(seed), np.arange(0.0, seconds, STEP)[:, None, None]
    angle, speed = rng.uniform(-np.pi, np.pi, people), rng.uniform(0.8, 1.6, people)
    way = speed * np.stack((np.cos(angle), np.sin(angle)))
    velocity = np.exp(-time / 2.0) * way
    place = rng.uniform(-40.0, 40.0, (2, people)) + 2.0 * (way - velocity)
    swapped = (np.moveaxis(part, 1, -1)[:, None].astype(np.float32) for part in (place, velocity))
    shape = (len(time), 1, people)
    return Walks(*swapped, np.ones(shape, np.bool_), np.broadcast_to(np.arange(people, dtype=np.int32), shape), STEP)


def test_what_is_learned_is_how_far_somebody_left_the_way_at_constant_velocity():
    walks = slowing(3, 1)
    samples = samples_of(walks)
    t = 0.4 * np.arange(1, 13)
    assert samples.moments == pytest.approx(t)
    speed = np.hypot(*walks.velocity[1, 0].T)
    assert samples.off[:3, :, 0] == pytest.approx(speed[:, None] * (2.0 * (1.0 - np.exp(-t / 2.0)) - t), abs=1e-4)
    assert samples.off[..., 1] == pytest.approx(0.0, abs=1e-4)  # straight ahead, in their own frames


def test_only_who_stays_the_same_person_for_4_8_s_counts():
    walks = slowing(4, 2, 12.0)
    present, who, place = walks.present.copy(), walks.id.copy(), walks.position.copy()
    present[10:, 0, 0], who[9:, 0, 1] = False, 17
    place[8:, 0, 2] += 30.0
    samples = samples_of(replace(walks, present=present, id=who, position=place), 3)
    # of the moments 3, 6, 9, 12 and 15: nobody for whom 4.8 s are missing, two of the newcomer, three after the leap, and all five
    assert len(samples.off) == 0 + 2 + 3 + 5


def test_simulated_people_walk_as_fast_as_they_say():
    walks = simulated("crowdnav_training", "circle", 3, seconds=3.0, every=0.25)
    assert walks.position.shape[:2] == (13, 3)
    moved = np.diff(walks.position, axis=0) / 0.25
    assert np.abs(moved - walks.velocity[1:])[walks.present[1:]].max() < 1e-3


def test_recorded_people_are_those_that_predictors_are_judged_on(data):
    from agora.datasets.eth_ucy import read_scene

    walks, judged = recorded("hotel"), Judged.of(read_scene("hotel"))
    assert np.array_equal(walks.present[:, 0], judged.present)
    assert walks.position[walks.present] == pytest.approx(judged.position[judged.present], abs=1e-4)


def test_a_rule_that_people_follow_is_learned():
    pytest.importorskip("torch")
    from agora.learning.trainers.motion import fit

    known, unseen = samples_of(slowing(60, 3)), samples_of(slowing(20, 4))
    learned = fit([known], [1.0], width=16, steps=400, batch=128, seed=2)
    assert error(learned, unseen) < 0.1 * np.linalg.norm(unseen.off, axis=-1).mean()
    again = fit([known], [1.0], width=16, steps=5, batch=128, seed=2), fit([known], [1.0], width=16, steps=5, batch=128, seed=2)
    assert all(np.array_equal(again[0][name], again[1][name]) for name in again[0])


def error(arrays: dict[str, np.ndarray], samples: Samples) -> float:
    """The mean distance from where people were, m."""
    ways = np.einsum("tk,nkc->ntc", faded(samples.moments.tolist()), deviations(arrays, samples.seen))
    return float(np.linalg.norm(ways - samples.off, axis=-1).mean())


def test_the_command_writes_weights_that_predict_and_says_how_they_were_made(data, tmp_path, capsys):
    pytest.importorskip("torch")
    from agora.learning.motion import main
    from agora.policies.weights import read_safetensors
    from agora.predictors.learned_motion import LearnedMotion

    path = tmp_path / "new" / "motion.safetensors"
    main([str(path), "--scenes", "hotel", "--no-simulated", "--steps", "3"])
    assert capsys.readouterr().out == f"{path}: trained on {len(samples_of(recorded('hotel')).off)} samples\n"
    about, _ = read_safetensors(path)
    assert about["data"] == "hotel" and about["command"].endswith("--scenes hotel --no-simulated --steps 3")
    assert LearnedMotion(str(path)).files() == [path]
    with pytest.raises(SystemExit):
        main([str(path), "--scenes", "hotle", "--no-simulated"])
    assert "hotel" in capsys.readouterr().err
