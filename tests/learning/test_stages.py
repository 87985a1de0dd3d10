"""Several stages in one environment: each plays as it would alone, and what does not fit together is refused."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from tests.learning.suites import suite
from tests.learning.trainers.runs import trained

from agora.errors import AgoraError, InputError, PlacementError
from agora.learning.env import AgoraVectorEnv
from agora.learning.rewards import Reward
from agora.learning.stages import StagesVectorEnv
from agora.learning.trainers.ppo import Ppo
from agora.policies.encoding import Observe
from agora.policies.networks.mlp import Mlp
from agora.registry import Named
from agora.tasks.suite import Suite

SEE = Observe(12, pedestrians=2)
TEACHER = Named.of("planners", "pure_pursuit").part


def both(*, robot: str = "jackal", **other: Any) -> Suite:
    """Two stages, of a Burger and of another robot."""
    small = suite(dynamic=2, timeout=2.0)
    [walk] = small.stages
    return dataclasses.replace(small, stages=(walk, dataclasses.replace(walk, name="run", robot=robot, **other)))


def test_every_stage_plays_as_it_does_alone():
    together = StagesVectorEnv(both(), ("walk", "run"), 5, observe=SEE)
    alone = [AgoraVectorEnv(both(), stage, count, observe=SEE) for stage, count in (("walk", 3), ("run", 2))]
    assert (together.num_envs, together.period, [part.num_envs for part in together.parts]) == (5, 0.1, [3, 2])
    seen, infos = together.reset(seed=4)
    firsts = [env.reset(seed=4) for env in alone]
    assert np.array_equal(seen, np.concatenate([first for first, _ in firsts]))
    assert np.array_equal(infos["entry"], np.concatenate([info["entry"] for _, info in firsts]))
    rng, ended = np.random.default_rng(2), 0
    for _ in range(30):
        actions = rng.uniform(-1.0, 1.0, (5, 2)).astype(np.float32)
        seen, rewards, terminated, truncated, infos = together.step(actions)
        apart = [env.step(some) for env, some in zip(alone, np.split(actions, [3]), strict=True)]
        for k, whole in enumerate((seen, rewards, terminated, truncated)):
            assert np.array_equal(whole, np.concatenate([step[k] for step in apart]))
        over = terminated | truncated
        ended += int(over.sum())
        if over.any():
            outcomes = [
                step[4].get("final_info", {}).get("outcome", np.full(n, None)) for step, n in zip(apart, (3, 2), strict=True)
            ]
            assert infos["final_info"]["outcome"].tolist() == np.concatenate(outcomes).tolist()
            assert infos["_entry"].tolist() == over.tolist() == [final is not None for final in infos["final_obs"]]
    assert ended > 4
    together.close()


def test_processes_play_the_same():
    here, apart = (StagesVectorEnv(both(), ("walk", "run"), 4, processes=n, observe=SEE, teacher=TEACHER) for n in (0, 2))
    firsts = [env.reset(seed=4) for env in (here, apart)]
    assert np.array_equal(firsts[0][0], firsts[1][0]) and apart.parts == here.parts
    for _ in range(25):
        actions = [env.teach() for env in (here, apart)]
        assert np.array_equal(*actions)
        one, other = (env.step(actions[0]) for env in (here, apart))
        assert all(np.array_equal(a, b) for a, b in zip(one[:4], other[:4], strict=True)) and one[4].keys() == other[4].keys()
    assert apart.render() is None
    for env in (here, apart):
        env.close()


def test_an_error_in_a_process_is_raised_here_and_its_death_is_told():
    with pytest.raises(InputError, match="'wal'.*'walk'"):
        StagesVectorEnv(both(), ("walk", "wal"), 2, processes=2)
    env = StagesVectorEnv(both(), ("walk", "run"), 2, processes=2, observe=SEE)
    with pytest.raises(ResetNeeded):
        env.step(np.zeros((2, 2), np.float32))
    seen, _ = env.reset()
    assert np.array_equal(seen, StagesVectorEnv(both(), ("walk", "run"), 2, observe=SEE).reset()[0])
    env._players[0]._process.kill()
    env._players[0]._process.join()
    with pytest.raises(AgoraError, match=r"a process that simulates worlds died \(exit code -9\)"):
        env.step(np.zeros((2, 2), np.float32))
    env.close()
    env.close_extras()


def test_some_environments_begin_anew_and_the_others_go_on():
    env = StagesVectorEnv(both(), ("walk", "run"), 4, observe=SEE, autoreset=False)
    env.reset()
    env.step(np.ones((4, 2), np.float32))
    before, *_ = env.step(np.ones((4, 2), np.float32))
    seen, infos = env.reset(options={"reset_mask": np.array([False, True, False, False])})
    assert infos["_entry"].tolist() == [False, True, False, False]
    assert np.array_equal(seen[[0, 2, 3]], before[[0, 2, 3]]) and not np.array_equal(seen[1], before[1])


def test_stages_that_do_not_fit_together_are_refused():
    with pytest.raises(InputError, match="2 stages need at least 2 worlds, got 1"):
        StagesVectorEnv(both(), ("walk", "run"), 1)
    with pytest.raises(InputError, match=r"'walk' and 'run': the length of an action must be the same, got 2 and 3"):
        StagesVectorEnv(both(robot="ridgeback"), ("walk", "run"), 2)
    slow = dataclasses.replace(both().stages[0].periods, control=0.2)
    with pytest.raises(InputError, match=r"'walk' and 'run': the control period must be the same, got 0.1 s and 0.2 s"):
        StagesVectorEnv(both(periods=slow), ("walk", "run"), 2)
    env = StagesVectorEnv(both(), ("walk", "run"), 2)
    with pytest.raises(ResetNeeded):
        env.step(np.zeros((2, 2), np.float32))
    env.reset()
    with pytest.raises(InputError, match=r"actions must be of shape \(2, 2\), got \(3, 2\)"):
        env.step(np.zeros((3, 2), np.float32))


def test_ppo_trains_on_several_stages_a_policy_without_a_body():
    ppo = Ppo(Mlp((6,)), observe=SEE, more_stages=("run",), worlds=4, horizon=8, batches=2, epochs=1, lap=2, steps=64)
    one, other = (trained(ppo, both(), "walk") for _ in range(2))
    assert trained(dataclasses.replace(ppo, processes=2), both(), "walk").curve == one.curve
    assert one.curve == other.curve and [steps for steps, _ in one.curve] == [32, 64]
    assert one.policies[-1].body is None
    assert trained(dataclasses.replace(ppo, more_stages=()), both(), "walk").policies[-1].body is not None
    with pytest.raises(InputError, match="a curriculum uses one stage"):
        dataclasses.replace(ppo, up_at=0.8)


def test_episodes_for_which_there_is_no_room_are_left_out(monkeypatch):
    drawn = Suite.start

    def some(self: Suite, stage: str, number: int):
        if number % 3 == 0:
            raise PlacementError("no room")
        return drawn(self, stage, number)

    monkeypatch.setattr(Suite, "start", some)
    env = AgoraVectorEnv(suite(dynamic=0, timeout=0.3), "walk", 2, observe=SEE)
    _, infos = env.reset()
    entries = infos["entry"].tolist()
    for _ in range(12):
        *_, infos = env.step(np.zeros((2, 2), np.float32))
        entries += infos["entry"][infos["_entry"]].tolist() if "entry" in infos else []
    assert entries[:2] == [2, 1] and set(entries) == {1, 2, 4, 5}
    monkeypatch.setattr(Suite, "start", lambda *given: some(given[0], given[1], 0))
    with pytest.raises(PlacementError, match="no room"):
        AgoraVectorEnv(suite(), "walk", 1)


def test_the_way_along_the_path_is_rewarded_where_it_is_asked_for():
    env = AgoraVectorEnv(suite(dynamic=0), "walk", 2, observe=Observe(0, lookahead=1.0), reward=Reward(progress=0.0, way=2.0))
    env.reset()
    for _ in range(5):
        _, rewards, *_, infos = env.step(np.ones((2, 2), np.float32) * np.float32([1.0, 0.0]))
        assert infos["rewards"]["way"] == pytest.approx(rewards) and (abs(rewards) <= 2.0 * 0.022 + 1e-4).all()
    assert "way" not in Reward().asks and Reward(way=1.0, foreseen=-1.0).asks == {"way", "foreseen"}
    assert Named.of("rewards", "weighted", way=1.0).part == Reward(way=1.0)
