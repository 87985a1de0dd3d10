"""The planner `ds_rnn` drives as its policy was trained, remembers the episode alone, and keeps to the trained period."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from agora.core.recording import Outcome
from agora.draft.periods import Periods
from agora.episode import Conditions, Episodes
from agora.errors import InputError
from agora.interfaces import Shape
from agora.learning.env import AgoraVectorEnv
from agora.planners.learned.ds_rnn import DsRnn
from agora.planners.memory import reset
from agora.policies.networks.ds_rnn import DsRnnNetwork
from agora.policies.policy import decides
from agora.policies.robot_and_people import RobotAndPeople
from agora.tasks.suite import load_suite
from agora.testing import check_planner
from agora.testing.scenes import Move, observation

SEE = RobotAndPeople(people=4)
SCENE = {"rows": 5, "pedestrians": 6, "max_vy": 1.0, "dt": 0.25}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """An untrained policy, which goes to its goal more or less."""
    torch.manual_seed(11)
    network = DsRnnNetwork(0.2).learner(Shape(SEE, 2, period=0.25))
    with torch.no_grad():
        network.actor[-1].bias[:] = torch.tensor([0.9, 0.1])
    path = tmp_path_factory.mktemp("policy") / "own.safetensors"
    network.policy({"label": "own"}).save(path)
    return path


@pytest.fixture(scope="module")
def planner(file):
    return DsRnn(str(file))


def speed_of(answer):
    return np.hypot(*answer.twists[:, :2].T)


def test_it_keeps_the_contract_of_planners(file):
    check_planner(DsRnn(str(file)), handed=True, gives_way=False)  # an untrained one does not


def test_it_drives_no_faster_than_the_preferred_speed_and_as_the_map_is_turned(planner):
    here, there = (planner.act(observation(**SCENE, move=move), {}) for move in (Move(), Move(dx=14.0, dy=-9.1, turn=-1.3)))
    assert speed_of(here).max() <= 1.0 + 1e-6 and speed_of(here).min() > 0.05
    assert there.twists == pytest.approx(here.twists, abs=1e-4)


def test_memory_is_the_episodes_and_a_row_that_begins_anew_has_none(planner):
    o = observation(**SCENE)
    first = planner.act(o, {})
    second = planner.act(o, first.memory)
    assert np.abs(second.twists - first.twists).max() > 1e-3, "what was seen before counts"
    assert all(len(part) == 5 for part in second.memory.values())
    rows = np.array([False, True, False, True, True])
    third, again = planner.act(o, reset(second.memory, rows)), planner.act(o, second.memory)
    assert third.twists[rows].tobytes() == first.twists[rows].tobytes()
    assert third.twists[~rows].tobytes() == again.twists[~rows].tobytes()


def test_a_shorter_period_that_divides_the_trained_one_holds_the_velocity(planner):
    o = observation(**SCENE)
    fine = replace(o, dt=0.05)
    memory, held = {}, []
    for _ in range(7):
        answer = planner.act(fine, memory)
        held.append(answer.twists)
        memory = answer.memory
    slow = planner.act(o, {})
    assert all(one == pytest.approx(slow.twists, abs=1e-6) for one in held[:5])
    assert held[5] == pytest.approx(planner.act(o, slow.memory).twists, abs=1e-6) and (held[5] == held[6]).all()
    half = reset(memory, np.array([True, False, False, False, False]))
    mixed = planner.act(fine, half)
    assert mixed.twists[0] == pytest.approx(slow.twists[0], abs=1e-6), "each row counts its own calls"
    assert (mixed.twists[1:] == held[6][1:]).all()


def test_a_longer_period_is_refused_with_both(planner):
    with pytest.raises(InputError, match="trained with a control period of 0.25 s, and the robot's is 0.3 s"):
        planner.act(observation(**(SCENE | {"dt": 0.3})), {})


def test_with_a_period_that_is_no_whole_part_decisions_come_every_trained_period_in_the_mean(planner):
    """Every 0.1 s: at 0, 0.3, 0.5, 0.8 and 1 s."""
    calls = np.arange(11)
    assert np.flatnonzero(decides(calls, 0.25, 0.1)).tolist() == [0, 3, 5, 8, 10]
    assert decides(calls, 0.25, 0.25).all() and decides(calls, 0.25, 0.2501).all()
    for dt in (0.1, 0.07, 0.24, 0.001):
        decided = np.flatnonzero(decides(np.arange(20_000), 0.25, dt)) * dt
        ideal = 0.25 * np.arange(len(decided))
        assert (decided >= ideal - 1e-3).all() and (decided < ideal + dt + 1e-3).all()
    moving, memory, states = observation(**(SCENE | {"dt": 0.1})), {}, []
    for _ in range(6):
        memory = planner.act(moving, memory).memory
        states.append(memory["state"])
    assert [np.array_equal(a, b) for a, b in zip(states[:-1], states[1:], strict=True)] == [True, True, False, True, False]


def test_an_episode_is_the_same_in_training_and_in_driving(file, planner):
    suite = load_suite("dsrnn")
    few = replace(suite, stages=tuple(replace(s, episodes=6, timeout=8.0) for s in suite.stages))
    driven = {k: r[0] for k, r in Episodes([few.start("test", k) for k in range(6)], planner, Conditions.of(few.stage("test")))}
    env = AgoraVectorEnv(few, "test", 6, observe=SEE)
    assert env.single_action_space.shape == (2,)
    seen, _ = env.reset()
    state, ends = np.zeros((6, planner.policy.state_size), np.float32), {}
    for _ in range(32):
        actions, state = planner.policy.step(seen, state)
        seen, _, terminated, truncated, infos = env.step(actions)
        for w in np.flatnonzero(terminated | truncated):
            final = infos["final_info"]
            ends.setdefault(int(w), (str(final["outcome"][w]), float(final["time"][w])))
    env.close()
    assert ends == {k: (r.outcome.label, pytest.approx(float(r.time[-1]))) for k, r in driven.items()}
    assert {r.outcome for r in driven.values()} - {Outcome.PLANNER_FAILED} == {r.outcome for r in driven.values()}


def test_with_finer_control_it_still_drives_whole_episodes(planner):
    suite = load_suite("dsrnn")
    stage = replace(suite.stage("test"), periods=Periods(0.05, 0.05, 0.25, 0.05), timeout=4.0)
    starts = [replace(suite.start("test", k), timeout=4.0) for k in range(3)]
    for _, (robot,) in Episodes(starts, planner, Conditions.of(stage)):
        assert robot.outcome is not Outcome.PLANNER_FAILED
        turns = np.abs(np.diff(robot.pose[:, :2], 2, axis=0)).max(1) > 1e-4
        assert not turns[np.arange(len(turns)) % 5 != 4].any(), "the velocity changes every 0.25 s alone"


def test_driving_needs_neither_torch_nor_gymnasium(file):
    script = (
        f"import sys; from agora.planners.learned.ds_rnn import DsRnn; DsRnn({str(file)!r}).policy; "
        "assert not {'torch', 'gymnasium'} & set(sys.modules), set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
