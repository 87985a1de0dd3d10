"""The digest of a start depends on everything that decides an episode, and on nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agora.config import parse
from agora.registry import Named
from agora.tasks.copies import digest_of, draws_on, place_of
from agora.tasks.suite import Suite, load_suite

SCENARIO = parse(
    """
name: copies
seed: 7
stages:
  - name: one
    episodes: 4
    world: {name: folder, path: corridor, scenarios: [counterflow]}
    robots: scenario
    obstacles: scenario
""",
    Suite,
    "copies.yaml",
)
STAGE = SCENARIO.stages[0]
START = SCENARIO.start("one", 0)
DEMO = load_suite("demo")


def test_episodes_of_one_scenario_have_equal_starts_and_all_episodes_of_demo_differ():
    assert len({digest_of(STAGE, SCENARIO.start("one", k)) for k in range(4)}) == 1
    digests = [digest_of(DEMO.stage(stage), DEMO.start(stage, k)) for stage, k in DEMO.entries()]
    assert len(digests) == len(set(digests)) == 24


def test_number_and_seed_of_an_episode_and_the_name_of_its_stage_are_not_in_the_digest():
    other = replace(START, entry="other/stage/7", seed=99)
    assert digest_of(replace(STAGE, name="other", episodes=9, seed=99), other) == digest_of(STAGE, START)


@pytest.mark.parametrize(
    "change",
    [{"timeout": 7.0}, {"goal_tolerance": 0.31}, {"replay_phase": 0.5}, {"names": ("someone",)}],
    ids=lambda one: next(iter(one)),
)
def test_every_part_of_a_start_is_in_the_digest(change):
    assert digest_of(STAGE, replace(START, **change)) != digest_of(STAGE, START)


def test_a_place_moved_by_a_millimetre_is_another_start():
    robot = START.robots[0]
    moved = replace(START, robots=(replace(robot, pose=robot.pose + np.array([0.001, 0.0, 0.0])),))
    assert digest_of(STAGE, moved) != digest_of(STAGE, START)


def test_the_conditions_of_a_stage_are_in_the_digest():
    for other in (
        replace(STAGE, simulator=Named.of("simulators", "native", walls="centre")),
        replace(STAGE, pedestrians="tracked"),
    ):
        assert digest_of(other, START) != digest_of(STAGE, START)


def test_a_place_is_identified_by_its_map_and_not_only_by_its_name():
    places = [place_of(DEMO.start(stage, k)) for stage, k in DEMO.entries()]
    assert [
        len({place for place, (stage, _) in zip(places, DEMO.entries(), strict=True) if stage == one.name}) for one in DEMO.stages
    ] == [1] * 4
    assert len(set(places)) == 4 and places[0].startswith("hall#")
    generated = load_suite("generated")
    first, second, third = (place_of(generated.start("canteen", k)) for k in range(3))
    assert first == third != second


def test_randomness_counts_only_if_something_is_drawn_after_the_start():
    assert not draws_on(STAGE, START)
    for change in ({"robot": "jackal_barn_noisy"}, {"simulator": Named.of("simulators", "mujoco")}):
        assert draws_on(replace(STAGE, **change), START)
    assert draws_on(load_suite("social").stage("canteen"), START), "people's pace fluctuates"
