"""CrowdNav's circle crossing, on its own seeds: the reference that the engine is held to.

Chen, Liu, Kreiss, Alahi, "Crowd-robot interaction: crowd-aware robot navigation with attention-based deep reinforcement learning",
ICRA 2019: an ORCA robot that pedestrians do not see reaches its goal in 43 % of 500 cases and collides in 57 %, in 10.86 s.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from agora.core import state
from agora.core.jit import bind
from agora.interfaces import CrowdRecord, Limits, Observation, Tracks
from agora.pedestrians.models.orca import Orca
from agora.planners.local.orca import OrcaPlanner

F = np.float32
CASES, PEDESTRIANS, CIRCLE, RADIUS, SPEED, DT, LAST = 500, 5, 4.0, 0.3, 1.0, 0.25, 24.0
APART = 0.8  # of a start from all starts and goals before it, m: two radii and 0.2


@dataclass(frozen=True)
class Result:
    """Shares of the cases, and the mean time of those that succeeded, s."""

    success: float
    collision: float
    timeout: float
    time: float


def starts(case: int) -> np.ndarray:
    """Start positions (N, 2) of a case; the goals are opposite. The robot goes from (0, -4) to (0, 4)."""
    rng = np.random.RandomState(1000 + case)  # noqa: NPY002 - CrowdNav's seeds
    placed: list[tuple[float, float]] = []
    kept = [(0.0, -CIRCLE), (0.0, CIRCLE)]
    while len(placed) < PEDESTRIANS:
        angle = rng.random_sample() * 2.0 * np.pi
        noise_x, noise_y = (rng.random_sample() - 0.5) * SPEED, (rng.random_sample() - 0.5) * SPEED
        x, y = CIRCLE * np.cos(angle) + noise_x, CIRCLE * np.sin(angle) + noise_y
        if all(np.hypot(x - a, y - b) >= APART for a, b in kept):
            placed.append((x, y))
            kept += [(x, y), (-x, -y)]
    return np.array(placed)


def swept_gap(position: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """Smallest distance from the origin of points (..., 2) that move for one step."""
    way = DT * velocity
    t = np.clip(-(position * way).sum(-1) / np.maximum((way**2).sum(-1), 1e-30), 0.0, 1.0)
    return np.hypot(*np.moveaxis(position + t[..., None] * way, -1, 0))


def open_plane(worlds: int) -> state.Maps:
    """A map on which there is nothing."""
    one, zero, far = np.ones(1, F), np.zeros(1, np.int64), np.full(16, 1e6, F)
    size, none = np.full(1, 4, np.int32), np.zeros(1, np.int32)
    return state.Maps(
        np.zeros(worlds, np.int32), zero, zero, size, size, one, one, one,
        np.zeros(16, np.uint8), far, far, np.zeros((0, 4), F), np.zeros((0, 3), F), none, none, none, none,
    )  # fmt: skip


class Circle:
    """All cases side by side, one world each; positions are float64, the kernels see them as float32."""

    def __init__(self, visible: bool) -> None:
        self.position = np.stack([starts(case) for case in range(CASES)])
        self.goal = -self.position
        self.velocity = np.zeros_like(self.position)
        self.robot = np.tile([0.0, -CIRCLE], (CASES, 1))
        self.robot_velocity = np.zeros((CASES, 2))
        self.target = np.array([0.0, CIRCLE])
        self.sees = 3 if visible else 1
        slots = state.padded_slots(PEDESTRIANS)
        self.people, self.traits = state.pedestrians(CASES, slots), state.traits(CASES, slots)
        self.waypoints = state.waypoints(CASES, slots, 1)
        self.robots, self.robot_traits = state.robots(CASES, 1), state.robot_traits(CASES, 1)
        self.people.active[:, :PEDESTRIANS], self.robots.active[:] = True, True
        self.traits.radius[:], self.traits.speed[:], self.traits.count[:] = RADIUS, SPEED, PEDESTRIANS
        self.waypoints.count[:], self.waypoints.mode[:] = 1, 2
        self.waypoints.x[:, :PEDESTRIANS], self.waypoints.y[:, :PEDESTRIANS] = np.moveaxis(self.goal, -1, 0)
        self.maps, self.out = open_plane(CASES), np.zeros((2, CASES, slots), F)

    def crowd(self) -> np.ndarray:
        """Next velocities of the pedestrians."""
        people, robots, model = self.people, self.robots, Orca()
        people.x[:, :PEDESTRIANS], people.y[:, :PEDESTRIANS] = np.moveaxis(self.position, -1, 0)
        people.vx[:, :PEDESTRIANS], people.vy[:, :PEDESTRIANS] = np.moveaxis(self.velocity, -1, 0)
        robots.x[:, 0], robots.y[:, 0] = self.robot.T
        robots.world_vx[:, 0], robots.world_vy[:, 0] = self.robot_velocity.T
        records = people, self.traits, self.waypoints, robots, self.robot_traits, self.maps
        bind(model.kernel(), model.parameters(), CrowdRecord(F(DT), np.int64(self.sees), *records), *self.out)(0, CASES)
        return np.stack([self.out[0, :, :PEDESTRIANS], self.out[1, :, :PEDESTRIANS]], -1).astype(float)

    def plan(self) -> np.ndarray:
        """Next velocities of the robots, whose heading is 0, so that their frame is the map's."""
        shape = self.position.shape[:2]
        full = np.full(CASES, 1.0, F)
        limits = Limits(np.ones(CASES, bool), -full, full, full, full, 1e6 * full, 1e6 * full, 1e6 * full, 0 * full)
        column = np.zeros((CASES, 1))
        numbers = np.zeros(shape, np.int32)
        tracks = Tracks(
            F(self.position), F(self.velocity), np.full(shape, RADIUS, F), np.ones(shape, bool), numbers, numbers
        )  # fmt: skip
        observation = Observation(
            pose=F(np.hstack([self.robot, column])),
            twist=F(np.hstack([self.robot_velocity, column])),
            goal=F(np.hstack([np.tile(self.target, (CASES, 1)), column])),
            radius=np.full(CASES, RADIUS, F),
            footprint=np.zeros((CASES, 0, 2), F),
            limits=limits,
            dt=DT,
            pedestrians=tracks,
        )
        twist = OrcaPlanner(follow_path=False).act(observation, {}).twists
        assert (twist[:, 2] == 0.0).all()
        return twist[:, :2].astype(float)

    def run(self) -> Result:
        """Step until all have ended: a timeout is tested first, then collisions (swept, at the pedestrians' last velocities)."""
        outcome, time = np.full(CASES, "", "U9"), np.zeros(CASES)
        for k in range(int(LAST / DT) + 1):
            command, velocity = self.plan(), self.crowd()
            gap = swept_gap(self.position - self.robot[:, None], self.velocity - command[:, None]).min(1)
            ahead = self.robot + DT * command
            ends = [
                ("timeout", np.full(CASES, k * DT >= LAST)),
                ("collision", gap < 2 * RADIUS),
                ("success", np.hypot(*(ahead - self.target).T) < RADIUS),
            ]
            for name, happens in ends:
                now = happens & (outcome == "")
                outcome[now], time[now] = name, (k + 1) * DT
            self.robot, self.robot_velocity = ahead, command
            self.position, self.velocity = self.position + DT * velocity, velocity
        shares = [float(np.mean(outcome == name)) for name in ("success", "collision", "timeout")]
        return Result(*shares, float(time[outcome == "success"].mean()))


def test_a_robot_that_nobody_sees_succeeds_as_often_as_published():
    result = Circle(visible=False).run()
    print(f"\n{result}")
    assert result.success == pytest.approx(0.426, abs=0.01)
    assert result.collision == pytest.approx(0.568, abs=0.01)
    assert result.timeout == pytest.approx(0.006, abs=0.01)
    assert result.time == pytest.approx(10.86, abs=0.1)


def test_a_robot_that_all_see_always_succeeds():
    result = Circle(visible=True).run()
    print(f"\n{result}")
    assert (result.success, result.collision) == (1.0, 0.0)
    assert result.time == pytest.approx(10.02, abs=0.1)
