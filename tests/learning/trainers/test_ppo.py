"""The trainer computes what Stable-Baselines3's PPO computes, learns, and repeats its curve after an interruption."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.spaces import Box
from stable_baselines3 import PPO
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import VecMonitor
from tests.learning.trainers.runs import Interrupted, Notes, trained
from tests.suites import plane
from torch import Tensor

from agora.config import build_component, plain
from agora.errors import DivergedError, InputError, UnknownNameError
from agora.interfaces import Shape
from agora.learning.cadrl_reward import CadrlReward
from agora.learning.env import AgoraVectorEnv
from agora.learning.rewards import Reward
from agora.learning.sb3 import Sb3VecEnv
from agora.learning.trainers.episodes import advantages_of
from agora.learning.trainers.ppo import Ppo, Sequences, _Worlds, losses_of
from agora.learning.trainers.shares import Shares, ranges
from agora.learning.trainers.value_learning import ValueLearning
from agora.policies.encoding import Observe
from agora.policies.joint_state import JointState
from agora.policies.learners.actor_critic import ActorCritic, actor_critic
from agora.policies.learners.distributions import log_density
from agora.policies.networks.mlp import Mlp
from agora.policies.networks.sarl import SarlNetwork

BLIND = Observe(beams=0, goal_range=8.0)
NOTHING = Reward(0.0, 0.0, 0.0, 0.0, 0.0)
SMALL = Ppo(network=Mlp((8,)), observe=BLIND, steps=6 * 64, worlds=8, horizon=8, epochs=2, batches=2, lap=2, validate=1)
CURRICULUM = "- {dynamic: 2, goal_radius: 0.9}\n- {dynamic: 3, goal_radius: 0.5}\n- {dynamic: 1}\n"


class Recurrent(ActorCritic):
    """A network whose answers depend on the whole episode so far."""

    state_size = 5

    def __init__(self, shape: Shape) -> None:
        super().__init__(Mlp(), shape)
        self.cell = torch.nn.GRUCell(shape.observe.length, 5)
        self.mean, self.value = torch.nn.Linear(5, shape.actions), torch.nn.Linear(5, 1)

    def forward(self, seen: Tensor, state: Tensor, begins: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        states = []
        for t in range(len(seen)):
            state = self.cell(seen[t], state * ~begins[t][:, None])
            states.append(state)
        out = torch.stack(states)
        return self.mean(out), self.value(out)[..., 0], state

    def policy(self, about: Any) -> Any:
        return about


class Spaces(gymnasium.Env):
    """An environment that is never stepped."""

    observation_space, action_space = Box(-1.0, 1.0, (6,)), Box(-1.0, 1.0, (2,))

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        return np.zeros(6, np.float32), {}


def played(network: ActorCritic, rng: np.random.Generator, steps: int = 7, worlds: int = 5) -> Sequences:
    """A round of random steps, with the probabilities that the network gives them."""
    seen, actions, advantages, returns = (
        torch.from_numpy(rng.normal(size=(steps, worlds, *more)).astype(np.float32)) for more in ((6,), (2,), (), ())
    )
    begins = torch.from_numpy(rng.random((steps, worlds)) < 0.2)
    state = torch.from_numpy(rng.normal(size=(worlds, network.state_size)).astype(np.float32))
    with torch.no_grad():
        means, _, _ = network(seen, state, begins)
        logs = log_density(actions, means, network.log_std)
    return Sequences(seen, begins, state, actions, logs, advantages, returns, torch.ones(steps, worlds, dtype=torch.bool))


def weights(network: torch.nn.Module) -> dict[str, np.ndarray]:
    return {name: tensor.detach().numpy().copy() for name, tensor in network.state_dict().items()}


def test_advantages_are_the_sums_of_discounted_errors_until_the_episode_ends(rng):
    rewards, values = rng.normal(size=(2, 9, 4))
    after, ends = rng.normal(size=4), rng.random((9, 4)) < 0.3
    given = advantages_of(*(a.astype(np.float32) for a in (rewards, values, after)), ends, 0.9, 0.7)
    follows = np.vstack([values[1:], after])
    errors = rewards + 0.9 * follows * ~ends - values
    for w in range(4):
        for t in range(9):
            last = next((k for k in range(t, 9) if ends[k, w]), 8)
            expected = sum((0.9 * 0.7) ** (k - t) * errors[k, w] for k in range(t, last + 1))
            assert given[t, w] == pytest.approx(expected, abs=1e-5)


def test_advantages_are_those_of_stable_baselines3(rng):
    rewards, values = rng.normal(size=(2, 12, 3)).astype(np.float32)
    after, ends = rng.normal(size=3).astype(np.float32), rng.random((12, 3)) < 0.25
    buffer = RolloutBuffer(12, Spaces.observation_space, Spaces.action_space, "cpu", 0.95, 0.98, 3)
    begins = np.vstack([np.zeros((1, 3), bool), ends[:-1]])
    for t in range(12):
        buffer.add(np.zeros((3, 6)), np.zeros((3, 2)), rewards[t], begins[t], torch.from_numpy(values[t]), torch.zeros(3))
    buffer.compute_returns_and_advantage(torch.from_numpy(after), ends[-1])
    given = advantages_of(rewards, values, after, ends, 0.98, 0.95)
    assert given == pytest.approx(buffer.advantages, abs=1e-5)
    assert given + values == pytest.approx(buffer.returns, abs=1e-5)


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_losses_and_the_descent_on_a_mini_batch_are_those_of_stable_baselines3(activation, rng):
    torch.manual_seed(3)
    kind = {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}[activation]
    settings = {"n_steps": 7 * 5, "batch_size": 7 * 5, "n_epochs": 1, "ent_coef": 0.013, "vf_coef": 0.4, "learning_rate": 0.01}
    theirs = PPO("MlpPolicy", Spaces(), **settings, policy_kwargs={"net_arch": [7, 4], "activation_fn": kind}, device="cpu")
    network = Mlp((7, 4), activation).learner(Shape(BLIND, 2))
    parts = theirs.policy.mlp_extractor
    network.actor.load_state_dict(torch.nn.Sequential(*parts.policy_net, theirs.policy.action_net).state_dict())
    network.critic.load_state_dict(torch.nn.Sequential(*parts.value_net, theirs.policy.value_net).state_dict())
    network.log_std.data[:] = theirs.policy.log_std.data

    batch = played(network, rng)
    batch = batch._replace(logs=batch.logs + torch.from_numpy(rng.normal(0, 0.3, (7, 5)).astype(np.float32)))
    buffer = theirs.rollout_buffer
    for name, of in (("actions", "actions"), ("observations", "seen"), ("log_probs", "logs")):
        getattr(buffer, name)[:, 0] = batch._asdict()[of].reshape(getattr(buffer, name)[:, 0].shape)
    buffer.advantages[:, 0], buffer.returns[:, 0] = batch.advantages.reshape(-1), batch.returns.reshape(-1)
    buffer.full = True
    theirs.set_logger(Logger(None, []))
    theirs.train()

    ours = Ppo(observe=BLIND, epochs=1, batches=1, rate=0.01, entropy=0.013, value_weight=0.4, divergence=0.0)
    descent = torch.optim.Adam(network.parameters(), eps=1e-5)
    losses = ours._learn(network, descent, batch, 0, torch.Generator(), Shares(1))
    said = theirs.logger.name_to_value
    assert losses["policy_loss"] == pytest.approx(said["train/policy_gradient_loss"], abs=1e-6)
    assert losses["value_loss"] == pytest.approx(said["train/value_loss"], abs=1e-6)
    assert losses["entropy"] == pytest.approx(-said["train/entropy_loss"], abs=1e-6)
    assert losses["divergence"] == pytest.approx(said["train/approx_kl"], abs=1e-6)
    assert losses["clipped"] == pytest.approx(said["train/clip_fraction"], abs=1e-6)
    assert losses["clipped"] > 0
    towers = [[*parts.policy_net, theirs.policy.action_net], [*parts.value_net, theirs.policy.value_net]]
    for mine, its in zip((network.actor, network.critic), towers, strict=True):
        for name, array in weights(torch.nn.Sequential(*its)).items():
            assert weights(mine)[name] == pytest.approx(array, abs=1e-6)
    assert network.log_std.detach().numpy() == pytest.approx(theirs.policy.log_std.detach().numpy(), abs=1e-6)


def test_a_recurrent_network_learns_from_the_states_that_it_played_with(rng):
    torch.manual_seed(1)
    notes = Notes(
        plane(obstacles="random", timeout=0.4, periods={"physics": 0.1, "control": 0.1, "crowd": 0.1, "sensor": 0.1}), "plane"
    )
    ppo = dataclasses.replace(SMALL, horizon=11)
    worlds = _Worlds(ppo, notes)
    network = Recurrent(worlds.shape(ppo))
    worlds.begin(network, 0, 0)
    worlds.play(network, torch.Generator().manual_seed(1), Shares(1))
    batch, _ = worlds.play(network, torch.Generator().manual_seed(2), Shares(1))
    worlds.close()
    assert batch.begins.any()
    assert not batch.begins.all(0).any()
    assert batch.state.abs().min() > 0
    some = batch.of(torch.tensor([6, 1, 3]))
    assert float(losses_of(network, some, 0.2).divergence) == pytest.approx(0.0, abs=1e-7)
    for wrong in (some._replace(begins=torch.zeros_like(some.begins)), some._replace(state=torch.zeros_like(some.state))):
        assert float(losses_of(network, wrong, 0.2).divergence) > 1e-6


def test_what_comes_after_a_time_out_has_its_value_and_what_comes_after_an_end_has_none():
    suite = plane(robots={"name": "random", "distance": 1.0}, robot="jackal", timeout=0.7, goal_tolerance=0.9)
    ppo = dataclasses.replace(SMALL, reward=NOTHING, trace=0.0, discount=0.9, horizon=30, worlds=16, log_std=0.5)
    worlds = _Worlds(ppo, Notes(suite, "plane"))
    network = actor_critic(ppo.network, worlds.shape(ppo))
    for layer in (network.critic[0], network.critic[-1]):
        torch.nn.init.zeros_(layer.weight)
    torch.nn.init.constant_(network.critic[-1].bias, 3.0)
    worlds.begin(network, 0, 0)
    batch, results = worlds.play(network, torch.Generator().manual_seed(1), Shares(1))
    worlds.close()
    assert results.ends["timeout"] > 0
    assert results.ends["reached"] > 0
    lost = torch.isclose(batch.advantages, torch.tensor(-3.0))
    assert int(lost.sum()) == results.ends.total() - results.ends["timeout"]
    assert batch.advantages[~lost].numpy() == pytest.approx(0.9 * 3.0 - 3.0, abs=1e-5)


@pytest.mark.parametrize("curriculum", [False, True])
@pytest.mark.parametrize("dies_at", [192, 320])
def test_a_training_that_was_interrupted_comes_to_the_same_curve_and_network(curriculum, dies_at, tmp_path):
    (tmp_path / "c.yaml").write_text(CURRICULUM)
    staged = [{"name": "staged", "curriculum": str(tmp_path / "c.yaml")}] if curriculum else []
    suite = plane(obstacles={"name": "random", "dynamic": [1, 2]}, modules=staged, timeout=0.5)
    ppo = dataclasses.replace(SMALL, up_at=1e-9 if curriculum else 0.0, observe=Observe(0, pedestrians=2))
    if curriculum:  # going up in spite of no success at all
        ppo = _Eager(**{field.name: getattr(ppo, field.name) for field in dataclasses.fields(ppo)})
    whole = trained(ppo, suite, "plane")
    broken = Notes(suite, "plane", dies_at=dies_at)
    with pytest.raises(Interrupted):
        list(ppo.train(broken))
    resumed = trained(ppo, suite, "plane", resumed=broken.kept)
    at = broken.kept[0]["steps"]
    assert at < dies_at
    assert [point for point in whole.curve if point[0] > at] == resumed.curve
    assert whole.curve[0] != resumed.curve[0]
    assert whole.kept[0] == resumed.kept[0]
    assert whole.kept[1].keys() == resumed.kept[1].keys()
    assert all((whole.kept[1][name] == array).all() for name, array in resumed.kept[1].items())
    assert {values.get("stage") for _, values in whole.curve} == ({0, 1, 2} if curriculum else {None})


class _Eager(Ppo):
    """Goes up a stage after every lap."""

    def _next_stage(self, stage: int, ends: Any, stages: int) -> int:
        return min(stage + 1, stages - 1)


def test_a_training_that_comes_to_numbers_that_are_not_finite_says_at_which_step_and_keeps_its_checkpoint():
    suite = plane(timeout=0.5)
    good = trained(dataclasses.replace(SMALL, steps=128), suite, "plane")
    notes = Notes(suite, "plane", resumed=({**good.kept[0], "ended": 0}, good.kept[1]))
    diverging = dataclasses.replace(SMALL, divergence=0.0)
    for name in ("rate", "last_rate"):
        object.__setattr__(diverging, name, 1e38)  # far beyond the range of the field
    with pytest.raises(DivergedError, match="step 1[0-9]+: the loss is"):
        list(diverging.train(notes))
    assert notes.kept is None


def test_descents_end_where_the_policy_has_moved_too_far(rng):
    torch.manual_seed(2)
    first = Mlp((6,)).learner(Shape(BLIND, 2))
    batch, after = played(first, rng), {}
    for name, ppo in {
        "once": Ppo(observe=BLIND, epochs=1, batches=1),
        "stopped": Ppo(observe=BLIND, epochs=9, batches=1, divergence=1e-12),
        "free": Ppo(observe=BLIND, epochs=9, batches=1, divergence=0.0),
    }.items():
        network = Mlp((6,)).learner(Shape(BLIND, 2))
        network.load_state_dict(first.state_dict())
        ppo._learn(network, torch.optim.Adam(network.parameters(), eps=1e-5), batch, 0, torch.Generator().manual_seed(1), Shares(1))
        after[name] = weights(network)
    for name, array in after["once"].items():
        assert after["stopped"][name] == pytest.approx(array, abs=1e-7)
        assert (after["free"][name] != array).any()


@pytest.mark.parametrize("waits", [False, True])
def test_shares_of_a_mini_batch_give_the_gradient_of_the_whole_whatever_the_number_of_threads(waits, rng, monkeypatch):
    torch.manual_seed(4)
    network = Recurrent(Shape(BLIND, 2))
    batch = played(network, rng)
    if waits:
        batch.counts[:, 1], batch.counts[2:, 3] = False, False
    batch = batch._replace(logs=batch.logs + torch.from_numpy(rng.normal(0, 0.3, (7, 5)).astype(np.float32))).standard()
    found = {}
    for name, share, threads in (("whole", 1000, 1), ("shares", 7, 1), ("threads", 7, 3)):
        monkeypatch.setattr("agora.learning.trainers.shares._STEPS", share)
        shares = Shares(threads)
        losses, total = Ppo(observe=BLIND, entropy=0.01)._slope(network, batch, shares)
        shares.close()
        found[name] = [float(loss) for loss in losses], total, [weight.grad.clone() for weight in network.parameters()]
    assert found["shares"][:2] == found["threads"][:2]
    assert found["shares"][0] == pytest.approx(found["whole"][0], abs=1e-6)
    for whole, some, threaded in zip(*(found[name][2] for name in ("whole", "shares", "threads")), strict=True):
        assert torch.equal(some, threaded)
        assert some.numpy() == pytest.approx(whole.numpy(), abs=1e-6)
        assert whole.abs().max() > 0


def test_shares_are_of_about_equal_length_and_have_every_row_once():
    assert ranges(5, 8) == [(0, 5)] and ranges(15, 8) == [(0, 15)]
    assert ranges(16, 8) == [(0, 8), (8, 16)]
    assert ranges(3, 1) == [(0, 1), (1, 2), (2, 3)]
    many = ranges(1000, 3)
    assert len(many) == 16 and [a for a, _ in many] == [0, *[b for _, b in many][:-1]] and many[-1][1] == 1000


def test_a_round_is_played_the_same_by_any_number_of_threads():
    rounds = []
    for threads in (1, 2):
        torch.manual_seed(1)
        ppo = dataclasses.replace(SMALL, worlds=600, horizon=3, threads=threads)
        worlds, shares = _Worlds(ppo, Notes(plane(), "plane")), Shares(threads)
        network = actor_critic(ppo.network, worlds.shape(ppo))
        worlds.begin(network, 0, 0)
        rounds.append(worlds.play(network, torch.Generator().manual_seed(1), shares)[0])
        worlds.close()
        shares.close()
    assert all(torch.equal(one, two) for one, two in zip(*rounds, strict=True))


def test_the_learning_rate_falls_in_a_straight_line(rng):
    network = Mlp((6,)).learner(Shape(BLIND, 2))
    descent, batch = torch.optim.Adam(network.parameters(), eps=1e-5), played(network, rng)
    for steps, rate in ((0, 0.02), (250, 0.0175), (1000, 0.01), (4000, 0.01)):
        Ppo(observe=BLIND, steps=1000, rate=0.02, last_rate=0.01)._learn(
            network, descent, batch, steps, torch.Generator(), Shares(1)
        )
        assert descent.param_groups[0]["lr"] == pytest.approx(rate)


def test_in_a_pass_every_step_is_in_one_mini_batch(rng):
    network = Mlp((6,)).learner(Shape(BLIND, 2))
    batch = played(network, rng)
    batches = list(Ppo(epochs=2, batches=3)._batches(batch.apart(), torch.Generator().manual_seed(1)))
    passes = [torch.cat([part.returns[0] for part in batches[k : k + 3]]) for k in (0, 3)]
    assert not torch.equal(*passes)
    for whole in passes:
        assert torch.equal(whole.sort()[0], batch.returns.reshape(-1).sort()[0])
    assert all(len(part.seen) == 1 and part.state.shape == (part.seen.shape[1], 0) for part in batches)


def test_the_policy_takes_the_means_of_the_network(rng):
    network = Mlp((9, 5)).learner(Shape(BLIND, 2))
    seen = rng.normal(size=(11, 6)).astype(np.float32)
    means, _, _ = network(torch.from_numpy(seen)[None], torch.zeros(11, 0), torch.zeros(1, 11, dtype=torch.bool))
    assert network.policy({"steps": "3"})(seen) == pytest.approx(means[0].detach().numpy(), abs=1e-6)


def test_a_new_policy_stands_still_and_its_layers_are_orthogonal():
    network = Mlp((6, 6)).learner(Shape(BLIND, 2))
    first, last = network.actor[0].weight.detach(), network.actor[-1].weight.detach()
    assert (first @ first.T).numpy() == pytest.approx(2.0 * np.eye(6), abs=1e-5)
    assert (last @ last.T).numpy() == pytest.approx(1e-4 * np.eye(2), abs=1e-8)


def test_densities_are_those_of_the_normal_distribution(rng):
    actions, means, log_std = (torch.from_numpy(rng.normal(size=size)) for size in ((4, 3), (4, 3), 3))
    expected = torch.distributions.Normal(means, log_std.exp()).log_prob(actions).sum(-1)
    assert log_density(actions, means, log_std).numpy() == pytest.approx(expected.numpy(), abs=1e-9)


@pytest.mark.parametrize(("share", "stage"), [(0.95, 2), (0.8, 1), (0.5, 1), (0.3, 0), (0.0, 0)])
def test_the_curriculum_follows_the_share_of_successes(share, stage):
    ends = Counter({"reached": round(100 * share), "timeout": round(100 * (1 - share))})
    assert Ppo(up_at=0.9, down_at=0.3)._next_stage(1, ends, 4) == stage
    assert Ppo(up_at=0.9, down_at=0.3)._next_stage(1, Counter(), 4) == 1
    assert Ppo()._next_stage(1, ends, 4) == 1
    assert Ppo(up_at=0.9)._next_stage(1, Counter({"timeout": 10}), 4) == 1  # without down_at it never goes down


def test_more_mini_batches_than_worlds_are_refused():
    with pytest.raises(InputError, match="batches must be at most worlds = 4, got 8"):
        Ppo(worlds=4, batches=8)


def test_a_training_ends_when_validation_is_good_enough_and_stays_ended():
    suite = plane(timeout=0.5)
    ppo = dataclasses.replace(SMALL, stop_at=0.9)
    early, late = (trained(ppo, suite, "plane", success=share) for share in (0.95, 0.85))
    assert [notes.curve[-1][0] for notes in (early, late)] == [128, 384]
    assert trained(ppo, suite, "plane", resumed=early.kept).curve == []


def test_a_training_begins_the_same_with_the_same_seed_alone():
    suite = plane(timeout=0.5)
    one, same, other = (trained(SMALL, suite, "plane", seed=seed) for seed in (1, 1, 2))
    assert one.curve == same.curve
    assert one.curve != other.curve


TASK = plane(robots={"name": "random", "distance": 2.0}, robot="jackal", timeout=6.0)
LEARNS = Ppo(
    network=Mlp((32,)),
    observe=BLIND,
    reward=Reward(progress=0.5),
    steps=40_000,
    worlds=64,
    horizon=32,
    rate=3e-3,
    last_rate=3e-3,
    episodes=256,
)


def test_it_learns_to_drive_to_a_goal():
    curve = trained(LEARNS, TASK, "plane").curve
    first, last = (
        np.mean([values["success"] for _, values in points if "success" in values]) for points in (curve[:5], curve[-5:])
    )
    assert last > 0.9
    assert last > first + 0.2


class Gains(BaseCallback):
    """Notes the return of every episode that ended, by the steps before."""

    def _on_training_start(self) -> None:
        self.ended: list[tuple[int, float]] = []

    def _on_step(self) -> bool:
        self.ended += [(self.num_timesteps, info["episode"]["r"]) for info in self.locals["infos"] if "episode" in info]
        return True


@pytest.mark.slow
def test_it_learns_as_fast_as_stable_baselines3():
    """The mean return of the episodes in the second half, over three seeds each."""
    ours, theirs = [], []
    for seed in (1, 2, 3):
        curve = trained(LEARNS, TASK, "plane", seed=seed).curve
        ours += [values["gain"] for steps, values in curve if steps > 20_000 and "gain" in values]
        worlds = AgoraVectorEnv(TASK, "plane", 64, episodes=256, seed=seed, observe=BLIND, reward=LEARNS.reward)
        shape = {
            "net_arch": [32],
            "activation_fn": torch.nn.Tanh if LEARNS.network.activation == "tanh" else torch.nn.ReLU,
            "log_std_init": -0.5,
        }
        settings = {"n_steps": 32, "batch_size": 512, "n_epochs": 4, "learning_rate": 3e-3, "target_kl": 0.02, "seed": seed}
        model, gains = PPO("MlpPolicy", VecMonitor(Sb3VecEnv(worlds)), **settings, policy_kwargs=shape, device="cpu"), Gains()
        model.learn(40_000, gains)
        theirs += [gain for steps, gain in gains.ended if steps > 20_000]
        worlds.close()
    assert np.mean(ours) > 0.95 * np.mean(theirs)


def test_wrong_parameters_are_refused():
    with pytest.raises(InputError, match="down_at must be below up_at"):
        Ppo(up_at=0.5, down_at=0.6)
    with pytest.raises(InputError, match="steps: expected an integer in"):
        Ppo(steps=0)
    with pytest.raises(InputError, match="^rate: expected a finite number, got nan"):
        Ppo(rate=math.nan)
    with pytest.raises(UnknownNameError, match="no activation called 'rellu'.*relu"):
        Mlp(activation="rellu")
    with pytest.raises(InputError, match="activation: expected 2 names, one a layer, got 3"):
        Mlp((8,), ("relu", "relu", "none"))
    with pytest.raises(InputError, match="network 'sarl' has no actor and critic, so this trainer cannot improve it"):
        actor_critic(SarlNetwork(0.1), Shape(JointState(), 2))
    with pytest.raises(InputError, match="network 'mlp' does not output state values, so value_learning cannot train it"):
        ValueLearning(network=Mlp())


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"network": "mpl"}, "network: no network called 'mpl'; did you mean 'mlp'"),
        ({"network": {"name": "mlp", "size": [8]}}, "network.size: unknown key; did you mean 'sizes'"),
        ({"sizes": [8]}, "sizes: unknown key; did you mean network: {name: mlp, sizes: ...}"),
        ({"network": "ds_rnn", "width": 0.2}, "width: unknown key; did you mean network: {name: ds_rnn, width: ...}"),
        ({"observe": {"beam": 3}}, "observe.beam: encoding 'observe' has no parameter 'beam'; did you mean 'beams'"),
        ({"observe": {"kind": "agents"}}, "observe.kind: .* choose another encoding, set the key name: .*agents, commands"),
        ({"reward": {"kind": "arena"}}, "reward.kind: .* choose another reward, set the key name: arena, cadrl, drl_vo, weighted"),
        ({"reward": {"name": "arena", "saf": 1.0}}, "reward.saf: unknown key; did you mean 'safe'"),
    ],
)
def test_what_a_file_says_wrongly_of_network_encoding_and_reward_is_refused_by_name(said, message):
    with pytest.raises(InputError, match=f"a training: {message}"):
        build_component("trainers", {"name": "ppo"} | said, "a training")


def test_a_trainer_in_a_file_names_its_network_encoding_and_reward():
    given = {"name": "ppo", "network": {"sizes": [8]}, "observe": {"beams": 3}, "reward": {"name": "cadrl", "progress": 0.5}}
    ppo = build_component("trainers", given, "a training")
    assert (ppo.part.network, ppo.part.observe) == (Mlp((8,)), Observe(3)) and ppo.part.reward == CadrlReward(progress=0.5)
    written = plain(ppo)
    assert [written[key]["name"] for key in ("network", "observe", "reward")] == ["mlp", "observe", "cadrl"]
    assert build_component("trainers", written, "a training") == ppo
