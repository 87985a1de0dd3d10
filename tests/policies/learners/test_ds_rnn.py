"""DS-RNN's network: what PyTorch trains is what drives, and whom it remembers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from agora.core.recording import Outcome
from agora.errors import InputError
from agora.interfaces import Shape, Transition
from agora.learning.rewards import Reward
from agora.learning.training import load_training
from agora.policies.encoding import Observe
from agora.policies.joint_state import PERSON, ROBOT
from agora.policies.networks.ds_rnn import DsRnnNetwork
from agora.policies.robot_and_people import RobotAndPeople
from agora.tasks.suite import load_suite
from agora.testing import check_trainer
from agora.world.records import RUNNING

PEOPLE, STEPS, ROWS = 4, 6, 7
SEE = RobotAndPeople(people=PEOPLE)


def persons_of(seen):
    return seen[..., ROBOT:].reshape(*seen.shape[:-1], PEOPLE, PERSON)


@pytest.fixture
def seen(rng):
    """(T, N, D): people come, go and change their order; in row 2 there is nobody, in row 3 one person."""
    out = rng.normal(0.0, 2.0, (STEPS, ROWS, SEE.length)).astype(np.float32)
    marks = rng.permuted(np.tile([0.0, 4.0, 1.0, -1.0, 19.0, 77.0], (STEPS, ROWS, 1)), axis=-1)[..., :PEOPLE]
    marks[:, 2], marks[:, 3, 1:], marks[:, 3, 0] = 0.0, 0.0, 4.0
    persons_of(out)[...] *= (marks != 0)[..., None]
    persons_of(out)[..., -1] = marks
    return out


@pytest.fixture
def begins():
    first = np.zeros((STEPS, ROWS), np.bool_)
    first[0], first[3, 1], first[2, 5] = True, True, True
    return first


def network_of(whole=False, width=0.25):
    torch.manual_seed(8)
    return DsRnnNetwork(width).learner(Shape(replace(SEE, places_only=not whole), 2))


def torch_of(network, seen, state, begins):
    with torch.no_grad():
        given = (torch.from_numpy(np.ascontiguousarray(one)) for one in (seen, state, begins))
        return [one.numpy() for one in network(*given)]


def zeros(network, rows=ROWS):
    return np.zeros((rows, network.state_size), np.float32)


@pytest.mark.parametrize("whole", [False, True], ids=["place", "whole"])
def test_pytorch_and_the_kernels_answer_the_same_over_episodes(rng, seen, begins, whole):
    network = network_of(whole)
    actor, state = network.policy({}), rng.normal(size=zeros(network).shape).astype(np.float32)
    mean, value, last = torch_of(network, seen, state, begins)
    assert mean.shape == (STEPS, ROWS, 2) and value.shape == (STEPS, ROWS) and actor.state_size == network.state_size
    for t in range(STEPS):
        state = np.where(begins[t, :, None], np.float32(0.0), state)
        actions, state = actor.step(seen[t], state)
        assert actions == pytest.approx(mean[t], abs=1e-5)
    assert state == pytest.approx(last, abs=1e-5)


def test_steps_taken_one_by_one_are_those_taken_together(seen, begins):
    network = network_of()
    together, _, last = torch_of(network, seen, zeros(network), begins)
    state, one_by_one = zeros(network), []
    for t in range(STEPS):
        mean, _, state = torch_of(network, seen[t : t + 1], state, begins[t : t + 1])
        one_by_one.append(mean[0])
    assert np.stack(one_by_one) == pytest.approx(together, abs=1e-6) and state == pytest.approx(last, abs=1e-6)


def test_an_episode_that_begins_remembers_nothing(rng, seen):
    network = network_of()
    begins = np.zeros((STEPS, ROWS), np.bool_)
    begins[2] = True
    other = rng.normal(size=zeros(network).shape).astype(np.float32)
    first, second = (torch_of(network, seen, state, begins)[0] for state in (zeros(network), other))
    assert np.abs(first[:2] - second[:2]).max() > 0.01 and first[2:].tobytes() == second[2:].tobytes()


def test_a_row_does_not_depend_on_the_others_to_the_bit(rng, seen):
    network = network_of(width=0.3)
    actor, state = network.policy({}), rng.normal(size=zeros(network).shape).astype(np.float32)
    actions, after = actor.step(seen[0], state)
    for rows in (slice(0, 1), slice(3, 4), slice(2, 7)):
        alone, kept = actor.step(np.ascontiguousarray(seen[0, rows]), np.ascontiguousarray(state[rows]))
        assert alone.tobytes() == actions[rows].tobytes() and kept.tobytes() == after[rows].tobytes()


def test_the_order_in_which_people_are_seen_means_nothing_and_memory_follows_the_person(rng, seen):
    actor, network = network_of().policy({}), network_of()
    states = [zeros(network), zeros(network)]
    for t in range(STEPS):
        shuffled = seen[t].copy()
        persons_of(shuffled)[...] = persons_of(seen[t])[:, rng.permutation(PEOPLE)]
        answers = [actor.step(one, state) for one, state in zip((seen[t], shuffled), states, strict=True)]
        assert answers[1][0] == pytest.approx(answers[0][0], abs=1e-5)
        states = [after for _, after in answers]


def test_memory_counts_and_a_stranger_has_none():
    actor, network = network_of().policy({}), network_of()
    row = np.zeros((1, SEE.length), np.float32)
    row[0, :5] = 5.0, 1.0, 0.3, 0.4, 0.1
    persons_of(row)[0, 0] = 1.5, -0.7, 0.1, 0.9, 0.35, 6.0
    _, known = actor.step(row, zeros(network, 1))
    same, _ = actor.step(row, known)
    persons_of(row)[0, 0, -1] = 7.0
    stranger, _ = actor.step(row, known)
    assert np.abs(same - stranger).max() > 1e-3


def test_who_is_not_there_changes_nothing_and_with_nobody_the_crowd_is_zero(rng, seen):
    actor, network = network_of().policy({}), network_of()
    state = rng.normal(size=zeros(network).shape).astype(np.float32)
    empty = persons_of(seen[0])[..., -1] == 0
    other = seen[0].copy()
    persons_of(other)[..., :-1][empty] = rng.normal(0.0, 9.0, (int(empty.sum()), PERSON - 1))
    assert actor.step(other, state)[0].tobytes() == actor.step(seen[0], state)[0].tobytes()
    narrow = DsRnnNetwork(0.25).learner(Shape(RobotAndPeople(people=1), 2))
    narrow.load_state_dict(network.state_dict())
    keep = network.edge_size + network.node_size
    alone = actor.step(seen[0, 2:4], np.zeros_like(state[2:4]))
    few = narrow.policy({}).step(np.ascontiguousarray(seen[0, 2:4, : ROBOT + PERSON]), np.zeros((2, narrow.state_size), np.float32))
    assert few[0].tobytes() == alone[0].tobytes() and few[1][:, :keep].tobytes() == alone[1][:, :keep].tobytes()
    assert not alone[1][0, keep:].any(), "a robot that sees nobody remembers nobody"


def test_the_published_width_has_as_many_weights_as_the_published_file():
    # checkpoints/27776.pt of CrowdNav_DSRNN has 3,904,861 bytes: float32 numbers, and less than 200 bytes about each of 48 arrays
    network = DsRnnNetwork().learner(Shape(RobotAndPeople(), 2))
    ours = sum(weights.numel() for weights in network.parameters())
    heading, unused = (
        7 * 3 + 3,
        (256 * 64 + 64) + (256 * 2 + 2),
    )  # the layer that reads the heading; edge_embed, human_node_final_linear
    assert 0 < 3_904_861 - 4 * (ours + heading + unused) < 48 * 200


def test_its_training_can_be_made_and_keeps_to_a_checkpoint():
    suite = load_suite("dsrnn_training")
    ppo = load_training("ds_rnn").trainer.part
    assert ppo.reward == Reward(2.0, 10.0, -20.0, -10.0, 0.25)
    few = replace(ppo, network=DsRnnNetwork(0.05), worlds=4, horizon=6, batches=2, epochs=1, lap=2, validate=1, steps=96)
    check_trainer(few, suite, "circle")
    with pytest.raises(InputError, match="'ds_rnn' sees with the encoding robot_and_people, got Observe"):
        DsRnnNetwork().learner(Shape(Observe(8), 2))


def test_the_reward_of_a_step_is_the_published_one():
    # crowd_sim.py: 10 at the goal, -20 in a collision, 10 (d - 0.25) dt closer than 0.25 m, else twice the way that was made good
    reward, gone = load_training("ds_rnn").trainer.part.reward, 0.25
    step = lambda outcome, progress, clearance: float(  # noqa: E731
        reward(Transition(np.array([outcome]), np.float32([progress]), np.float32([clearance]), gone))[0]
    )
    assert step(RUNNING, 0.21, 1.3) == pytest.approx(2 * 0.21)
    assert step(RUNNING, 0.0, 0.13) == pytest.approx(10 * (0.13 - 0.25) * gone)
    assert step(Outcome.REACHED, 0.0, 0.9) == pytest.approx(10.0)
    assert step(Outcome.PEDESTRIAN_COLLISION, 0.0, -0.1) == pytest.approx(-20.0)
    assert step(Outcome.TIMEOUT, 0.0, 3.0) == 0.0
