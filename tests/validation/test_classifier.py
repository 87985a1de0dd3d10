"""The features for a classifier, and the crowds that it can and cannot tell apart."""

import numpy as np
import pytest
from tests.ways import line, scene

from agora.validation.classifier import judge, shown, told_apart
from agora.validation.features import features
from agora.validation.replaced import constant_velocity, draw, replaced_error
from agora.validation.stretches import of_scene
from agora.validation.window import TrackWindow, window

pytest.importorskip("sklearn")


def process(rng, shift=0.0, stretches=40):
    return [rng.normal(0.0, 1.0, (8, 6)) + np.array([shift, 0, 0, shift, 0, 0]) for _ in range(stretches)]


def test_two_halves_of_one_process_cannot_be_told_apart(rng):
    found = told_apart([judge((process(rng), process(rng)), (process(rng), process(rng)))])
    assert found.value == pytest.approx(0.5, abs=0.07)
    assert found.low < found.value < found.high
    assert found.n == 640


def test_a_shifted_process_is_told_from_the_other(rng):
    assert told_apart([judge((process(rng), process(rng, 4.0)), (process(rng), process(rng, 4.0)))]).low > 0.97


def test_who_is_nobody_is_not_told_apart(rng):
    assert told_apart([judge((process(rng), []), (process(rng), []))]).value is None
    assert told_apart([]).value is None


def test_stretches_of_several_forests_count_as_walkers(rng):
    """One scene in which everybody is told apart, and one of a third as many walkers in which nobody can be."""
    known = judge((process(rng), process(rng, 9.0)), (process(rng, stretches=30), process(rng, 9.0, stretches=30)))
    unknown = np.tile([4.0, 4.0], (10, 1)), np.full((10, 2), 8.0)
    assert told_apart([known, unknown]).value == pytest.approx(0.75 * told_apart([known]).value + 0.25 * 0.5)


def test_features_do_not_tell_place_or_direction(rng):
    seen = window(of_scene(scene(line((0, 0), (1.2, 0)), line((9, 0.5), (-1, 0.1)), line((3, 2), (0.6, 0.2))))[0])
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    elsewhere = TrackWindow(seen.position @ turn.T + (7.0, -3.0), seen.velocity @ turn.T, seen.present, seen.wall, seen.group)
    assert features(elsewhere) == pytest.approx(features(seen), abs=1e-6)


def test_one_alone_has_features_and_a_crowd_of_any_size_has_as_many(rng):
    alone = shown(of_scene(scene(line((0, 0), (1.2, 0))))[0])
    many = shown(of_scene(scene(*(line((k, 0.9 * k), (1.2, 0)) for k in range(6))))[0])
    assert alone.shape == (1, many.shape[1])
    assert len(many) == 6
    assert np.isfinite(alone).all()


def test_constant_velocity_is_right_about_whoever_walks_straight_on():
    cut = of_scene(scene(line((0, 0), (1.2, 0.3)), line((9, 0.5), (-1, 0.1))))
    assert constant_velocity(cut[0], 20) == pytest.approx(cut[0].position)
    found = replaced_error(cut, draw(cut), None)
    assert found.value == pytest.approx(0.0, abs=1e-9)
    assert found.n == sum(stretch.walkers for stretch in cut) == len(draw(cut))
    assert len(draw(cut, 1)) == 1
