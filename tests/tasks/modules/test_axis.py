"""The module axis: difficulties that cover an axis evenly, and the keys that it sets."""

from __future__ import annotations

import math

import numpy as np
import pytest

from agora.config import parse
from agora.errors import InputError
from agora.tasks.modules.axis import Axis, axis_of
from agora.tasks.suite import Suite

SUITE = """
name: harder
seed: {seed}
stages:
  - name: room
    episodes: 40
    world: {{name: open, width: 9.0, height: 7.5}}
    robots: {{name: random, distance: 4.0}}
    obstacles: {{name: itineraries, until: 10}}
    crowd:
      models:
        - {{model: anticipation, share: 0.5}}
        - {{model: anticipation, share: 0.5, minds_robots: never}}
    modules: [{{name: axis, axis: crowd, easy: 0.1, hard: 0.4, scale: {scale}, sets: {{{sets}}}}}]
"""


def suite(sets="obstacles.density: [0.1, 0.4]", scale="linear", seed=7):
    return parse(SUITE.format(sets=sets, scale=scale, seed=seed), Suite, "test")


def fractions(axis, count, seed=7):
    return np.array([axis.fraction("harder/room", seed, k) for k in range(count)])


@pytest.mark.parametrize("count", [5, 12, 40, 96])
def test_the_first_episodes_of_a_stage_cover_the_axis_evenly(count):
    x = np.sort(fractions(Axis("a", 0.0, 1.0), count))
    assert np.diff([0.0, *x, 1.0]).max() < 2.7 / count
    assert np.abs(x - (np.arange(count) + 0.5) / count).max() < 2.0 / count


def test_another_seed_shifts_the_difficulties():
    axis = Axis("a", 0.0, 1.0)
    turned = (fractions(axis, 9, seed=8) - fractions(axis, 9, seed=7)) % 1.0
    assert np.ptp(turned) < 1e-9 and turned[0] > 1e-3


def test_equal_steps_are_equal_factors_on_a_log_axis():
    axis = Axis("a", 0.05, 0.8, scale="log")
    assert axis.value(0.25) / axis.value(0.0) == pytest.approx(2.0)
    assert axis.value(0.75) / axis.value(0.5) == pytest.approx(2.0)
    assert Axis("b", 3.0, 1.0).value(0.25) == pytest.approx(2.5)


def test_denser_episodes_have_more_people():
    made = suite("obstacles.density: [0.02, 0.4]")
    axis = axis_of(made.stage("room"))
    x, people = fractions(axis, 12), [np.sum(made.start("room", k).pedestrians.enters <= 0) for k in range(12)]
    expected = (0.02 + 0.38 * x) * np.prod(np.array([9.0, 7.5]) - 0.6)
    assert np.abs(people - expected).max() < 2.5


def test_a_key_reaches_into_lists_and_leaves_the_rest_as_it_is():
    made = suite("crowd.models.0.share: [1.0, 0.0], crowd.models.1.share: [0.0, 1.0]")
    stage, (x,) = made.stage("room"), fractions(axis_of(made.stage("room")), 1)
    never = [np.mean(made.start("room", k).pedestrians.model == 1) for k in range(40)]
    order = np.argsort(fractions(axis_of(stage), 40))
    assert np.mean(np.array(never)[order[:10]]) < 0.3 < 0.7 < np.mean(np.array(never)[order[-10:]])
    assert stage.crowd.models[0].share == 0.5 and 0.0 < x < 1.0


def test_the_robot_and_its_time_follow_its_own_keys():
    made = suite("robot.vx.1: [1.6, 0.2], robot.command_delay: [0.0, 0.4]")
    axis = axis_of(made.stage("room"))
    for k in range(6):
        (robot,) = made.start("room", k).robots
        assert robot.model.vx[1] == pytest.approx(1.6 - 1.4 * axis.fraction("harder/room", 7, k))
        assert robot.model.command_delay == pytest.approx(0.4 * axis.fraction("harder/room", 7, k))
    slow, fast = (choose(range(40), key=lambda k: axis.fraction("harder/room", 7, k)) for choose in (max, min))
    assert made.start("room", slow).timeout > made.start("room", fast).timeout


@pytest.mark.parametrize(
    ("sets", "words"),
    [
        ("obstacles.densty: [0.1, 0.4]", "no key 'obstacles.densty'; did you mean 'density'"),
        ("crowd.models.2.share: [0.1, 0.4]", "no key 'crowd.models.2.share'; known names: 0, 1"),
        ("robot.speed: [0.1, 0.4]", "no key 'robot.speed'"),
        ("obstacles.groups: [0.1, 0.4]", "'obstacles.groups' is not a number"),
        ("obstacles.density: [0.1, 40.0]", "density: expected a number in [0, 1.5], got 39.99"),
        ("robot.vx.1: [1.0, -2.0]", "vx must be"),
    ],
)
def test_a_wrong_key_or_end_is_refused_at_the_first_episode(sets, words):
    with pytest.raises(InputError) as error:
        suite(sets).start("room", 0)
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"easy": 1.0, "hard": 1.0}, "must differ"),
        ({"easy": 0.0, "hard": 1.0, "scale": "log"}, "above 0"),
        ({"easy": 0.0, "hard": math.inf}, "finite"),
        ({"easy": 0.0, "hard": 1.0, "sets": {"a": (0.0, math.nan)}}, r"sets\.a\[1\]: expected a finite number"),
    ],
)
def test_invalid_ends_are_refused(values, words):
    with pytest.raises(ValueError, match=words):
        Axis("a", **values)


def test_an_axis_that_sets_no_key_is_refused():
    with pytest.raises(InputError, match="axis: sets: is empty, so all episodes would be equally hard"):
        suite("").start("room", 0)
