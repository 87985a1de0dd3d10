"""Distributions of actions are those of PyTorch, and PPO's losses are the same with one of several actions."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from agora.interfaces import Shape
from agora.learning.trainers.ppo import Sequences, losses_of
from agora.policies.agents import CHOICES, Agents
from agora.policies.learners.distributions import Categorical, Normal
from agora.policies.networks.ga3c import Ga3cNetwork

TABLE = torch.from_numpy(CHOICES)


@pytest.fixture
def scores(rng):
    return torch.from_numpy(rng.normal(0.0, 2.0, (5, 7, len(CHOICES))).astype(np.float32))


def test_one_of_several_has_the_probabilities_and_the_entropy_of_pytorch(rng, scores):
    index = torch.from_numpy(rng.integers(0, len(CHOICES), (5, 7)))
    theirs, ours = torch.distributions.Categorical(logits=scores), Categorical(TABLE)
    assert ours.logs(TABLE[index], scores).numpy() == pytest.approx(theirs.log_prob(index).numpy(), abs=1e-5)
    assert float(ours.entropy(scores)) == pytest.approx(float(theirs.entropy().mean()), abs=1e-5)


def test_the_error_is_that_of_the_choice_nearest_to_what_a_teacher_wants(scores):
    wanted = TABLE[[4, 0, 9, 10, 5, 7, 2]].expand(5, -1, -1)
    logs = torch.log_softmax(scores, -1)[:, range(7), [4, 0, 9, 10, 5, 7, 2]]
    assert float(Categorical(TABLE).error(wanted + 0.01, scores)) == pytest.approx(float(-logs.mean()), rel=1e-5)
    means = scores[..., :2]
    assert float(Normal(torch.zeros(2)).error(wanted, means)) == pytest.approx(float((wanted - means).square().mean()), rel=1e-5)


def test_nothing_is_learned_where_a_teacher_wants_what_is_impossible(scores):
    wanted = TABLE[[4, 0, 9, 10, 5, 7, 2]].expand(5, -1, -1)
    scores[:, 2, 9] = -1e9
    scores.requires_grad_()
    error = Categorical(TABLE).error(wanted, scores)
    logs = torch.log_softmax(scores, -1)[:, [0, 1, 3, 4, 5, 6], [4, 0, 10, 5, 7, 2]]
    assert error.item() == pytest.approx(-logs.mean().item(), rel=1e-5)
    error.backward()
    assert not scores.grad[:, 2].any() and (scores.grad[:, 3, 10] < 0.0).all()
    assert Categorical(TABLE).error(wanted[:, 2:3], scores[:, 2:3]).item() == 0.0


def test_one_of_several_is_drawn_as_often_as_its_probability_says():
    scores = torch.tensor([0.3, -1.0, 2.0, -30.0, 0.0, 0.5, 1.0, -2.0, 0.1, 0.7, -0.5])
    ours, chance = Categorical(TABLE), torch.Generator().manual_seed(3)
    noise = ours.noise(2, 100_000, chance)
    assert noise.shape == (2, 100_000)
    actions = ours.draw(scores.expand(100_000, -1), noise[1])
    share = (actions[:, None] == TABLE).all(-1).float().mean(0)
    assert share.numpy() == pytest.approx(torch.softmax(scores, 0).numpy(), abs=6e-3)
    ends = torch.tensor([0.0, 1.0 - 2.0**-24])
    assert torch.equal(ours.draw(scores.expand(2, -1), ends), TABLE[[0, -1]])
    three = [scores, scores.flip(0), -scores]
    logs = ours.drawn(actions[:3, None], [one[None] for one in three], noise)
    for one, action, log in zip(three, actions, logs, strict=False):
        assert float(log) == pytest.approx(float(torch.log_softmax(one, 0)[(action == TABLE).all(-1)]))


def test_normal_actions_are_those_of_pytorch(rng):
    answers, noise = (torch.from_numpy(rng.normal(size=(6, 3))) for _ in range(2))
    log_std = torch.from_numpy(rng.normal(size=3))
    theirs, ours = torch.distributions.Normal(answers, log_std.exp()), Normal(log_std)
    actions = ours.draw(answers, noise)
    logs = ours.drawn(actions[None], [answers], noise[None])[0]
    assert actions.numpy() == pytest.approx((answers + log_std.exp() * noise).numpy())
    assert logs.numpy() == pytest.approx(theirs.log_prob(actions).sum(-1).numpy(), abs=1e-9)
    assert ours.logs(actions, answers).numpy() == pytest.approx(logs.numpy(), abs=1e-9)
    assert float(ours.entropy(answers)) == pytest.approx(float(theirs.entropy().sum(-1)[0]), abs=1e-9)
    assert ours.noise(4, 5, torch.Generator().manual_seed(1)).shape == (4, 5, 3)


def test_the_losses_of_ppo_are_those_of_pytorchs_distribution(rng):
    torch.manual_seed(2)
    observe = Agents(people=2)
    network = Ga3cNetwork(width=0.2).learner(Shape(observe, 2, period=0.2))
    seen = torch.from_numpy(rng.normal(size=(4, 6, observe.length)).astype(np.float32))
    index = torch.from_numpy(rng.integers(0, len(CHOICES), (4, 6)))
    logs, advantages, returns = (torch.from_numpy(rng.normal(-2.4, 0.2, (4, 6)).astype(np.float32)) for _ in range(3))
    counts = torch.from_numpy(rng.random((4, 6)) < 0.7)
    begins, state = torch.zeros(4, 6, dtype=torch.bool), torch.zeros(6, 0)
    batch = Sequences(seen, begins, state, TABLE[index], logs, advantages, returns, counts)
    losses = losses_of(network, batch.standard(), 0.2)
    answers, values, _ = network(seen, state, begins)
    theirs = torch.distributions.Categorical(logits=answers)
    gain = advantages[counts]
    gain = (gain - gain.mean()) / (gain.std() + 1e-8)
    ratio = (theirs.log_prob(index) - logs)[counts].exp()
    policy = -torch.minimum(gain * ratio, gain * ratio.clamp(0.8, 1.2)).mean()
    assert float(losses.policy.detach()) == pytest.approx(float(policy.detach()), abs=1e-6)
    assert float(losses.entropy.detach()) == pytest.approx(float(theirs.entropy()[counts].mean().detach()), abs=1e-6)
    value = (values - returns)[counts].square().mean()
    assert float(losses.value.detach()) == pytest.approx(float(value.detach()), rel=1e-5)
    assert float(losses.divergence) == pytest.approx(float((ratio - 1.0 - ratio.log()).mean().detach()), abs=1e-5)
