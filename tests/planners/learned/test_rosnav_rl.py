"""ROSNavRL sees in driving what it saw in training, and drives no other robot."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch
from tests.learning.suites import suite

from agora.core.recording import Outcome
from agora.episode import Conditions, Episodes
from agora.errors import InputError
from agora.interfaces import Declaration
from agora.learning.env import AgoraVectorEnv
from agora.planners.learned.rosnav_rl import RosnavRl
from agora.policies.encoding import Observe, to_twists
from agora.policies.policy import Policy, TrainedRobot, load_policy
from agora.robots.model import load_robot
from agora.tasks.suite import load_suite
from agora.testing.scenes import observation

SEE = Observe(beams=9, goal_range=5.0, lookahead=1.5)
JACKAL = load_robot("jackal")


@pytest.fixture
def policy():
    torch.manual_seed(2)
    return Policy.of_torch(SEE, [torch.nn.Linear(SEE.length, 2)], {"label": "small"}, TrainedRobot.of(JACKAL), 0.1)


@pytest.fixture
def planner(policy, tmp_path):
    policy.save(tmp_path / "one.safetensors")
    return RosnavRl(str(tmp_path / "one.safetensors"))


def seen_by_jackal(rows: int = 3, dt: float = 0.1, **other: float) -> Any:
    """Return the observation of Jackals, some of whose limits may be others."""
    o = observation(rows=rows, beams=JACKAL.lidar.beams)
    angles = np.linspace(JACKAL.lidar.angle_min, JACKAL.lidar.angle_max, JACKAL.lidar.beams).astype(np.float32)
    limits = JACKAL.limits(rows)
    limits = dataclasses.replace(limits, **{name: np.full(rows, value, np.float32) for name, value in other.items()})
    return dataclasses.replace(o, dt=dt, limits=limits, scan_angles=angles)


@dataclasses.dataclass(frozen=True)
class Watched:
    """A planner that keeps what its policy sees."""

    planner: RosnavRl
    seen: list[np.ndarray]

    @property
    def declares(self) -> Declaration:
        return self.planner.declares

    def act(self, observation: Any, memory: Any) -> Any:
        self.seen.append(self.planner.policy.observe(observation))
        return self.planner.act(observation, memory)


def test_it_sees_in_driving_what_it_saw_in_training(policy, planner):
    whole = suite(robot="jackal", distance=6.0, timeout=3.0, ends=(), episodes=1)
    env, drives = AgoraVectorEnv(whole, "walk", 1, observe=SEE), Watched(planner, [])
    list(Episodes(env.starts, drives, Conditions.of(whole.stage("walk")), worlds=1))
    seen, ended = env.reset()[0], False
    trained = []
    while not ended:
        trained.append(seen)
        seen, _, terminated, truncated, _ = env.step(policy(seen))
        ended = bool((terminated | truncated)[0])
    env.close()
    assert len(trained) == len(drives.seen) > 20
    assert np.concatenate(trained) == pytest.approx(np.concatenate(drives.seen), abs=1e-6)


def test_the_goal_that_is_seen_is_the_point_ahead_on_the_path():
    path = np.array([[[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]]], np.float32)
    o = dataclasses.replace(
        observation(rows=1, beams=9),
        pose=np.array([[1.0, 0.5, np.pi / 2]], np.float32),
        goal=np.array([[3.0, 4.0, 0.0]], np.float32),
        path=path,
        path_count=np.array([3], np.int32),
    )
    see = Observe(0, goal_range=10.0, lookahead=2.5)
    ahead = np.array([3.0, 0.5]) - (1.0, 0.5)
    assert see(o)[0, :3] == pytest.approx([np.hypot(*ahead) / 10, 0.0, -1.0], abs=1e-6)
    whole = np.array([3.0, 4.0]) - (1.0, 0.5)
    for other in (dataclasses.replace(see, lookahead=9.0), dataclasses.replace(see, lookahead=0.0)):
        assert other(o)[0, 0] == pytest.approx(np.hypot(*whole) / 10, abs=1e-6)
    none = dataclasses.replace(o, path_count=np.zeros(1, np.int32))
    assert see(none)[0, 0] == pytest.approx(np.hypot(*whole) / 10, abs=1e-6)
    assert see.needs == {"path"}


def test_its_file_names_the_robot_and_the_lookahead(policy, planner):
    read = load_policy(planner.file)
    assert read.body == policy.body == TrainedRobot(-2.0, 2.0, 0.0, 4.0, JACKAL.lidar.angle_min, JACKAL.lidar.angle_max)
    assert read.observe == SEE
    assert planner.declares.label == "small"


def test_a_longer_period_is_refused_with_both_sides(planner):
    with pytest.raises(InputError, match=r"control period of 0.1 s, and the robot's is 0.25 s"):
        planner.act(seen_by_jackal(dt=0.25), {})


@pytest.mark.parametrize(("half_span", "beams"), [(np.pi, 360), (2.4, 51), (JACKAL.lidar.angle_max + 0.01, 720)])
def test_a_wider_lidar_is_read_in_the_directions_of_the_jackals(planner, half_span, beams):
    """A wall across the way at 2 m, and nothing else: what a beam reads depends on its direction alone."""

    def ahead(angles):
        return np.where(np.abs(angles) < 1.3, 2.0 / np.cos(np.clip(angles, -1.3, 1.3)), 30.0).astype(np.float32)[None].repeat(3, 0)

    o = seen_by_jackal()
    jackal = planner.policy.observe(dataclasses.replace(o, scan=ahead(o.scan_angles)))
    angles = np.linspace(-half_span, half_span, beams).astype(np.float32)
    seen = planner.policy.body.seen(dataclasses.replace(o, scan=ahead(angles), scan_angles=angles), SEE.beams)
    assert planner.policy.observe(seen)[:, : SEE.beams] == pytest.approx(jackal[:, : SEE.beams], abs=0.03)


def test_where_a_narrower_lidar_does_not_see_nothing_stands(planner):
    o = seen_by_jackal()
    angles = np.linspace(-1.0, 1.0, 200).astype(np.float32)
    seen = planner.policy.body.seen(dataclasses.replace(o, scan=np.full((3, 200), 0.5, np.float32), scan_angles=angles), SEE.beams)
    middles = np.linspace(JACKAL.lidar.angle_min, JACKAL.lidar.angle_max, 2 * SEE.beams + 1)[1::2]
    half = 0.5 * (middles[1] - middles[0])
    assert (seen.scan[:, np.abs(middles) < 1.0] == 0.5).all()
    assert (seen.scan[:, np.abs(middles) > 1.0 + half] == o.scan_range).all()
    assert np.isfinite(
        planner.act(dataclasses.replace(o, scan=np.full((3, 200), 0.5, np.float32), scan_angles=angles), {}).twists
    ).all()


def test_a_robot_of_other_limits_is_told_what_the_jackal_would_do_within_its_own(planner):
    own = planner.act(seen_by_jackal(), {}).twists
    slow = planner.act(seen_by_jackal(max_vx=0.01, min_vx=-0.01, max_omega=0.5), {}).twists
    assert np.abs(own[:, 0]).max() > 0.01
    assert slow == pytest.approx(np.clip(own, (-0.01, 0.0, -0.5), (0.01, 0.0, 0.5)), abs=1e-6)
    fast = planner.act(seen_by_jackal(max_vx=5.0, max_omega=9.0), {}).twists
    assert fast.tobytes() == own.tobytes()


def test_a_body_has_finite_numbers():
    with pytest.raises(InputError, match="max_vx: expected a finite number"):
        TrainedRobot(-2.0, np.nan, 0.0, 4.0)


def test_an_action_is_held_where_the_robot_decides_more_often(policy, planner):
    calls = [seen_by_jackal(dt=0.05) for _ in range(5)]
    calls = [dataclasses.replace(o, twist=o.twist + np.float32(0.1 * k)) for k, o in enumerate(calls)]
    memory, given = {}, []
    for k, o in enumerate(calls):
        if k == 3:  # another episode begins in the second row
            memory = {
                name: np.where(np.arange(3).reshape(-1, *[1] * (a.ndim - 1)) == 1, 0, a).astype(a.dtype)
                for name, a in memory.items()
            }
        answer = planner.act(o, memory)
        memory = answer.memory
        given.append(answer.twists)
    fresh = [to_twists(policy(SEE(o)), o.limits) for o in calls]
    assert not np.array_equal(fresh[0], fresh[1])
    for row, decided in ((0, (0, 0, 2, 2, 4)), (1, (0, 0, 2, 3, 3))):
        assert [given[k][row].tolist() for k in range(5)] == [fresh[k][row].tolist() for k in decided]


def test_near_the_goal_it_drives_no_faster_than_the_arc_to_it_allows():
    """On an arc of radius R a robot that turns by omega drives omega R. The arc to a goal abeam has half its distance."""
    o, planner = seen_by_jackal(), RosnavRl()
    free = dataclasses.replace(planner, approach=0.0).act(o, {}).twists
    assert free[:, 0].max() > 0.5
    pose, turn = o.pose, float(o.limits.max_omega[0])
    for bearing, radius in ((np.pi / 2, 0.2), (np.pi / 4, 0.2 * np.sqrt(2)), (-np.pi / 6, 0.4), (2.9, 0.2), (0.0, np.inf)):
        heading = pose[:, 2] + bearing
        near = pose[:, :2] + 0.4 * np.stack([np.cos(heading), np.sin(heading)], 1)
        there = dataclasses.replace(o, goal=np.concatenate([near, o.goal[:, 2:]], 1).astype(np.float32))
        theirs = dataclasses.replace(planner, approach=0.0).act(there, {}).twists
        twists = planner.act(there, {}).twists
        assert twists[:, 0] == pytest.approx(np.minimum(theirs[:, 0], turn * radius), rel=1e-4)
        assert twists[:, 1:].tobytes() == theirs[:, 1:].tobytes()
    assert planner.act(o, {}).twists.tobytes() == free.tobytes(), "far from the goal nothing is limited"


def test_it_does_not_circle_about_a_goal_of_a_smaller_tolerance_than_in_training():
    benchmark = load_suite("planners")
    start = benchmark.start("intersection", 3)
    assert start.goal_tolerance == 0.3
    ((_, (robot,)),) = Episodes([start], RosnavRl(), Conditions.of(benchmark.stage("intersection")))
    assert robot.outcome is Outcome.REACHED and robot.time[-1] < 12.0
