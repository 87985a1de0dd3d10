"""GA3C-CADRL's network: what PyTorch trains is what drives; its reward and its ground are the published ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from agora.core.recording import Outcome
from agora.errors import InputError
from agora.interfaces import Shape, Transition
from agora.learning.cadrl_reward import CadrlReward
from agora.learning.env import AgoraVectorEnv
from agora.learning.training import load_training
from agora.policies.agents import CHOICES, Agents
from agora.policies.encoding import Observe
from agora.policies.joint_state import PERSON, ROBOT
from agora.policies.learners.ga3c import read
from agora.policies.networks import ga3c
from agora.policies.networks.ga3c import Ga3cNetwork
from agora.tasks.suite import load_suite
from agora.testing import check_trainer
from agora.world.records import RUNNING

PEOPLE, ROWS = 4, 9
SEE = Agents(people=PEOPLE)


@pytest.fixture
def network():
    torch.manual_seed(8)
    made = Ga3cNetwork(width=0.3).learner(Shape(SEE, 2, period=0.2))
    torch.nn.init.normal_(made.choice.weight, 0.0, 0.5)
    return made


@pytest.fixture
def seen(rng):
    """(N, D) rows with 0, 1, ... 4 others and again; slots not in use hold zeros."""
    out = rng.normal(0.0, 2.0, (ROWS, SEE.length)).astype(np.float32)
    turn = rng.uniform(-np.pi, np.pi, ROWS)
    out[:, :3] = np.abs(out[:, :3])
    out[:, 5:7] = np.stack([np.cos(turn), np.sin(turn)], 1)
    slots = out[:, ROBOT:].reshape(ROWS, PEOPLE, PERSON)
    slots[..., -1] = 1.0
    for n in range(ROWS):
        slots[n, n % (PEOPLE + 1) :] = 0.0
    return out


def test_pytorch_and_the_kernels_answer_the_same_among_nobody_one_and_several(network, seen):
    for one, other in zip(read(torch.from_numpy(seen)), ga3c.read(seen), strict=True):
        assert np.asarray(one) == pytest.approx(other, abs=1e-5)
    policy = network.policy({})
    with torch.no_grad():
        scores, values, _ = network(torch.from_numpy(seen)[None], torch.zeros(ROWS, 0), torch.zeros(1, ROWS, dtype=torch.bool))
    assert scores.shape == (1, ROWS, 11) and values.shape == (1, ROWS)
    assert policy.network.scores(policy.arrays, seen) == pytest.approx(scores[0].numpy(), abs=1e-5)
    assert np.array_equal(policy(seen), CHOICES[scores[0].argmax(-1).numpy()])
    assert len({tuple(action) for action in policy(seen)}) > 2


def test_steps_and_rows_are_seen_alone(network, seen):
    with torch.no_grad():
        many = torch.from_numpy(seen[:8]).view(2, 4, -1)
        scores, values, _ = network(many, torch.zeros(4, 0), torch.zeros(2, 4, dtype=torch.bool))
        one, alone, _ = network(many[1:, 2:3], torch.zeros(1, 0), torch.ones(1, 1, dtype=torch.bool))
    assert one[0, 0].numpy() == pytest.approx(scores[1, 2].numpy(), abs=1e-6) and float(alone) == pytest.approx(float(values[1, 2]))


def test_the_network_has_the_published_sizes():
    network = Ga3cNetwork().learner(Shape(Agents(), 2, period=0.2))
    shapes = {name: tuple(weights.shape) for name, weights in network.named_parameters() if "weight" in name}
    assert shapes == {
        "lstm.weight_ih": (256, 7),
        "lstm.weight_hh": (256, 64),
        "hidden.0.weight": (256, 68),
        "hidden.2.weight": (256, 256),
        "choice.weight": (11, 256),
        "critic.weight": (1, 256),
    }


def test_another_encoding_or_period_is_refused():
    with pytest.raises(InputError, match="'ga3c' sees with the encoding agents, got Observe"):
        Ga3cNetwork().learner(Shape(Observe(8), 2, period=0.2))
    with pytest.raises(InputError, match=r"period must be the control period, 0.25 s, got 0.2"):
        Ga3cNetwork().learner(Shape(Agents(), 2, period=0.25))


def test_its_training_can_be_made_and_keeps_to_a_checkpoint():
    ppo = load_training("ga3c_cadrl").trainer.part
    assert (ppo.observe.people, ppo.reward) == (3, CadrlReward(progress=0.1))
    few = replace(ppo, network=Ga3cNetwork(0.1), worlds=4, horizon=6, batches=2, epochs=1, lap=2, validate=1, steps=200)
    check_trainer(few, load_suite("ga3c_training"), "agents")


@pytest.mark.parametrize(
    ("outcome", "clearance", "robots", "reward"),
    [
        (RUNNING, np.inf, np.inf, 0.0),
        (RUNNING, np.inf, 0.21, 0.0),
        (RUNNING, np.inf, 0.2, -0.1 - 0.2 / 2),
        (RUNNING, np.inf, 0.1, -0.1 - 0.1 / 2),
        (RUNNING, 0.06, 0.5, -0.1 - 0.06 / 2),
        (RUNNING, np.inf, -1e-3, -0.1),
        (Outcome.REACHED, np.inf, 0.1, 1.0),
        (Outcome.ROBOT_COLLISION, np.inf, -0.1, -0.25),
        (Outcome.PEDESTRIAN_COLLISION, -0.1, np.inf, -0.25),
        (Outcome.WALL_COLLISION, np.inf, np.inf, -0.25),
        (Outcome.OUT_OF_MAP, np.inf, np.inf, -0.25),
        (Outcome.TIMEOUT, np.inf, 0.1, 0.0),
    ],
)
def test_the_reward_is_that_of_the_published_code(outcome, clearance, robots, reward):
    one = np.ones(1, np.float32)
    facts = {"robots": one * np.float32(robots)}
    brought = Transition(np.array([outcome]), one * np.float32(0.13), one * np.float32(clearance), 0.2, facts)
    assert float(CadrlReward()(brought)[0]) == pytest.approx(reward, abs=1e-6)
    assert float(CadrlReward(progress=2.0)(brought)[0]) == pytest.approx(reward + 0.26, abs=1e-6)
    assert CadrlReward().asks == {"robots"}


def test_a_reward_that_cannot_be_is_refused():
    with pytest.raises(InputError, match="^close: expected a finite number"):
        CadrlReward(close=np.nan)
    with pytest.raises(InputError, match="^distance: expected a number of at least 0"):
        CadrlReward(distance=-0.1)


def test_the_clearance_to_other_robots_is_that_of_the_nearest_at_the_end_of_the_step():
    told = []

    class Told(CadrlReward):
        def __call__(self, transition):
            told.append(transition.facts["robots"])
            return super().__call__(transition)

    env = AgoraVectorEnv(load_suite("ga3c_training"), "agents", 2, episodes=4, observe=SEE, reward=Told())
    env.reset()
    seen, *_ = env.step(np.tile(np.float32([1.0, 0.5]), (8, 1)))
    env.close()
    slots = seen[:, ROBOT:].reshape(8, PEOPLE, PERSON)
    assert (slots[:, :3, -1] == 1.0).all() and not slots[:, 3].any()
    assert told[0] == pytest.approx(np.hypot(slots[:, 0, 0], slots[:, 0, 1]) - 0.6, abs=1e-5)


def test_the_ground_has_two_to_four_robots_and_its_training_is_kept_apart():
    suite, training = load_suite("ga3c"), load_suite("ga3c_training")
    assert [len(suite.start(stage.name, 0).robots) for stage in suite.stages] == [2, 3, 4]
    assert all(stage.episodes >= 100 and stage.goal_tolerance == 0.2 for stage in suite.stages)
    assert suite.split == "test" and training.split == "training" and suite.seed != training.seed
    for k in range(20):
        start = suite.start("agents_4", k)
        poses, goals = (
            np.array([part[:2] for part in parts]) for parts in zip(*((r.pose, r.goals[0]) for r in start.robots), strict=True)
        )
        assert np.hypot(*poses.T).max() <= 5.0 + 0.71 and np.hypot(*(goals - poses).T).min() >= 4.0 - 1e-6
        apart = np.hypot(*(poses[:, None] - poses[None]).transpose(2, 0, 1)) + 9.0 * np.eye(4)
        assert apart.min() >= 2 * 0.3 + 0.2 - 1e-6
        assert {robot.model.name for robot in start.robots} == {"crowdnav"} and start.crowd_size == 0
