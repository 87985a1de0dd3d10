"""DRL-VO's reward by its equations, and by what a robot drives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from agora.core.recording import Outcome
from agora.errors import InputError
from agora.interfaces import Transition
from agora.learning.drl_vo_reward import DrlVoReward
from agora.learning.env import AgoraVectorEnv
from agora.policies.encoding import Observe
from agora.world.records import RUNNING

CALM = {"nearest": 9.0, "command": (0.4, 0.0, 0.4), "nearer": 0.0, "free_heading": math.pi / 6}


def worth(outcome: int = RUNNING, **facts: Any) -> float:
    """Return the reward of a control period of one robot in which nothing happens but what is said."""
    held = {name: np.array([value], np.float32) for name, value in (CALM | facts).items()}
    nothing = np.zeros(1, np.float32)
    return float(DrlVoReward()(Transition(np.array([outcome], np.int32), nothing, nothing, 0.05, held))[0])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (worth(), 0.0),
        (worth(Outcome.REACHED, nearer=0.2), 20.0),
        (worth(Outcome.TIMEOUT, nearer=0.2), -20.0),
        (worth(Outcome.WALL_COLLISION, nearest=0.2), -20.0),
        (worth(nearer=0.25), 3.2 * 0.25),
        (worth(nearest=0.5), -0.2 * 0.4),
        (worth(command=(0.4, 0.0, -1.5)), -0.15),
        (worth(command=(0.4, 0.0, 0.99)), 0.0),
        (worth(free_heading=-0.2), 0.6 * (math.pi / 6 - 0.2)),
        (worth(free_heading=math.pi / 2), 0.6 * (math.pi / 6 - math.pi / 2)),
    ],
)
def test_terms_are_those_of_the_published_code(value, expected):
    assert value == pytest.approx(expected, abs=1e-6)


def test_progress_is_counted_over_ten_periods_and_an_episode_begins_with_none():
    chosen = {"observe": Observe(9, lookahead=2.0), "reward": DrlVoReward(heading=0.0, near=0.0, turning=0.0), "seed": 3}
    env = AgoraVectorEnv("drl_vo_training", "hall", 2, episodes=4, autoreset=False, **chosen)
    env.reset()
    goals = [env.starts[k].robots[0].goals[0] for k in (0, 1)]
    part = env._parts[-1]
    distances, rewards, ended = [distance(part, goals)], [], np.zeros(2, bool)
    for _ in range(30):
        _, reward, terminated, truncated, _ = env.step(np.full((2, 2), (1.0, 0.05), np.float32))
        ended |= terminated | truncated
        distances.append(distance(part, goals))
        rewards.append(np.where(ended, np.nan, reward))
    expected = [3.2 * (distances[max(t - 9, 0)] - distances[t + 1]) for t in range(30)]
    known = np.isfinite(rewards)
    assert known[:12].all()
    assert np.array(rewards)[known] == pytest.approx(np.array(expected)[known], abs=1e-4)
    env.reset(options={"reset_mask": np.ones(2, bool)})
    _, reward, *_ = env.step(np.zeros((2, 2), np.float32))
    assert np.abs(reward).max() < 3.2 * 0.5 * 0.05 * 1.01
    env.close()


def distance(part: Any, goals: Any) -> np.ndarray:
    """Distances of two robots to their goals, m."""
    robots = part.batch.world.robots
    return np.array([math.hypot(g[0] - robots.x[w, 0], g[1] - robots.y[w, 0]) for w, g in enumerate(goals)])


def test_a_reward_that_is_no_number_is_refused():
    with pytest.raises(InputError, match="reached: expected a finite number"):
        DrlVoReward(reached=math.nan)
    with pytest.raises(InputError, match="periods"):
        DrlVoReward(periods=0)
