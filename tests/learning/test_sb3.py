"""Stable-Baselines3 trains on the batch, and gets what its own wrappers would give it."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from sb3_contrib import RecurrentPPO
from stable_baselines3 import PPO, SAC, TD3
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor
from tests.learning.suites import suite

from agora.errors import InputError
from agora.learning.entries import OF_A_SEED
from agora.learning.env import AgoraVectorEnv
from agora.learning.sb3 import Sb3VecEnv
from agora.learning.single import AgoraEnv


def small(worlds: int, **more) -> Sb3VecEnv:
    return Sb3VecEnv(AgoraVectorEnv(suite(timeout=2.0), "walk", worlds, **more))


def test_ppo_runs():
    model = PPO("MlpPolicy", VecMonitor(small(4)), n_steps=32, batch_size=32, n_epochs=1, seed=3, device="cpu")
    before = [p.detach().clone() for p in model.policy.parameters()]
    model.learn(256)
    assert any(not bool((a == b).all()) for a, b in zip(before, model.policy.parameters(), strict=True))
    assert len(model.ep_info_buffer) >= 4
    assert all(0 < e["l"] <= 20 for e in model.ep_info_buffer)
    assert len(model.ep_success_buffer) == len(model.ep_info_buffer) and not any(model.ep_success_buffer)


OFF_POLICY = {"learning_starts": 40, "batch_size": 16, "train_freq": 8, "policy_kwargs": {"net_arch": [8]}}
RECURRENT = {"n_steps": 16, "batch_size": 16, "n_epochs": 1, "policy_kwargs": {"lstm_hidden_size": 8, "net_arch": [8]}}


@pytest.mark.parametrize(
    ("algorithm", "network", "settings"),
    [(SAC, "MlpPolicy", OFF_POLICY), (TD3, "MlpPolicy", OFF_POLICY), (RecurrentPPO, "MlpLstmPolicy", RECURRENT)],
)
def test_the_other_algorithms_that_most_people_know_learn_on_the_batch_too(algorithm, network, settings):
    model = algorithm(network, VecMonitor(small(4)), seed=3, device="cpu", **copy.deepcopy(settings))
    before = [p.detach().clone() for p in model.policy.parameters()]
    model.learn(128)
    assert any(not bool((a == b).all()) for a, b in zip(before, model.policy.parameters(), strict=True))
    assert len(model.ep_info_buffer) >= 4


def test_it_gives_what_separate_environments_give():
    """One environment, so that both take the same entries."""
    batch, separate = small(1), DummyVecEnv([lambda: AgoraEnv(suite(timeout=2.0), "walk")])
    for env in (batch, separate):
        env.seed(4)
    assert np.array_equal(batch.reset(), separate.reset())
    assert batch.reset_infos == separate.reset_infos == [{"entry": 5 * OF_A_SEED}]
    ends = 0
    for k in range(50):
        action = np.array([[0.8, np.sin(k)]], np.float32)
        a, b = batch.step(action), separate.step(action)
        assert np.array_equal(a[0], b[0])
        assert a[1] == pytest.approx(b[1])
        assert a[2].tolist() == b[2].tolist()
        ends += int(a[2][0])
        (mine,), (its,) = a[3], b[3]
        assert mine.keys() == its.keys()
        assert np.array_equal(mine.pop("terminal_observation", 0), its.pop("terminal_observation", 0))
        assert mine == its
        assert batch.reset_infos == separate.reset_infos
    assert ends >= 2


def test_a_time_out_is_told_from_an_end():
    env = small(2)
    env.reset()
    late = [info for _ in range(25) for info in env.step(np.zeros((2, 2), np.float32))[3] if "outcome" in info]
    assert {(i["outcome"], i["TimeLimit.truncated"], i["time"]) for i in late} == {("timeout", True, 2.0)}
    assert len(late) == 2 and not any(info["is_success"] for info in late)


def test_the_seed_is_that_of_the_next_reset_alone():
    env = small(2)
    env.seed(5)
    env.reset()
    assert [i["entry"] for i in env.reset_infos] == [6 * OF_A_SEED, 6 * OF_A_SEED + 1]
    env.reset()
    assert [i["entry"] for i in env.reset_infos] == [6 * OF_A_SEED + 2, 6 * OF_A_SEED + 3]


def test_what_one_object_cannot_do_for_some_is_refused():
    env = small(2)
    assert env.get_attr("render_mode") == [None, None]
    assert env.get_attr("reward", 1) == [env.worlds.reward]
    assert env.env_is_wrapped(VecMonitor) == [False, False]
    assert not env.has_attr("no_such_thing")
    with pytest.raises(NotImplementedError, match="render"):
        env.env_method("render")
    with pytest.raises(NotImplementedError, match="reward"):
        env.set_attr("reward", None, [0])
    with pytest.raises(InputError, match="autoreset"):
        small(2, autoreset=False)
    env.close()
