"""Suites for training, selection and testing share no place, as the manual's page of suites says."""

from __future__ import annotations

import pytest

from agora.config import dump
from agora.learning.training import load_training, training_names
from agora.tasks.suite import Suite, load_suite, with_seed


def places(suite: Suite) -> set[tuple[str, ...]]:
    """The drawn or listed places of a suite: generators with their seeds, and worlds of BARN."""
    found: set[tuple[str, ...]] = set()
    for stage in suite.stages:
        source = stage.world.part
        if stage.world.name == "generated":
            found.add(("generated", dump(source.generator), str(source.seed)))
        elif stage.world.name == "barn":
            found |= {("barn", name) for name in source.names()[: stage.count]}
    return found


@pytest.mark.parametrize("name", training_names())
def test_no_training_suite_shares_a_place_with_its_test(name):
    training = load_training(name)
    assert not places(load_suite(training.suite)) & places(load_suite(training.test))


def test_the_three_suites_of_social_share_no_place_under_separate_seeds_or_a_common_seed():
    suites = [load_suite(f"social{part}") for part in ("", "_training", "_validation")]
    for drawn in (suites, [with_seed(suite, 9) for suite in suites]):
        every = [place for suite in drawn for place in places(suite)]
        assert len(set(every)) == len(every) == 30


def test_four_worlds_that_barn_training_tunes_on_are_in_the_test_of_ros_jackal():
    assert len(places(load_suite("barn_training")) & places(load_suite("ros_jackal"))) == 4
