"""The suite social: people with itineraries, some of whom mind robots; its parts share no place and no people."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from agora.tasks.suite import load_suite

PARTS = ("social", "social_training", "social_validation")


@pytest.mark.parametrize("stage", [stage.name for stage in load_suite("social").stages])
def test_parts_differ_in_their_places_and_people_and_in_nothing_else(stage):
    suites = [load_suite(name) for name in PARTS]
    stages = [suite.stage(stage) for suite in suites]
    alike = [replace(one, world=stages[0].world, episodes=1) for one in stages]
    assert alike[0] == alike[1] == alike[2]
    starts = [[suite.start(stage, k) for k in range(3)] for suite in suites]
    for first, second in itertools.combinations(starts, 2):
        for a, b in itertools.product(first, second):
            assert stage in ("square", "concourse") or not np.array_equal(a.map.occupied, b.map.occupied)
            assert not np.array_equal(a.pedestrians.position, b.pedestrians.position)


def test_half_of_the_people_mind_a_robot_early_and_a_tenth_never():
    suite = load_suite("social")
    models = np.concatenate([suite.start(stage, k).pedestrians.model for stage in ("square", "concourse") for k in range(8)])
    assert np.bincount(models, minlength=3) / len(models) == pytest.approx([0.5, 0.4, 0.1], abs=0.06)
    assert suite.stages[0].crowd.minding == ("early", "late", "never")


def test_there_are_robots_of_four_sizes_and_speeds_and_densities_from_a_twentieth_to_seven_twentieths():
    suite = load_suite("social")
    assert len({stage.robot for stage in suite.stages}) >= 4
    densities = [stage.obstacles.part.density for stage in suite.stages]
    assert min(densities) == 0.05 and max(densities) == 0.35
    assert all(stage.perception.source == "tracked" for stage in suite.stages)


def test_the_recorded_parts_share_no_scene():
    parts = load_suite("social_recorded"), load_suite("social_recorded_training")
    test, training = ({stage.world.part.scenes for stage in part.stages} for part in parts)
    assert test == {("hotel",), ("zara02",), ("students003",)} and training == {("eth",), ("zara01",), ("students001",)}
