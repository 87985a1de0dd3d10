"""All-in-One lets one of its planners drive each robot, as if that planner were alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.learning.suites import suite

from agora.core.state import read_only
from agora.episode import Conditions, Episodes
from agora.errors import InputError
from agora.learning.settings_env import SettingsEnv
from agora.learning.stages import worlds_of
from agora.learning.trainers.imitation import Lessons
from agora.learning.trainers.ppo import Ppo
from agora.planners.learned.all_in_one import AllInOne
from agora.planners.presets import named_planner
from agora.planners.switch import Switch
from agora.policies.planner_choice import PlannerChoice
from agora.policies.policy import Layer, Policy
from agora.testing.scenes import observation

NAMES = ("teb", "pure_pursuit", "rosnav_rl")
SEE = PlannerChoice(NAMES, beams=9)
GOAL = SEE.length - 3  # the distance of the goal among what is seen


def chooses(path: Any, weight: Any = 0.0, bias: tuple[float, ...] = (0.0, 0.0, 0.0)) -> AllInOne:
    """Return the planner with a policy that scores planners by the distance of the goal and a bias, in a file."""
    weights = np.zeros((SEE.length, len(bias)), np.float32)
    weights[GOAL] = weight
    layer = Layer(weights, np.array(bias, np.float32))
    Policy.of_layers(SEE, (layer,), {"label": "small"}, None, 0.3).save(path / "one.safetensors")
    return AllInOne(str(path / "one.safetensors"))


def driven(planner: Any, count: int = 2) -> list[np.ndarray]:
    """Return the twists of a robot in some episodes among walls and people, for 6 s."""
    whole = suite(robot="jackal", timeout=6.0)
    starts = [whole.start("walk", k) for k in range(count)]
    recorded = dict(Episodes(starts, planner, Conditions.of(whole.stage("walk"))))
    return [recorded[k][0].twist for k in range(count)]


@pytest.mark.parametrize("k", range(3))
def test_it_drives_as_the_planner_that_scores_highest(tmp_path, k):
    alone = driven(named_planner(NAMES[k])[1].part)
    bias = tuple(float(i == k) for i in range(3))
    for own, told in zip(driven(chooses(tmp_path, bias=bias)), alone, strict=True):
        assert np.array_equal(own, told)
    assert max(np.abs(one).max() for one in alone) > 0.3


def test_a_robot_changes_its_planner_and_no_other_robot_matters(tmp_path):
    planner = chooses(tmp_path, weight=[0.0, 30.0, 0.0], bias=(3.0, 0.0, 0.0))  # pure_pursuit beyond 2 m from the goal, then teb
    both = driven(planner, 4)
    for alone, beside in zip(driven(planner, 1), both, strict=False):
        assert np.array_equal(alone, beside)
    first, last = (driven(named_planner(name)[1].part, 4) for name in ("pure_pursuit", "teb"))
    assert all(np.array_equal(own[:5], told[:5]) for own, told in zip(both, first, strict=True))
    assert not any(np.array_equal(own, told) for alone in (first, last) for own, told in zip(both, alone, strict=True))


def test_a_planner_that_takes_over_begins_anew():
    switch, o, memory = Switch(("pure_pursuit", "rosnav_rl")), observation(3), {}
    calls = []
    for drives in ([1, 1, 0], [1, 0, 1], [1, 1, 1]):
        memory = switch.act_by(o, memory, {"planner": np.array(drives, np.float32)}).memory
        calls.append(memory["1"]["calls"].tolist())
    assert calls == [[1, 1, 0], [2, 1, 1], [3, 1, 2]]


def test_an_action_lasts_for_its_periods_in_every_stage():
    whole = suite(robot="jackal", timeout=1.5, dynamic=0)
    chosen = {"observe": SEE, "every": 3, "episodes": 3, "seed": 1}
    env = worlds_of(whole, ("walk", "walk"), 4, **chosen)
    alone = SettingsEnv(SEE, Switch(NAMES), 3, whole, "walk", 2, episodes=3, seed=1)
    seen, _ = env.reset(options={"entry": 0})
    assert seen.shape == (4, SEE.length)
    assert env.period == pytest.approx(0.3)
    assert np.array_equal(seen[:2], alone.reset(options={"entry": 0})[0])
    action = read_only(np.eye(3, dtype=np.float32)[[0, 1, 2, 1]])
    begun = np.zeros(4, np.bool_)
    for _ in range(6):
        seen, rewards, terminated, truncated, infos = env.step(action)
        one = alone.step(action[:2])
        assert np.array_equal(seen[:2], one[0])
        assert np.array_equal(rewards[:2], one[1])
        assert np.array_equal(infos["_entry"], terminated | truncated)
        begun |= infos["_entry"]
    assert begun.all()
    env.close()
    alone.close()


def test_bad_input_is_refused_in_words(tmp_path):
    with pytest.raises(InputError, match="two or more different ones, got \\['teb', 'teb'\\]"):
        PlannerChoice(("teb", "teb"))
    with pytest.raises(InputError, match="planners 'teb' and 'dwa' cannot take turns: each looks at its own costmap"):
        Switch(("teb", "dwa"))
    with pytest.raises(InputError, match="no planner called 'teg'; did you mean 'teb'"):
        Ppo(observe=PlannerChoice(("teg", "rosnav_rl")))
    with pytest.raises(InputError, match="lessons must be null"):
        Ppo(observe=SEE, lessons=Lessons())
    with pytest.raises(InputError, match="every must be 1 if actions are twists, got 3"):
        Ppo(every=3)
    with pytest.raises(InputError, match="needs the encoding rollout_settings, and the encoding needs such a planner"):
        Ppo(observe=SEE, planner="trajectory_rollout_barn")
    with pytest.raises(InputError, match="does not return settings of the planner"):
        _ = chooses(tmp_path, bias=(0.0, 1.0)).policy
    with pytest.raises(InputError, match="does not return settings of the planner"):
        _ = AllInOne("td3").policy
    with pytest.raises(InputError, match="no twists|not twists"):
        SEE.twists(np.zeros((1, 3)), None, None, None)  # type: ignore[arg-type]
