"""Lessons: the teacher's actions are learned, and what the critic learns are discounted rewards."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.learning.trainers.runs import Notes, trained

from agora.errors import DivergedError
from agora.interfaces import Shape
from agora.learning.rewards import Reward
from agora.learning.trainers.imitation import Course, Lessons, _School
from agora.learning.trainers.ppo import Ppo
from agora.learning.trainers.shares import Shares
from agora.policies.commands import COMMANDS, Commands
from agora.policies.encoding import Observe
from agora.policies.networks.judge import Judge
from agora.policies.networks.mlp import Mlp
from agora.tasks.suite import load_suite
from agora.testing import check_trainer

SEE = Observe(beams=0, pedestrians=2)
ONE = Shares(1)
SMALL = {"worlds": 8, "horizon": 12, "updates": 30, "batch": 4}


def network(log_std=-0.5):
    torch.manual_seed(3)
    return Mlp((24,), "tanh").learner(Shape(SEE, 3, log_std=log_std))


def taught(lessons, network, shares=ONE):
    notes = Notes(load_suite("crowdnav_training"), "circle")
    return list(Course(lessons, network, notes, shares, Reward(), 0.9, 1.0).whole())


def test_a_network_comes_to_do_what_its_teacher_does():
    pupil = network()
    progress = taught(Lessons("go_to_goal", rounds=8, mixing=0, rate=0.01, **SMALL), pupil)
    errors = [one.values["action_loss"] for one in progress]
    assert errors[-1] < 0.1 * errors[0]
    assert [one.steps for one in progress] == [96 * k for k in range(1, 9)]


def test_a_judge_of_commands_learns_on_several_stages_what_its_teacher_does():
    torch.manual_seed(3)
    pupil = Judge((24, 16), (24, 12)).learner(Shape(Commands(people=3), 1))
    notes, lessons = Notes(load_suite("planners_training"), "crowd"), Lessons("dwa", rounds=6, mixing=2, rate=0.003, **SMALL)
    progress = list(Course(lessons, pupil, notes, ONE, Reward(), 0.9, 1.0, ("frontal_approach",)).whole())
    errors = [one.values["action_loss"] for one in progress]
    assert errors[-1] < 0.8 * errors[0] < 0.8 * np.log(len(COMMANDS)) + 0.2


def test_the_network_drives_more_and_more():
    progress = taught(Lessons("go_to_goal", rounds=4, mixing=2, **SMALL), network())
    assert [one.values["teacher_drives"] for one in progress] == [1.0, 0.5, 0.0, 0.0]


def test_lessons_are_the_same_when_they_are_given_again():
    one, other = (taught(Lessons("orca", rounds=2, mixing=1, **SMALL), network()) for _ in range(2))
    assert repr(one) == repr(other)


def test_lessons_in_shares_are_those_of_whole_batches_whatever_the_number_of_threads(monkeypatch):
    found = {}
    for name, steps, threads in (("whole", 1000, 1), ("shares", 24, 1), ("threads", 24, 3)):
        monkeypatch.setattr("agora.learning.trainers.shares._STEPS", steps)
        pupil, shares = network(), Shares(threads)
        rounds = taught(Lessons("orca", rounds=2, mixing=1, **SMALL | {"batch": 5}), pupil, shares)
        shares.close()
        found[name] = [list(one.values.values()) for one in rounds], [weight.detach().numpy() for weight in pupil.parameters()]
    assert repr(found["shares"]) == repr(found["threads"])
    for kind in range(2):
        for whole, some in zip(found["whole"][kind], found["shares"][kind], strict=True):
            assert some == pytest.approx(whole, abs=1e-4, nan_ok=True)


def test_returns_are_discounted_rewards_that_end_with_the_episode():
    school = object.__new__(_School)
    school._discount = np.float32(0.5)
    rewards = [np.float32([1.0, 4.0]), np.float32([2.0, 0.0]), np.float32([-1.0, 8.0])]
    ended = [np.array([False, True]), np.array([False, False]), np.array([True, False])]
    returns = school._returns(rewards, ended, np.float32([100.0, 2.0]))
    assert returns.tolist() == [[1.0 + 0.5 * (2.0 - 0.5), 4.0], [2.0 - 0.5, 0.5 * 9.0], [-1.0, 9.0]]


def test_lessons_that_come_to_numbers_that_are_not_finite_stop():
    with pytest.raises(DivergedError, match="lessons: the action and value losses are"):
        taught(Lessons("go_to_goal", rounds=3, mixing=0, **SMALL | {"rate": 1e30}), network())


def test_a_training_that_begins_with_lessons_keeps_the_contract():
    lessons = Lessons("go_to_goal", rounds=2, mixing=1, **SMALL)
    ppo = Ppo(observe=SEE, network=Mlp((8,)), lessons=lessons, steps=600, worlds=4, horizon=25, lap=2, validate=1)
    suite = load_suite("crowdnav_training")
    check_trainer(ppo, suite, "circle")
    assert trained(ppo, suite, "circle").validated[:3] == [1, 2, 2 + 1], "after both lessons, and after the first round"
