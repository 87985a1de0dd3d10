"""The library's encodings, networks and rewards keep their contracts, and the contracts see who breaks them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from agora.interfaces import Encoding
from agora.learning.arena_reward import ArenaReward
from agora.learning.cadrl_reward import CadrlReward
from agora.learning.drl_vo_reward import DrlVoReward
from agora.learning.rewards import Reward
from agora.policies.agents import Agents
from agora.policies.commands import Commands
from agora.policies.encoding import FromLimitToLimit, Observe
from agora.policies.joint_state import JointState
from agora.policies.key_points import KeyPoints
from agora.policies.networks.ag_rl import AgRlNetwork
from agora.policies.networks.cadrl import CadrlNetwork
from agora.policies.networks.ds_rnn import DsRnnNetwork
from agora.policies.networks.ga3c import Ga3cNetwork
from agora.policies.networks.judge import Judge
from agora.policies.networks.lstm_rl import LstmRlNetwork
from agora.policies.networks.mlp import Mlp
from agora.policies.networks.sa_cadrl import SaCadrlNetwork
from agora.policies.networks.sarl import SarlNetwork
from agora.policies.planner_choice import PlannerChoice
from agora.policies.robot_and_people import RobotAndPeople
from agora.policies.rollout_settings import RolloutSettings
from agora.policies.scan_and_aim import ScanAndAim
from agora.registry import available, load, name_of
from agora.testing import ContractError, check_encoding, check_network, check_reward

ENCODINGS = [
    Observe(7, pedestrians=3, lookahead=1.5, scans=3),
    Observe(0, goal_range=3.0),
    JointState(people=2),
    RobotAndPeople(people=3, places_only=False),
    RolloutSettings(beams=9),
    PlannerChoice(("teb", "dwa", "orca"), beams=7, pedestrians=2),
    Commands(),
    Commands(people=2, reach=3.0, sectors=32, margin=0.1),
    Agents(people=3),
    KeyPoints(beams=7, points=3),
    ScanAndAim(beams=7),
]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_encodings_keep_the_contract(encoding):
    check_encoding(encoding)


SEE = RobotAndPeople(people=3)
NETWORKS = [
    (Mlp((9, 4), ("tanh", "relu", "sigmoid")), Observe(5, pedestrians=1), 3, 0.1),
    (DsRnnNetwork(0.1), SEE, 2, 0.25),
    (AgRlNetwork(0.1), SEE, 2, 0.25),
    (Ga3cNetwork(0.2), Agents(people=2), 2, 0.2),
    (CadrlNetwork(0.1), JointState(people=2), 2, 0.25),
    (SarlNetwork(0.1), JointState(people=2), 2, 0.25),
    (LstmRlNetwork(0.1), JointState(people=2), 2, 0.25),
    (SaCadrlNetwork(0.1), JointState(people=2), 2, 0.25),
    (Judge((7, 5), (6, 4)), Commands(people=3), 1, 0.1),
]


@pytest.mark.parametrize(("network", "observe", "actions", "period"), NETWORKS, ids=lambda one: type(one).__name__)
def test_the_networks_keep_the_contract(network, observe, actions, period):
    check_network(network, observe, actions=actions, period=period)


REWARDS = [
    Reward(foreseen=-1.0),
    CadrlReward(progress=0.2),
    ArenaReward(elder=-1.0, heading=0.1, along_path=True, smooth=0.1),
    DrlVoReward(),
]


@pytest.mark.parametrize("reward", REWARDS)
def test_the_rewards_keep_the_contract(reward):
    check_reward(reward)


@pytest.mark.parametrize(
    ("kind", "checked"), [("encodings", ENCODINGS), ("networks", [one[0] for one in NETWORKS]), ("rewards", REWARDS)]
)
def test_each_part_of_the_library_is_checked(kind, checked):
    names = {name_of(kind, one) for one in checked}
    assert names == {name for name in available(kind) if load(kind, name).__module__.startswith("agora.")}


@dataclasses.dataclass(frozen=True)
class Broken(FromLimitToLimit):
    """Sees the goal's distance, with one fault."""

    fault: str = ""
    needs = frozenset()
    length = 1
    low, high = np.zeros(1, np.float32), np.full(1, 30.0, np.float32)

    def write(self, observation, out, first, last):
        away = np.hypot(*(observation.goal - observation.pose)[:, :2].T)
        out[first:last, 0] = away[first:last] * (-1.0 if self.fault == "bounds" else 1.0)
        if self.fault == "others":
            out[:, 0] = away
        if self.fault == "mean":
            out[first:last, 0] += away[first:last].mean()
        if self.fault == "writes":
            observation.limits.max_vx[:] = 9.0

    def remember(self, seen, before, begins):
        if self.fault == "remembers":
            seen += before

    def actions(self, twists, limits, pose, goal):
        return super().actions(twists, limits, pose, goal) * (0.5 if self.fault == "actions" else 1.0)


@pytest.mark.parametrize(
    ("fault", "clause"),
    [
        ("", None),
        ("bounds", "value 0 is -"),
        ("others", "it also writes other rows"),
        ("mean", "different result when encoded alone"),
        ("writes", "writes to"),
        ("remembers", "twice"),
        ("actions", "give different twists"),
    ],
)
def test_an_encoding_that_breaks_a_clause_is_told(monkeypatch, fault, clause):
    monkeypatch.setattr("agora.testing.encodings.name_of", lambda kind, encoding: "broken")
    monkeypatch.setattr("agora.testing.encodings.written_and_read", lambda encoding: encoding)
    broken: Encoding = Broken(fault)
    if clause is None:
        check_encoding(broken)
        return
    with pytest.raises(ContractError, match=f"Broken: .*{clause}"):
        check_encoding(broken)


def test_what_is_not_registered_breaks_the_contract():
    with pytest.raises(ContractError, match='encoding Broken is not registered; .*project.entry-points."agora.encodings"'):
        check_encoding(Broken())


class Together(PlannerChoice):
    """Scores planners by all robots' actions."""

    def settings(self, actions):
        return super().settings(actions - actions.max(0))


def test_a_setting_that_depends_on_other_robots_is_told(monkeypatch):
    monkeypatch.setattr("agora.testing.encodings.name_of", lambda kind, encoding: "together")
    monkeypatch.setattr("agora.testing.encodings.written_and_read", lambda encoding: encoding)
    with pytest.raises(ContractError, match="Together: setting planner of a robot depends on other robots"):
        check_encoding(Together())


class Forgetful(Mlp):
    """Layers that answer otherwise than PyTorch's."""

    def step(self, arrays, seen, state):
        actions, state = super().step(arrays, seen, state)
        return actions + np.float32(0.1), state


def test_a_network_that_drives_otherwise_than_it_learned_is_told():
    with pytest.raises(ContractError, match="Forgetful: step 0: the policy returns"):
        check_network(Forgetful((4,)), Observe(3))


@dataclasses.dataclass(frozen=True)
class Jealous(Reward):
    """Rewards by the mean of all robots."""

    def terms(self, transition):
        return {name: term - term.mean() for name, term in super().terms(transition).items()}


def test_a_reward_that_looks_at_others_is_told(monkeypatch):
    monkeypatch.setattr("agora.testing.rewards.plain", lambda reward, kind: "weighted")
    monkeypatch.setattr("agora.testing.rewards.build", lambda values, kind: {"reward": Jealous(progress=1.0)})
    with pytest.raises(ContractError, match="Jealous: the reward of robot . depends on other robots"):
        check_reward(Jealous(progress=1.0))
