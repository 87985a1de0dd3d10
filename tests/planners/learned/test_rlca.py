"""RLCA sees in driving what its robots saw in training, earlier scans too."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch
from tests.learning.suites import suite

from agora.episode import Conditions, Episodes
from agora.interfaces import Declaration
from agora.learning.env import AgoraVectorEnv
from agora.planners.learned.rlca import Rlca
from agora.planners.memory import reset
from agora.policies.encoding import Observe
from agora.policies.policy import Policy, TrainedRobot, load_policy
from agora.registry import Named
from agora.robots.model import load_robot
from agora.testing.scenes import observation

SEE = Observe(beams=9, scan_range=6.0, goal_range=10.0, scans=3)
ROBOT = load_robot("rlca")


@pytest.fixture
def planner(tmp_path):
    torch.manual_seed(2)
    policy = Policy.of_torch(SEE, [torch.nn.Linear(SEE.length, 2)], {"label": "small"}, TrainedRobot.of(ROBOT), 0.1)
    policy.save(tmp_path / "one.safetensors")
    return Rlca(str(tmp_path / "one.safetensors"))


def seen_by_robots(rows: int = 3, dt: float = 0.1, seed: int = 1) -> Any:
    """Return the observation of RLCA's robots, with a scan of their own for each seed."""
    o = observation(rows=rows, beams=ROBOT.lidar.beams)
    angles = np.linspace(ROBOT.lidar.angle_min, ROBOT.lidar.angle_max, ROBOT.lidar.beams).astype(np.float32)
    scan = np.random.default_rng(seed).uniform(0.3, 8.0, o.scan.shape).astype(np.float32)
    return dataclasses.replace(o, dt=dt, limits=ROBOT.limits(rows), scan_angles=angles, scan=scan)


@dataclasses.dataclass(frozen=True)
class Watched:
    """A planner that keeps what its policy sees."""

    planner: Rlca
    seen: list[np.ndarray]

    @property
    def declares(self) -> Declaration:
        return self.planner.declares

    def act(self, observation: Any, memory: Any) -> Any:
        answer = self.planner.act(observation, memory)
        self.seen.append(answer.memory["looked"].copy())
        return answer


def test_it_sees_in_driving_what_every_robot_saw_in_training(planner):
    world = Named.of("worlds", "open", width=15.0, height=13.0)
    robots = Named.of("robots_modes", "circle", count=3, radius=(3.0, 3.0), noise=0.3)
    whole = suite(world=world, robots=robots, robot="rlca", dynamic=2, timeout=4.0, ends=(), episodes=2)
    env, drives = AgoraVectorEnv(whole, "walk", 1, observe=SEE), Watched(planner, [])
    list(Episodes(env.starts, drives, Conditions.of(whole.stage("walk")), worlds=1))
    seen, infos = env.reset()
    episodes: dict[int, list[np.ndarray]] = {0: [], 1: []}
    while len(episodes[1]) < 40:
        episodes[int(infos["entry"][0])].append(seen)
        seen, *_, after = env.step(planner.policy(seen))
        infos = after if "entry" in after else infos
    env.close()
    driven = np.array(drives.seen).reshape(2, 40, 3, SEE.length)  # the loop takes the last start first
    compared = {tuple(np.abs(driven[k] - np.array(episodes[e])).max(initial=0.0) < 1e-6 for e in (0, 1)) for k in (0, 1)}
    assert compared == {(True, False), (False, True)}
    earlier = driven[..., SEE.parts["earlier"]]
    assert np.abs(earlier[:, 5:] - np.tile(driven[:, 5:, :, :9], 2)).max() > 0.01


def test_a_new_episode_forgets_the_scans_of_the_one_before(planner):
    memory: Any = {}
    for seed in (1, 2, 3):
        answer = planner.act(seen_by_robots(seed=seed), memory)
        memory = answer.memory
    begun = reset(memory, np.array([False, True, False]))
    o = seen_by_robots(seed=4)
    on, fresh = planner.act(o, begun), planner.act(o, {})
    assert np.array_equal(on.twists[1], fresh.twists[1]) and not np.allclose(on.twists[0], fresh.twists[0])
    assert np.array_equal(on.memory["looked"][1, SEE.parts["earlier"]], np.tile(SEE(o)[1, :9], 2))


def test_with_a_shorter_period_actions_are_held_and_scans_stay_a_trained_period_apart(planner):
    slow, memory, answers = {}, {}, []
    for k in range(6):
        answer = planner.act(seen_by_robots(dt=0.05, seed=k), memory)
        memory = answer.memory
        answers.append((answer.twists, memory["looked"]))
    for k in (0, 2, 4):
        slow_answer = planner.act(seen_by_robots(seed=k), slow)
        slow = slow_answer.memory
        assert np.array_equal(answers[k][0], answers[k + 1][0])
        assert answers[k][0] == pytest.approx(slow_answer.twists, abs=1e-6)
        assert np.array_equal(answers[k][1], slow["looked"]) and np.array_equal(answers[k + 1][1], slow["looked"])


def test_its_file_names_the_scans(planner):
    assert load_policy(planner.file).observe == SEE


@pytest.mark.parametrize(("count", "radius"), [(2, 5.0), (4, 8.0), (8, 8.0)])
def test_robots_that_drive_by_the_weights_that_come_along_change_places_without_a_contact(count, radius):
    world = Named.of("worlds", "open", width=34.0, height=31.0)
    robots = Named.of("robots_modes", "circle", count=count, radius=(radius, radius), noise=0.1)
    more = {"robot": "rlca", "dynamic": 0, "timeout": 40.0, "goal_tolerance": 0.5, "safety": 0.1, "episodes": 3}
    whole = suite(world=world, robots=robots, seed=11, **more)
    starts = [whole.start("walk", k) for k in range(3)]
    recorded = dict(Episodes(starts, Rlca(), Conditions.of(whole.stage("walk"))))
    ends = [one.outcome.label for recordings in recorded.values() for one in recordings]
    assert ends.count("reached") >= (1.0 if count < 8 else 0.8) * 3 * count
    fastest = 2 * radius - 0.5 - 2 * 0.15
    assert all(fastest <= one.time[-1] <= 2.0 * fastest for one in recorded[0] if one.outcome.label == "reached")
