"""Arena's reward units by their closed forms, and what they are told of a control period."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from tests.learning.suites import suite

from agora.core.recording import Outcome
from agora.errors import InputError, UnknownNameError
from agora.interfaces import Transition
from agora.learning.arena_reward import BASE_SEMANTIC, DEFAULT, ArenaReward
from agora.learning.env import AgoraVectorEnv
from agora.learning.facts import FACTS, channels_of
from agora.learning.training import load_training
from agora.policies.encoding import Observe
from agora.registry import Named
from agora.world.records import RUNNING

CALM = {
    "nearest": 9.0,
    "radius": 0.3,
    "elder": math.inf,
    "adult": math.inf,
    "command": (0.7, 0.0, 0.4),
    "command_before": (0.7, 0.0, 0.4),
}
CALM |= {"path_distance": 2.0, "path_approach": 0.0, "way": 0.0, "detour": math.pi / 6}
NOTHING = ArenaReward(**{name: 0.0 for name in ("reached", "collision", "timeout", "safe", "approach", "retreat", "reverse")})


def brought(outcome: int = RUNNING, progress: float = 0.0, clearance: float = math.inf, **facts: Any) -> Transition:
    """A control period of one world in which nothing happens but what is said."""
    held = {name: np.array([value], np.float32) for name, value in (CALM | facts).items()}
    arrays = (np.array([v], np.float32) for v in (progress, clearance))
    return Transition(np.array([outcome], np.int32), *arrays, 0.2, held)


def worth(weight: str, transition: Transition, **more: Any) -> float:
    """Return the reward of a unit alone, with weight 1."""
    reward = dataclasses.replace(NOTHING, **{weight: 1.0}, **more)
    facts = {name: transition.facts[name] for name in reward.asks}
    return float(reward(dataclasses.replace(transition, facts=facts))[0])


@pytest.mark.parametrize(
    ("weight", "transition", "value"),
    [
        ("reached", brought(Outcome.REACHED), 1.0),
        ("reached", brought(Outcome.TIMEOUT), 0.0),
        ("collision", brought(Outcome.WALL_COLLISION), 1.0),
        ("collision", brought(), 0.0),
        ("timeout", brought(Outcome.TIMEOUT), 1.0),
        ("timeout", brought(Outcome.REACHED), 0.0),
        ("safe", brought(nearest=0.79), 1.0),
        ("safe", brought(nearest=0.81), 0.0),
        ("approach", brought(progress=0.13), 0.13),
        ("approach", brought(progress=-0.13), 0.0),
        ("retreat", brought(progress=-0.13), -0.13),
        ("retreat", brought(progress=0.13), 0.0),
        ("approach_path", brought(path_approach=0.2), 0.2),
        ("approach_path", brought(path_approach=-0.2), 0.0),
        ("retreat_path", brought(path_approach=-0.2), -0.2),
        ("follow_path", brought(path_distance=0.49), 0.7),
        ("follow_path", brought(path_distance=0.51), 0.0),
        ("standing", brought(command=(-0.09, 0.0, 1.0)), 1.0),
        ("standing", brought(command=(-0.11, 0.0, 1.0)), 0.0),
        ("travelled", brought(command=(0.8, 0.0, -2.0)), 0.798),
        ("reverse", brought(command=(-0.51, 0.0, 0.0)), 1.0),
        ("reverse", brought(command=(-0.49, 0.0, 0.0)), 0.0),
        ("abrupt_vx", brought(command=(1.7, 0.3, 3.4)), 0.01),
        ("abrupt_vy", brought(command=(1.7, 0.3, 3.4)), 0.3**4 / 100),
        ("abrupt_omega", brought(command=(1.7, 0.3, 3.4)), 81 / 100),
        ("turned", brought(command=(0.8, 0.0, -2.0)), -2.0),
        ("smooth", brought(command=(1.7, 0.0, 2.4)), 1 - math.hypot(1.0, 4.0)),
        ("smooth", brought(command=(0.7, 0.0, 90.0)), 0.0),
        ("change_vx", brought(command=(1.2, 0.0, 3.4)), 0.25),
        ("change_omega", brought(command=(1.2, 0.0, 3.4)), 9.0),
        ("heading", brought(detour=0.1), math.pi / 6 - 0.1),
        ("heading", brought(detour=1.0), math.pi / 6 - 1.0),
        ("safe_depth", brought(nearest=0.55), 0.25),  # 0.3 + 0.5 - 0.55
        ("safe_depth", brought(nearest=0.81), 0.0),
        ("reverse_rate", brought(command=(-0.6, 0.0, 0.0)), 0.6),
        ("reverse_rate", brought(command=(-0.4, 0.0, 0.0)), 0.0),
        ("boost", brought(command=(0.6, 0.0, 0.0)), 0.6),
        ("boost", brought(command=(-0.6, 0.0, 0.0)), 0.0),
        ("jump_vx", brought(command=(0.2, 0.0, 3.4)), 0.5),
        ("jump_omega", brought(command=(1.2, 0.0, -2.6)), 3.0),
        ("elder_depth", brought(elder=0.25), 1.0),
        ("elder_depth", brought(elder=1.3), 0.0),
        ("adult", brought(adult=1.24), 1.0),
        ("adult_depth", brought(adult=-0.25), 1.5),
        ("adult_hit", brought(adult=0.04, elder=1.0), 1.0),
        ("adult_hit", brought(adult=1.0, elder=0.04), 0.0),
        ("adult_speed", brought(adult=1.0), 0.7),
        ("adult_speed", brought(adult=1.3), 0.0),
        ("pedestrian", brought(clearance=0.5), 1.0),
        ("pedestrian", brought(clearance=0.52), 0.0),
        ("elder", brought(elder=1.24), 1.0),
        ("elder", brought(elder=1.26), 0.0),
        ("elder_hit", brought(elder=0.04), 1.0),
        ("elder_hit", brought(elder=0.06), 0.0),
        ("elder_speed", brought(elder=1.2), 0.7),
        ("elder_speed", brought(elder=1.3), 0.0),
        ("turning", brought(command=(0.0, 0.0, -5.5)), 5.5),
        ("turning", brought(command=(0.0, 0.0, 4.5)), 0.0),
    ],
)
def test_a_unit_is_worth_its_closed_form(weight, transition, value):
    assert worth(weight, transition) == pytest.approx(value, abs=1e-6)


def test_the_metres_of_approach_may_be_those_of_the_path():
    assert worth("approach", brought(progress=0.3, way=0.1), along_path=True) == pytest.approx(0.1)
    assert worth("retreat", brought(progress=0.3, way=-0.1), along_path=True) == pytest.approx(-0.1)


def test_motion_may_count_nothing_where_the_safe_distance_is_breached():
    near = brought(progress=0.3, nearest=0.5)
    assert worth("approach", near) == pytest.approx(0.3)
    assert worth("approach", near, unsafe_too=False) == 0.0
    assert worth("approach", brought(progress=0.3), unsafe_too=False) == pytest.approx(0.3)
    assert worth("collision", brought(Outcome.WALL_COLLISION, nearest=0.5), unsafe_too=False) == 1.0


def test_every_weight_asks_for_what_its_unit_reads():
    for one in dataclasses.fields(ArenaReward):
        if one.type == "float" and not one.name.endswith(("_distance", "_rate", "reverse_speed")):
            assert worth(one.name, brought()) is not None
    assert DEFAULT.asks == {"nearest", "radius", "command"}
    assert NOTHING.asks == frozenset()


def test_a_reward_is_the_sum_of_its_terms():
    busy = brought(Outcome.PEDESTRIAN_COLLISION, 0.2, 0.1, elder=0.01, nearest=0.4, command=(-1.5, 0.0, 5.2))
    terms = BASE_SEMANTIC.terms(busy)
    assert float(BASE_SEMANTIC(busy)[0]) == pytest.approx(sum(float(term[0]) for term in terms.values()), abs=1e-5)
    changes = -0.0025 * 2.2**2 - 0.005 * 4.8**2
    assert float(BASE_SEMANTIC(busy)[0]) == pytest.approx(-20 - 0.2 + 0.5 * 0.2 - 0.025 + changes - 0.15 - 5 - 0.01 * 5.2, abs=1e-4)


def test_the_training_has_the_preset_along_the_path():
    assert load_training("rosnav_rl").trainer.part.reward == dataclasses.replace(DEFAULT, along_path=True)


def test_wrong_weights_and_unknown_facts_are_refused():
    with pytest.raises(InputError, match="retreat: expected a finite number"):
        ArenaReward(retreat=math.inf)
    with pytest.raises(InputError, match="safe_distance: expected a number of at least 0"):
        ArenaReward(safe_distance=-0.1)
    with pytest.raises(UnknownNameError, match="no fact called 'nearst'.*nearest"):
        channels_of(["nearst"])


@dataclasses.dataclass(frozen=True)
class Everything:
    """A reward of nothing that keeps what it was told."""

    told: list[Transition]
    asks: frozenset[str] = frozenset(FACTS)

    def terms(self, transition: Transition) -> dict[str, np.ndarray]:
        return {}

    def __call__(self, transition: Transition) -> np.ndarray:
        self.told.append(transition)
        return np.zeros(len(transition.outcome), np.float32)


def test_facts_are_those_of_the_worlds():
    told: list[Transition] = []
    whole = suite(robot="jackal", dynamic=6, timeout=2.0, ends=(), world=Named.of("worlds", "folder", path="hall"))
    env = AgoraVectorEnv(whole, "walk", 3, observe=Observe(0), reward=Everything(told), autoreset=False)
    env.reset()
    world = env._parts[0].batch.world
    world.minds.type[0, 1] = 1
    before, ways = np.zeros((3, 3), np.float32), []
    for k in range(6):
        actions = np.array([[0.1 * k, 0.2], [0.8, -0.1 * k], [0.9, 0.0]], np.float32)
        o = env._parts[0].batch.observer.observe()
        path, count, start = o.path.copy(), o.path_count.copy(), o.pose.copy()
        env.step(actions)
        facts, now = told[-1].facts, env._parts[0].batch.observer.observe()
        command = np.column_stack([2.0 * actions[:, 0], np.zeros(3), 4.0 * actions[:, 1]])
        assert facts["command"] == pytest.approx(command, abs=1e-6)
        assert facts["command_before"] == pytest.approx(before, abs=1e-6)
        assert facts["radius"] == pytest.approx([0.267] * 3)
        assert facts["nearest"] == pytest.approx(np.nanmin(now.scan, 1))
        people = world.pedestrians
        gap = math.hypot(people.x[0, 1] - now.pose[0, 0], people.y[0, 1] - now.pose[0, 1]) - 0.267 - world.traits.radius[0, 1]
        assert facts["elder"] == pytest.approx([gap, np.inf, np.inf], abs=1e-5)
        for w in range(3):
            line = densely(path[w, : count[w]].astype(float))
            apart = [np.hypot(*(line - pose[w, :2]).T) for pose in (start, now.pose)]
            assert facts["path_distance"][w] == pytest.approx(apart[1].min(), abs=2e-3)
            assert facts["path_approach"][w] == pytest.approx(apart[0].min() - apart[1].min(), abs=4e-3)
            ways.append((facts["way"][w], (np.argmin(apart[1]) - np.argmin(apart[0])) * 1e-3))
        before = command
    given, expected = np.array(ways).T
    assert np.median(np.abs(given - expected)) < 5e-3
    assert np.abs(expected).max() > 0.05
    env.reset()
    env.step(np.full((3, 2), 0.3, np.float32))
    assert not told[-1].facts["command_before"].any()
    env.close()


def densely(path: np.ndarray) -> np.ndarray:
    """Points every millimetre along a path."""
    steps = np.hypot(*np.diff(path, axis=0).T)
    at = np.concatenate([[0.0], np.cumsum(steps)])
    return np.column_stack([np.interp(np.arange(0.0, at[-1], 1e-3), at, path[:, k]) for k in (0, 1)])
