"""The planner `ga3c_cadrl` drives as its policy was trained, and keeps to the trained period."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from agora.episode import Conditions, Episodes
from agora.errors import InputError
from agora.interfaces import Shape
from agora.learning.env import AgoraVectorEnv
from agora.planners.learned.ga3c_cadrl import Ga3cCadrl
from agora.planners.memory import reset
from agora.policies.agents import Agents
from agora.policies.networks.ga3c import Ga3cNetwork
from agora.robots.model import load_robot
from agora.tasks.suite import load_suite
from agora.testing import check_planner
from agora.testing.scenes import Move, observation

SEE = Agents(people=4)
SCENE = {"rows": 8, "pedestrians": 6, "dt": 0.2}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """An untrained policy that likes to drive."""
    torch.manual_seed(11)
    network = Ga3cNetwork(width=0.2).learner(Shape(SEE, 2, period=0.2))
    with torch.no_grad():
        torch.nn.init.normal_(network.choice.weight, 0.0, 0.4)
        network.choice.bias[:5] = 2.0
    path = tmp_path_factory.mktemp("policy") / "own.safetensors"
    network.policy({"label": "own"}).save(path)
    return path


@pytest.fixture(scope="module")
def planner(file):
    return Ga3cCadrl(str(file))


def test_it_keeps_the_contract_of_planners(file):
    check_planner(Ga3cCadrl(str(file)), handed=True, gives_way=False)  # an untrained one does not


def test_it_takes_one_of_the_eleven_actions_and_drives_forwards_alone(planner):
    o = observation(**SCENE, max_vy=0.7)
    o = replace(o, limits=load_robot("crowdnav").limits(8))
    answer = planner.act(o, {})
    turns = np.degrees(answer.twists[:, 2] * 0.2)
    assert {round(float(turn), 3) for turn in turns} <= {-30.0, -15.0, 0.0, 15.0, 30.0} and len(set(turns.tolist())) > 1
    assert {round(float(speed), 3) for speed in answer.twists[:, 0]} <= {0.0, 0.5, 1.0} and not answer.twists[:, 1].any()
    slower = Ga3cCadrl(planner.file, preferred_speed=0.6)
    assert slower.declares.top_speed == pytest.approx(0.6) and slower.act(o, {}).twists[:, 0].max() == pytest.approx(0.6)
    with pytest.raises(InputError, match="preferred_speed"):
        Ga3cCadrl(preferred_speed=0.0)


def test_it_drives_alike_wherever_the_map_begins(planner):
    here, there = (planner.act(observation(**SCENE, move=move), {}) for move in (Move(), Move(dx=14.0, dy=-9.1, turn=-1.3)))
    assert there.twists == pytest.approx(here.twists, abs=1e-4)


def test_a_robot_that_turns_slowly_turns_as_fast_as_it_can_and_a_car_no_tighter_than_it_can(planner):
    o = observation(**SCENE)
    slow = planner.act(replace(o, limits=load_robot("rlca").limits(8)), {}).twists
    assert np.abs(slow[:, 2]).max() == pytest.approx(1.0)
    car = load_robot("f1tenth")
    twists = planner.act(replace(o, limits=car.limits(8)), {}).twists
    assert car.turning_radius > 0.0 and (np.abs(twists[:, 2]) * car.turning_radius <= np.abs(twists[:, 0]) + 1e-5).all()


def test_a_shorter_period_holds_the_twist_and_a_longer_one_is_refused(planner):
    o = observation(**SCENE)
    fine, memory, held = replace(o, dt=0.05), {}, []
    for _ in range(5):
        answer = planner.act(fine, memory)
        fine = replace(fine, goal=fine.goal + np.float32([0.7, -0.9, 0.0]))
        held.append(answer.twists)
        memory = answer.memory
    assert all((one == planner.act(o, {}).twists).all() for one in held[:4])
    assert (held[4] != held[3]).any(), "what is seen has changed"
    rows = np.arange(8) < 3
    mixed = planner.act(replace(o, dt=0.05), reset(memory, rows))
    assert mixed.twists[rows].tobytes() == held[0][rows].tobytes()
    assert mixed.twists[~rows].tobytes() == held[4][~rows].tobytes()
    with pytest.raises(InputError, match=r"trained with a control period of 0.2 s, and the robot's is 0.25 s"):
        planner.act(replace(o, dt=0.25), {})


def test_an_episode_is_the_same_in_training_and_in_driving(planner):
    suite, see = load_suite("ga3c"), planner.policy.observe
    starts = [replace(suite.start("agents_3", k), timeout=6.0) for k in range(4)]
    recorded = dict(Episodes(starts, planner, Conditions.of(suite.stage("agents_3"))))
    driven = {(k, r): one for k, robots in recorded.items() for r, one in enumerate(robots)}
    few = replace(suite, stages=tuple(replace(s, episodes=4, timeout=6.0) for s in suite.stages))
    env = AgoraVectorEnv(few, "agents_3", 4, observe=see)
    seen, _ = env.reset()
    ends: dict[tuple[int, int], tuple[str, float]] = {}
    for _ in range(30):
        seen, _, terminated, truncated, infos = env.step(planner.policy(seen))
        for n in np.flatnonzero(terminated | truncated):
            final = infos["final_info"]
            ends.setdefault(divmod(int(n), 3), (str(final["outcome"][n]), float(final["time"][n])))
    env.close()
    assert ends == {key: (one.outcome.label, pytest.approx(float(one.time[-1]))) for key, one in driven.items()}
    assert len(set(ends.values())) > 1


@pytest.mark.parametrize("robot", ["crowdnav", "burger"])
def test_the_weights_that_come_along_bring_a_robot_that_is_alone_to_its_goal(robot):
    suite = load_suite("ga3c")
    starts = []
    for k in range(12):
        start = suite.start("agents_2", k)
        one = replace(start.robots[0], model=load_robot(robot))
        starts.append(replace(start, robots=(one,), timeout=90.0, goal_tolerance=0.3))
    found = dict(Episodes(starts, Ga3cCadrl(), Conditions.of(suite.stage("agents_2"))))
    ends = [found[k][0] for k in range(12)]
    assert sum(one.outcome.label == "reached" for one in ends) >= 11
    if robot == "crowdnav":
        ways = [math.dist(start.robots[0].pose[:2], start.robots[0].goals[0][:2]) for start in starts]
        assert all(one.time[-1] < 1.3 * way + 2.0 for one, way in zip(ends, ways, strict=True) if one.outcome.label == "reached")


@pytest.mark.parametrize("count", [2, 3, 4])
def test_robots_that_drive_by_the_weights_that_come_along_reach_their_goals(count):
    suite = load_suite("ga3c_training")  # other cases than those of the card
    stage = replace(suite.stage("validation"), name=f"validation_{count}", episodes=30)
    robots = replace(stage.robots, part=replace(stage.robots.part, count=count))
    suite = replace(suite, stages=(replace(stage, robots=robots),))
    starts = [suite.start(suite.stages[0].name, k) for k in range(30)]
    ends = [one.outcome.label for _, many in Episodes(starts, Ga3cCadrl(), Conditions.of(stage)) for one in many]
    assert ends.count("reached") >= 0.93 * 30 * count


def test_driving_needs_neither_torch_nor_gymnasium(file):
    script = (
        f"import sys; from agora.planners.learned.ga3c_cadrl import Ga3cCadrl; Ga3cCadrl({str(file)!r}).policy; "
        "assert not {'torch', 'gymnasium'} & set(sys.modules), set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
