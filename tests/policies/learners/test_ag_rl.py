"""AG-RL's network and reward: what PyTorch trains is what drives, whom it attends to, and what being in somebody's way costs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch

from agora.core.recording import Outcome
from agora.errors import InputError
from agora.interfaces import Shape, Transition
from agora.learning.env import AgoraVectorEnv
from agora.learning.rewards import Reward
from agora.learning.training import load_training
from agora.policies.encoding import Observe
from agora.policies.joint_state import PERSON, ROBOT
from agora.policies.networks.ag_rl import AgRlNetwork
from agora.policies.robot_and_people import RobotAndPeople
from agora.tasks.suite import load_suite
from agora.testing import check_trainer
from agora.world.records import RUNNING

PEOPLE, STEPS, ROWS = 5, 4, 7
SEE = RobotAndPeople(people=PEOPLE, places_only=False)


def persons_of(seen):
    return seen[..., ROBOT:].reshape(*seen.shape[:-1], -1, PERSON)


@pytest.fixture
def seen(rng):
    """(T, N, D): people stand in any slots; in row 2 there is nobody, in row 3 one person in the third slot."""
    out = rng.normal(0.0, 2.0, (STEPS, ROWS, SEE.length)).astype(np.float32)
    marks = np.where(rng.random((STEPS, ROWS, PEOPLE)) < 0.6, 3.0, 0.0)
    marks[:, 2], marks[:, 3] = 0.0, [0.0, 0.0, 8.0, 0.0, 0.0]
    persons_of(out)[...] *= (marks != 0)[..., None]
    persons_of(out)[..., -1] = marks
    return out


@pytest.fixture
def begins():
    first = np.zeros((STEPS, ROWS), np.bool_)
    first[0], first[2, 1] = True, True
    return first


def network_of(see=SEE, width=0.2):
    torch.manual_seed(8)
    return AgRlNetwork(width).learner(Shape(see, 2))


def torch_of(network, seen, state, begins):
    with torch.no_grad():
        given = (torch.from_numpy(np.ascontiguousarray(one)) for one in (seen, state, begins))
        return [one.numpy() for one in network(*given)]


def states(rng, network, rows=ROWS):
    return rng.normal(size=(rows, network.state_size)).astype(np.float32)


@pytest.mark.parametrize("places_only", [False, True])
def test_pytorch_and_the_kernels_answer_the_same_over_episodes(rng, seen, begins, places_only):
    network = network_of(replace(SEE, places_only=places_only))
    actor, state = network.policy({}), states(rng, network)
    mean, value, last = torch_of(network, seen, state, begins)
    assert mean.shape == (STEPS, ROWS, 2) and value.shape == (STEPS, ROWS) and actor.state_size == network.state_size
    for t in range(STEPS):
        state = np.where(begins[t, :, None], np.float32(0.0), state)
        actions, state = actor.step(seen[t], state)
        assert actions == pytest.approx(mean[t], abs=1e-5)
    assert state == pytest.approx(last, abs=1e-5)


def test_with_nobody_anywhere_pytorch_and_the_kernels_answer_the_same(rng, seen, begins):
    network = network_of()
    persons_of(seen)[...] = 0.0
    mean, _, _ = torch_of(network, seen, states(rng, network) * 0, begins)
    actions, _ = network.policy({}).step(seen[0], np.zeros((ROWS, network.state_size), np.float32))
    assert np.isfinite(mean).all() and actions == pytest.approx(mean[0], abs=1e-5)


def test_a_gradient_is_finite_where_nobody_is(seen, begins):
    network = network_of()
    mean, value, _ = network(*(torch.from_numpy(one) for one in (seen, np.zeros((ROWS, network.state_size), np.float32), begins)))
    (mean.square().sum() + value.sum()).backward()
    assert all(weights.grad is None or torch.isfinite(weights.grad).all() for weights in network.parameters())
    assert float(network.asks.weight.grad.abs().max()) > 0.0, "people attend to each other"


def test_a_row_does_not_depend_on_the_others_to_the_bit(rng, seen):
    network = network_of(width=0.13)
    actor, state = network.policy({}), states(rng, network)
    actions, after = actor.step(seen[0], state)
    for rows in (slice(0, 1), slice(2, 4), slice(3, 7)):
        alone, kept = actor.step(np.ascontiguousarray(seen[0, rows]), np.ascontiguousarray(state[rows]))
        assert alone.tobytes() == actions[rows].tobytes() and kept.tobytes() == after[rows].tobytes()


def test_the_order_of_people_means_nothing_and_empty_slots_change_no_bit(rng, seen):
    network = network_of()
    actor, state = network.policy({}), states(rng, network)
    known = actor.step(seen[0], state)[0]
    shuffled, scribbled = seen[0].copy(), seen[0].copy()
    persons_of(shuffled)[...] = persons_of(seen[0])[:, rng.permutation(PEOPLE)]
    assert actor.step(shuffled, state)[0] == pytest.approx(known, abs=1e-5)
    empty = persons_of(scribbled)[..., -1] == 0
    persons_of(scribbled)[..., :-1][empty] = rng.normal(0.0, 9.0, (int(empty.sum()), PERSON - 1))
    assert actor.step(scribbled, state)[0].tobytes() == known.tobytes()
    wide = network_of(replace(SEE, people=PEOPLE + 3)).policy({})
    more = np.concatenate([seen[0], np.zeros((ROWS, 3 * PERSON), np.float32)], 1)
    assert wide.step(more, state)[0].tobytes() == known.tobytes()


def test_two_people_know_of_each_other():
    """With its own place as it is, what is made of a person changes as the other person moves."""
    network, row = network_of(), np.zeros((2, SEE.length), np.float32)
    row[:, :5] = 5.0, 1.0, 0.3, 0.4, 0.1
    persons_of(row)[:, 0] = 1.5, -0.7, 0.1, 0.9, 0.35, 6.0
    persons_of(row)[:, 1] = 1.9, 0.4, -0.6, 0.2, 0.35, 7.0
    persons_of(row)[1, 1, :2] = 2.9, -0.4
    persons = torch.from_numpy(persons_of(row))
    with torch.no_grad():
        crowd = network._crowd(persons, persons[..., -1] != 0).numpy()
    assert np.abs(crowd[0, 0] - crowd[1, 0]).max() > 1e-3 and not crowd[:, 2:].any()


def test_it_foresees_five_places_at_constant_velocity():
    network = network_of()
    read = network._futures(torch.tensor([[1.0, -2.0, 0.8, 0.4, 0.35, 4.0]]))[0].tolist()
    assert (network.network.periods, network.network.period) == (5, 0.25)
    expected = [v for k in range(6) for v in (1.0 + 0.2 * k, -2.0 + 0.1 * k)]
    assert read == pytest.approx([*expected, 0.35], abs=1e-6)
    assert len(network_of(replace(SEE, places_only=True))._futures(torch.zeros(1, 6))[0]) == 12


def test_the_published_sizes():
    network = network_of(width=1.0)
    assert [layer.out_features for layer in (network.person, network.people, network.asks, network.crowd)] == [128, 512, 512, 256]
    assert (network.network.heads, network.state_size, network.query.out_features) == (8, 128, 64)
    assert [network.own.out_features, network.output.out_features, network.actor[0].out_features] == [64, 256, 256]


def test_its_training_can_be_made_and_keeps_to_a_checkpoint():
    ppo = load_training("ag_rl").trainer.part
    assert ppo.reward == Reward(2.0, 10.0, -20.0, -10.0, 0.25, foreseen=-20.0)
    lessons = replace(ppo.lessons, rounds=2, mixing=1, worlds=4, horizon=6, updates=2, batch=2)
    few = replace(
        ppo, network=AgRlNetwork(0.05), lessons=lessons, worlds=4, horizon=6, batches=2, epochs=1, lap=2, validate=1, steps=144
    )
    check_trainer(few, load_suite("attngraph_training"), "crossing")
    with pytest.raises(InputError, match="'ag_rl' sees with the encoding robot_and_people, got Observe"):
        AgRlNetwork().learner(Shape(Observe(8), 2))


@pytest.mark.parametrize(("periods", "worth"), [(1.0, -5.0), (2.0, -2.5), (3.0, -1.25), (5.0, -0.3125), (np.inf, 0.0)])
def test_being_where_somebody_will_be_costs_the_published_share(periods, worth):
    reward = load_training("ag_rl").trainer.part.reward
    held = {"foreseen": np.float32([periods])}
    calm = Transition(np.array([RUNNING]), np.float32([0.0]), np.float32([1.3]), 0.25, held)
    assert reward(calm) == pytest.approx([worth])
    assert reward(replace(calm, outcome=np.array([Outcome.REACHED]))) == pytest.approx([10.0 + worth])


@dataclass(frozen=True)
class Told:
    """A reward of nothing that keeps what it was told."""

    told: list[Transition]
    asks: frozenset[str] = frozenset({"foreseen"})

    def terms(self, transition: Transition) -> dict[str, np.ndarray]:
        return {}

    def __call__(self, transition: Transition) -> np.ndarray:
        self.told.append(transition)
        return np.zeros(len(transition.outcome), np.float32)


def test_who_is_foreseen_is_found_by_hand():
    told: list[Transition] = []
    env = AgoraVectorEnv("attngraph_training", "crossing", 9, episodes=9, observe=SEE, reward=Told(told), autoreset=False)
    env.reset(seed=3)
    world, found = env._parts[0].batch.world, []
    for _ in range(30):
        _, _, terminated, truncated, _ = env.step(np.zeros((9, 2), np.float32))
        people, robots = world.pedestrians, world.robots
        for w in range(9):
            soonest = np.inf
            for i in np.flatnonzero(people.active[w]):
                bodies = float(world.traits.radius[w, i]) + 0.3
                for k in (1, 2, 3, 4, 5):
                    ahead = people.x[w, i] + 0.25 * k * people.vx[w, i], people.y[w, i] + 0.25 * k * people.vy[w, i]
                    if np.hypot(ahead[0] - robots.x[w, 0], ahead[1] - robots.y[w, 0]) < bodies:
                        soonest = min(soonest, k)
            assert told[-1].facts["foreseen"][w] == soonest
            found.append(soonest)
        if (ended := terminated | truncated).any():
            env.reset(options={"reset_mask": ended})
    env.close()
    assert {1.0, 3.0, 5.0, np.inf} <= set(found)
