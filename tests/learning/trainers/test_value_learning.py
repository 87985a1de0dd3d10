"""Value learning with several robots: one policy drives all, who waits learns nothing, and who stands in a way is a person."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.learning.trainers.runs import Interrupted, Notes

from agora.draft.stage import Stage
from agora.episode import Conditions, Episodes
from agora.learning.trainers.value_learning import ValueLearning
from agora.policies.joint_state import GOAL, PERSON, ROBOT, JointState
from agora.policies.look_ahead import LookAhead, norm_rewards, pairs_of
from agora.policies.networks.sa_cadrl import SaCadrlNetwork
from agora.registry import Named
from agora.tasks.suite import Suite

AHEAD = LookAhead(norm=0.5)
SMALL = ValueLearning(
    SaCadrlNetwork(0.2, AHEAD),
    JointState(people=3),
    teacher="orca:padding=0.05,follow_path=false,wall_horizon=0,preferred_speed=1",
    demonstrations=6,
    epochs=1,
    more_stages=("three",),
    episodes=6,
    round=3,
    updates=2,
    batch=20,
    worlds=4,
)


def meets(name: str, count: int, **given: Any) -> Stage:
    """A stage whose robots change places across a circle."""
    circle = Named.of("robots_modes", "circle", count=count, radius=(2.0, 3.0), noise=0.3, even=False)
    world = Named.of("worlds", "open", width=16.0, height=16.0, x=-8.0, y=-8.0)
    stage = {"robots": circle, "world": world, "obstacles": Named.of("obstacles_modes", "none"), "robot": "crowdnav"}
    return Stage(name, **(stage | {"episodes": 6, "timeout": 12.0} | given))


def suite() -> Suite:
    return Suite("small", (meets("two", 2), meets("three", 3)), seed=5)


def played(trainer: ValueLearning, first: int, count: int) -> list[tuple[np.ndarray, np.ndarray, str]]:
    """The teacher's episodes."""
    run = Notes(suite(), "two")
    worlds = trainer._worlds(run)
    episodes = list(trainer._episodes(run, worlds, None, first, count))
    worlds.close()
    return episodes


def test_every_robot_of_every_stage_plays_each_episode_once_without_the_steps_in_which_it_waits():
    [teacher] = SMALL.named_parts()
    expected = []
    whole = replace(suite(), seed=1)
    for name in ("two", "three"):
        starts = [whole.start(name, k) for k in range(2, 6)]
        for _, robots in Episodes(starts, teacher.part, Conditions.of(whole.stage(name))):
            expected += [(one.outcome.label, len(one.time) - 1) for one in robots]
    found = [(outcome, len(states)) for states, _, outcome in played(SMALL, 2, 4)]
    assert len(found) == 4 * (2 + 3)
    assert len({steps for _, steps in expected}) > 5, "robots of a world end one after the other"
    assert [outcome for outcome, _ in sorted(found)] == [outcome for outcome, _ in sorted(expected)]
    assert sorted(steps for _, steps in found) == pytest.approx(sorted(steps for _, steps in expected), abs=1)


def test_other_robots_are_people_and_to_come_near_them_or_on_their_wrong_side_costs_something():
    near, wrong = 0, 0
    for states, rewards, outcome in played(SMALL, 0, 6):
        assert (states[:, ROBOT + PERSON - 1] == 1.0).all(), "the others are seen"
        assert states[0, GOAL] > 3.0
        pairs, _ = pairs_of(states[1:])
        clearance = pairs[:, :, 11] - pairs[:, :, 12]
        present = states[1:, ROBOT + PERSON - 1 :: PERSON] > 0.5
        lack = np.maximum(0.2 - np.where(present, clearance, np.inf).min(1), 0.0)
        expected = -0.05 * lack + norm_rewards(states[:-1], states[1:], AHEAD)
        assert rewards[:-1] == pytest.approx(expected, abs=1e-5)
        assert rewards[-1] == pytest.approx({"reached": 1.0, "robot_collision": -0.25}.get(outcome, 0.0), abs=0.02)
        near += int((lack > 0.0).sum())
        wrong += int((expected < -0.05 * lack - 1e-4).sum())
    assert near > 10 and wrong > 10


def test_a_training_of_several_stages_that_was_killed_comes_to_the_same_policy():
    def run(**given: Any) -> Notes:
        notes = Notes(suite(), "two", **given)
        for _ in SMALL.train(notes):
            pass
        return notes

    whole = run()
    assert [point["episode"] for _, point in whole.curve if "epsilon" in point] == [6, 9, 12]
    killed = Notes(suite(), "two", dies_at=whole.curve[-1][0])
    with pytest.raises(Interrupted):
        for _ in SMALL.train(killed):
            pass
    rest = run(resumed=killed.kept)
    assert rest.curve == whole.curve[-1:]
    assert rest.kept[1].keys() == whole.kept[1].keys()
    assert all(rest.kept[1][name].tobytes() == array.tobytes() for name, array in whole.kept[1].items())


def test_the_first_round_tells_how_it_stands_while_the_teacher_drives_and_while_it_is_imitated():
    notes = Notes(suite(), "two")
    next(policy for policy in SMALL.train(notes) if policy is not None)
    assert notes.validated == [11], "the first comes soon"
    shown = [(steps, sorted(point)) for steps, point in notes.curve]
    ends = ["episode", "pedestrian_collision", "reached", "robot_collision", "timeout"]
    assert [names for _, names in shown] == [ends] * 10 + [["episode", "loss"]] * 9 + [sorted([*ends, "epsilon", "loss"])]
    assert [point["episode"] for _, point in notes.curve[:10]] == [3 * k // 5 for k in range(1, 11)]
    assert shown[0][0] < shown[9][0] == shown[-1][0]
    assert notes.curve[-1][1]["loss"] < notes.curve[10][1]["loss"]


def test_robots_that_wait_for_each_other_for_ever_learn_that_it_is_worth_nothing():
    late = replace(suite(), stages=(meets("two", 2, timeout=1.0), meets("three", 3, timeout=1.0)))
    notes = Notes(late, "two")
    for _ in SMALL.train(notes):
        pass
    assert all(point.get("timeout", 1.0) == 1.0 for _, point in notes.curve)
    values = notes.kept[1]["memory.values"]
    assert len(values) > 0 and values[: 6 * 5 * 10].max() <= 0.0
