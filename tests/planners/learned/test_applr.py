"""APPLR drives as its planner does by the settings that its policy chooses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.learning.suites import suite

from agora.episode import Conditions, Episodes
from agora.errors import InputError
from agora.learning.settings_env import SettingsEnv
from agora.learning.trainers.td3 import Td3
from agora.planners.learned.applr import Applr, drives
from agora.planners.presets import named_planner
from agora.policies.encoding import Observe
from agora.policies.policy import Layer, Policy, TrainedRobot
from agora.policies.rollout_settings import SPANS, RolloutSettings
from agora.robots.model import load_robot

DEFAULTS = {"max_vel_x": 0.5, "max_vel_theta": 1.57, "vx_samples": 6, "vtheta_samples": 20, "path_distance_bias": 0.75}
DEFAULTS |= {"goal_distance_bias": 1.0, "inflation_radius": 0.3}
SEE = RolloutSettings(beams=9)


def chooses(path: Any, **settings: float) -> Applr:
    """Return the planner with a policy that always chooses some settings, in a file."""
    wanted = DEFAULTS | settings
    action = [2.0 * (wanted[name] - low) / (high - low) - 1.0 for name, (low, high) in SPANS.items()]
    layer = Layer(np.zeros((SEE.length, len(SPANS)), np.float32), np.array(action, np.float32))
    body = TrainedRobot.of(load_robot("jackal_barn"))
    Policy.of_layers(SEE, (layer,), {"label": "small"}, body, 1.0).save(path / "one.safetensors")
    return Applr(str(path / "one.safetensors"))


def driven(planner: Any, count: int = 2) -> list[np.ndarray]:
    """Return the twists of a robot in some episodes among walls, for 10 s."""
    whole = suite(robot="jackal_barn", timeout=10.0, dynamic=0)
    starts = [whole.start("walk", k) for k in range(count)]
    recorded = dict(Episodes(starts, planner, Conditions.of(whole.stage("walk"))))
    return [recorded[k][0].twist[:, [0, 2]] for k in range(count)]


def test_with_the_settings_of_its_planner_it_drives_as_the_planner_does(tmp_path):
    plain = driven(named_planner("trajectory_rollout_barn")[1].part)
    for own, told in zip(driven(chooses(tmp_path)), plain, strict=True):
        assert own == pytest.approx(told, abs=1e-6)
    assert max(np.abs(one[:, 0]).max() for one in plain) == pytest.approx(0.5, abs=0.01)


def test_each_robot_drives_by_settings_of_its_own(tmp_path):
    assert max(np.abs(one[:, 0]).max() for one in driven(chooses(tmp_path, max_vel_x=1.5))) == pytest.approx(1.5, abs=0.1)
    alone = driven(chooses(tmp_path, vx_samples=9.0), 1)
    assert driven(chooses(tmp_path, vx_samples=9.0), 2)[0] == pytest.approx(alone[0], abs=0.0)


def test_settings_lie_between_the_lowest_and_the_highest():
    settings = SEE.settings(np.stack([np.full(7, -3.0), np.zeros(7), np.full(7, 3.0)]))
    for name, (low, high) in SPANS.items():
        assert settings[name] == pytest.approx([low, 0.5 * (low + high), high])


def test_bad_input_is_refused_in_words(tmp_path):
    with pytest.raises(InputError, match="must be a trajectory_rollout, whose settings the policy chooses, got 'dwa'"):
        Applr(planner="dwa")
    with pytest.raises(InputError, match="a planner with learned settings needs the encoding rollout_settings"):
        Td3(planner="trajectory_rollout_barn", observe=Observe(9))
    with pytest.raises(InputError, match="a planner with learned settings needs the encoding rollout_settings"):
        Td3(observe=SEE)
    with pytest.raises(InputError, match="td3: does not return settings of the planner"):
        _ = Applr("td3").policy


def test_an_action_lasts_for_its_periods_and_counts_no_reward_after_the_end():
    whole = suite(robot="jackal_barn", timeout=3.0, dynamic=0)
    env = SettingsEnv(SEE, drives("trajectory_rollout_barn"), 20, whole, "walk", 2, episodes=2, seed=1)
    first, _ = env.reset(options={"entry": 0})
    assert first.shape == (2, 10)
    assert env.period == pytest.approx(20 * whole.stage("walk").periods.control)
    ends = []
    for _ in range(5):
        _, rewards, terminated, truncated, infos = env.step(np.zeros((2, 7), np.float32))
        ends.append(terminated | truncated)
        if ends[-1].any():
            assert set(infos["final_info"]["outcome"][ends[-1]]) <= {"timeout", "reached", "wall_collision"}
        assert np.abs(rewards).max() < 25.0
    assert np.array(ends).any(0).all()
    env.close()
