"""Learned prediction: who walks how, and what counts of them; people who come and go; weights that are wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.predictors.test_goal_directed import seen

from agora.datasets.eth_ucy import read_scene
from agora.errors import InputError, UnknownNameError
from agora.planners import memory
from agora.policies.weights import packed
from agora.predictors.constant_velocity import ConstantVelocity
from agora.predictors.learned_motion import FORMAT, LearnedMotion, deviations, faded, weights_of
from agora.predictors.motion_seen import NEIGHBOURS, OWN, PAIR, Seen
from agora.testing import observation
from agora.validation.prediction import Samples

ALONG = ((0.0, 0.0, 1.2, 0.1), (0.9, 0.4, 1.1, 0.0), (4.0, 1.0, -1.0, 0.2))


def looked(count: int, seed: int) -> Seen:
    """People whom nobody could tell from real ones, and their neighbours."""
    rng, f = np.random.default_rng(seed), np.float32
    near = np.arange(NEIGHBOURS) < rng.integers(0, NEIGHBOURS + 1, count)[:, None]
    pairs = np.where(near[..., None], rng.normal(size=(count, NEIGHBOURS, PAIR)), 0.0).astype(f)
    own, sure = rng.normal(size=(count, OWN)).astype(f), rng.random(count).astype(f)
    return Seen(own, pairs, near, np.tile(f([1, 0]), (count, 1)), sure)


def test_the_network_answers_what_pytorch_answers():
    torch = pytest.importorskip("torch")
    from agora.learning.trainers.motion import Motion
    from agora.policies.learners.arrays import arrays_of

    torch.manual_seed(5)
    module, people = Motion(24), looked(37, 1)
    with torch.no_grad():
        theirs = module(*(torch.from_numpy(part) for part in (people.own, people.pairs, people.near, people.sure))).numpy()
    assert deviations(arrays_of(module), people) == pytest.approx(theirs, abs=1e-5)
    assert np.abs(theirs).max() > 0.1


def test_the_answer_for_somebody_has_the_same_bits_whoever_else_is_asked_about():
    arrays, people = weights_of("learned_motion"), looked(37, 2)
    together = deviations(arrays, people)
    for first, last in ((0, 1), (3, 10), (36, 37)):
        apart = deviations(arrays, Seen(*(part[first:last] for part in people)))
        assert apart.tobytes() == together[first:last].tobytes()


def test_a_deviation_begins_as_a_velocity_and_fades():
    early, late = faded([1e-3, 1e3])
    assert early == pytest.approx([1e-3] * 3, rel=2e-3)  # m, of 1 m/s each
    assert late == pytest.approx([0.5, 1.5, 5.0])


def test_nobody_and_one_person_are_foretold():
    model = LearnedMotion()
    nobody = replace(observation(2, 0, dt=0.4))
    assert model.predict(nobody, 3, 0.4, {}).position.shape == (2, 0, 3, 2)
    alone = model.predict(seen((1.0, 2.0, 1.2, 0.0)), 12, 0.4, {}).position[0, 0]
    assert np.hypot(*(alone[-1] - (1.0 + 4.8 * 1.2, 2.0))) < 1.0  # nearly straight on
    assert alone[0] == pytest.approx((1.48, 2.0), abs=0.1)


def test_who_stands_is_expected_to_stand():
    people = ((1.5, -0.5, 0.0, 0.0), (2.5, -0.5, -1.0, 0.0))
    there = LearnedMotion().predict(seen(*people), 3, 1.0, {}).position[0, 0]
    assert there == pytest.approx(np.tile((1.5, -0.5), (3, 1)))


def test_a_newcomer_is_one_who_has_always_walked_so():
    model, kept = LearnedMotion(), {}
    for step in range(30, -1, -1):
        answer = model.predict(seen(*((x - 0.4 * step * vx, y - 0.4 * step * vy, vx, vy) for x, y, vx, vy in ALONG)), 5, 0.4, kept)
        kept = answer.memory
    new = model.predict(seen(*ALONG), 5, 0.4, {})
    assert answer.position == pytest.approx(new.position, abs=1e-4)


def test_the_past_counts_and_is_forgotten_with_the_track():
    model = LearnedMotion()
    turned = model.predict(seen((0.0, 0.0, 0.0, 1.2), ids=(4,)), 5, 0.4, {}).memory
    after, fresh = (model.predict(seen((0.0, 0.4, 1.2, 0.0), ids=(4,)), 5, 0.4, kept).position for kept in (turned, {}))
    assert np.abs(after - fresh).max() > 0.05
    gone = model.predict(seen((0.0, 0.4, 1.2, 0.0), ids=(9,)), 5, 0.4, turned).memory
    back = model.predict(seen((0.0, 0.4, 1.2, 0.0), ids=(4,)), 5, 0.4, gone).position
    assert back.tobytes() == fresh.tobytes()
    begun = model.predict(seen((0.0, 0.4, 1.2, 0.0), ids=(4,)), 5, 0.4, memory.reset(turned, np.ones(1, np.bool_))).position
    assert begun.tobytes() == fresh.tobytes()


def test_the_same_past_seen_more_often_gives_the_same_places():
    # v = (1.1, 0.4 e^(-t)): looked at every 0.02 s and every 0.1 s
    model, found = LearnedMotion(), []
    for step in (0.02, 0.1):
        kept = {}
        for t in np.arange(0.0, 3.0 + 1e-9, step):
            now = replace(seen((1.1 * t, 0.4 - 0.4 * np.exp(-t), 1.1, 0.4 * np.exp(-t))), dt=step)
            answer = model.predict(now, 12, 0.4, kept)
            kept = answer.memory
        found.append(answer.position)
    assert found[0] == pytest.approx(found[1], abs=0.05)


def test_recorded_people_whom_it_has_not_seen_are_foretold_better_than_at_constant_velocity(data):
    # A. Gupta et al. 2018 measure so; constant velocity is what few learned predictors beat (Schoeller et al. 2020)
    samples = Samples.of(read_scene("hotel"))
    plain, learned = (np.concatenate(samples.errors(one)[1]).mean() for one in (ConstantVelocity(), LearnedMotion()))
    assert learned < 0.9 * plain


@pytest.mark.parametrize(
    ("about", "change", "says"),
    [
        ({"format": "agora.policy"}, {}, f"expected a file of {FORMAT}"),
        ({"format": FORMAT}, {"key.bias": np.zeros(3, np.float32)}, "key.weight: expected the shape"),
        ({"format": FORMAT}, {"more": np.zeros(3, np.float32)}, "more is not part of learned_motion"),
    ],
)
def test_wrong_weights_are_refused_by_what_is_wrong(tmp_path, about, change, says):
    path = tmp_path / "wrong.safetensors"
    path.write_bytes(packed(weights_of("learned_motion") | change, about))
    with pytest.raises(InputError, match=says):
        LearnedMotion(str(path))


def test_weights_that_are_not_there_are_refused():
    with pytest.raises(UnknownNameError, match="learned_motion"):
        LearnedMotion("learned_motoin")
    with pytest.raises(InputError, match="nowhere"):
        LearnedMotion("./nowhere.safetensors")
