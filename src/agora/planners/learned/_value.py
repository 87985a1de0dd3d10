"""The base class of CrowdNav-family planners, whose policies are value functions."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from agora.core.jit import hidden, kernel
from agora.core.path import point_ahead
from agora.core.recording import Reason
from agora.core.scalar import HALF, ONE, ZERO
from agora.core.state import Array, Bools, Floats, freeze
from agora.costmap.walls import key_count, walls_around, window_of
from agora.costmap.window import Window
from agora.errors import InputError
from agora.interfaces import Answer, Declaration, Memory, Observation
from agora.planners._limits import own
from agora.planners.steering import velocity_to_twist
from agora.policies.joint_state import SPEED, JointState
from agora.policies.networks.value import ValueNetwork
from agora.policies.policy import Policy, load_policy
from agora.policies.weights import weights_file
from agora.ranges import Checked, Duration, Length, Positive, TopSpeed

_QUARTERS = 4
_TINY = np.float32(1e-6)


@dataclass(frozen=True)
class ValuePlanner(Checked):
    """Chooses the velocity that leads to the state with the highest value.

    A holonomic robot drives the velocity directly; for other robots, see `agora.planners.steering.velocity_to_twist`.

    Attributes:
        file: name of a policy that comes with Agora, or path of a safetensors file (`agora.policies.policy.Policy.save`); the
            policy's network must be a value function.
        follow_path: whether to drive to a point on the global path; False drives straight to the goal.
        lookahead: distance along the path to the point to drive to, m, at most the distance to the goal. If the planner sees walls,
            the distance is reduced in steps of a quarter, down to a quarter, until the robot's disc can drive straight to the
            point.
        wall_horizon: velocities that hit a wall within this time are excluded, s; 0 ignores walls.
        window: local costmap, used to see walls.
        reach: distance beyond which people are ignored, m; None for the distance used in training.
        preferred_speed: preferred speed, m/s; None for the speed in the policy's file or, if the file has none, the robot's maximum
            speed (`agora.policies.joint_state.JointState`).
        turn_gain: turning gain for robots that cannot move sideways, 1/s.
    """

    file: str = "sarl"
    follow_path: bool = False
    lookahead: Length = 2.5
    wall_horizon: Duration = 0.0
    window: Window = field(default_factory=lambda: Window(size=4.0, sources=("map",)))
    reach: Length | None = None
    preferred_speed: TopSpeed | None = None
    turn_gain: Positive = 2.0

    def files(self) -> list[Path]:
        """Return the policy's file."""
        return [weights_file(self.file)]

    @cached_property
    def policy(self) -> Policy:
        """Return the policy from the file, with the reach and the preferred speed.

        Raises:
            InputError: the file does not exist or is invalid, or its network is not a value function.
        """
        read = load_policy(self.file)
        if not isinstance(read.network, ValueNetwork):
            raise InputError(f"{self.file}: its network does not evaluate states; the planner 'policy' drives with any policy")
        assert isinstance(read.observe, JointState)
        reach = read.observe.reach if self.reach is None else self.reach
        speed = read.observe.preferred_speed if self.preferred_speed is None else self.preferred_speed
        return replace(read, observe=replace(read.observe, reach=reach, preferred_speed=speed))

    @property
    def network(self) -> ValueNetwork:
        """Return the policy's network."""
        assert isinstance(self.policy.network, ValueNetwork)
        return self.policy.network

    @property
    def observe(self) -> JointState:
        """Return the policy's encoding."""
        assert isinstance(self.policy.observe, JointState)
        return self.policy.observe

    @cached_property
    def declares(self) -> Declaration:
        """Return the needs and label of the policy, plus the channels needed for the path and walls."""
        path, walls = ("path",) if self.follow_path else (), (self.window,) if self.wall_horizon > 0.0 else ()
        needs, speed = (*self.observe.needs, *path, *walls), float(own(self.observe.preferred_speed))
        return Declaration(needs=needs, notes=("reason",), label=self.policy.label, top_speed=speed)

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return twists (N, 3) in the robots' frames; the memory stays empty."""
        aimed = self._observe_aim(observation)
        states = self.policy.see(aimed)
        scale = self.observe.scale(aimed.limits)
        open_ = self._open_candidates(aimed, states, scale)
        wanted = self.network.choose(self.policy.arrays, states, open_) * scale[:, None]
        twists = velocity_to_twist(_to_map_frame(wanted, aimed), observation, self.turn_gain)
        return Answer(twists, notes={"reason": _reasons(wanted, open_)})

    def _observe_aim(self, o: Observation) -> Observation:
        """Return the observation with its goal replaced by the point on the path that the robot drives to."""
        if not self.follow_path or o.path is None or o.path_count is None:
            return o
        goal = o.goal.copy()
        robot = (freeze(o.pose), freeze(o.radius))
        seen = o.costmap if self.wall_horizon > 0.0 else None
        path = (freeze(o.path), freeze(o.path_count))
        _aim(path, robot, window_of(seen, len(goal)), np.float32(self.lookahead), goal, 0, len(goal))
        return replace(o, goal=goal)

    def _open_candidates(self, o: Observation, states: Floats, scale: Floats) -> Bools | None:
        """Return which candidates (N, A) do not hit a wall; None if the planner does not see walls."""
        if o.costmap is None or self.wall_horizon <= 0.0:
            return None
        velocities = self.network.ahead.velocities
        out, seen = np.ones((len(states), len(velocities)), np.bool_), (o.pose, o.goal, o.radius, states[:, SPEED] * scale)
        robot = tuple(freeze(np.ascontiguousarray(array)) for array in seen)
        _leave_open(velocities, robot, window_of(o.costmap, len(out)), np.float32(self.wall_horizon), out, 0, len(out))
        return out


def _reasons(wanted: Floats, open_: Bools | None) -> Array:
    """Return the reasons why robots (N,) stop: walls leave no other candidate, or the policy waits."""
    shut = np.zeros(len(wanted), np.bool_) if open_ is None else ~open_[:, 1:].any(1)
    return np.where(wanted.any(1), Reason.NONE, np.where(shut, Reason.BLOCKED, Reason.WAITING)).astype(np.int8)


def _to_map_frame(velocities: Floats, o: Observation) -> Floats:
    """Transform velocities (N, 2) from the goal frame into the map frame."""
    away = o.goal[:, :2] - o.pose[:, :2]
    distance = np.hypot(away[:, 0], away[:, 1])
    there = distance <= _TINY
    c = np.where(there, np.cos(o.pose[:, 2]), away[:, 0] / np.maximum(distance, _TINY))
    s = np.where(there, np.sin(o.pose[:, 2]), away[:, 1] / np.maximum(distance, _TINY))
    turned: Floats = np.stack([c * velocities[:, 0] - s * velocities[:, 1], s * velocities[:, 0] + c * velocities[:, 1]], -1)
    return turned.astype(np.float32)


@hidden
def _meets_wall(points, count, dx, dy, keep):
    """Return whether a disc of radius ``keep`` that moves from (0, 0) to (dx, dy) touches a wall without moving away from it."""
    length2 = dx * dx + dy * dy
    for w in range(count):
        px, py = points[w, 0], points[w, 1]
        along = px * dx + py * dy
        if length2 > _TINY and along > ZERO:
            share = min(along / length2, ONE)
            ox, oy = px - share * dx, py - share * dy
            if ox * ox + oy * oy < keep * keep:
                return True
    return False


@kernel
def _aim(route, robot, window, lookahead, goal, first, last):
    """Replace each row's goal with the point on its path that the robot drives to."""
    path, path_count = route
    pose, radius = robot
    cost, origin, resolution = window
    keys = np.empty(key_count(max(cost.shape[1], cost.shape[2])), np.int64)
    points = np.empty((keys.size, 2), np.float32)
    for n in range(first, last):
        keep, x, y = radius[n] + HALF * resolution, pose[n, 0], pose[n, 1]
        seen = (cost[n], origin[n, 0], origin[n, 1], resolution, x, y)
        count = walls_around(*seen, keep + lookahead, keys, points)
        for quarter in range(_QUARTERS, 0, -1):
            leads, tx, ty, _ = point_ahead(path[n], path_count[n], x, y, lookahead * np.float32(quarter) / np.float32(_QUARTERS))
            if not leads:
                tx, ty = goal[n, 0], goal[n, 1]
            if quarter == 1 or not _meets_wall(points, count, tx - x, ty - y, keep):
                goal[n, 0], goal[n, 1] = tx, ty
                break


@kernel
def _leave_open(velocities, robot, window, horizon, out, first, last):
    """Exclude the candidates (A,) of each row along whose straight path the robot's disc would touch a wall.

    A robot that already touches a wall may move away from it.
    """
    pose, goal, radius, speed = robot
    cost, origin, resolution = window
    keys = np.empty(key_count(max(cost.shape[1], cost.shape[2])), np.int64)
    points = np.empty((keys.size, 2), np.float32)
    for n in range(first, last):
        keep = radius[n] + HALF * resolution
        gx, gy = goal[n, 0] - pose[n, 0], goal[n, 1] - pose[n, 1]
        distance = math.sqrt(gx * gx + gy * gy)
        if distance <= _TINY:
            continue
        ex, ey = gx / distance, gy / distance
        reach = keep + speed[n] * horizon
        at = (origin[n, 0], origin[n, 1], resolution, pose[n, 0], pose[n, 1])
        count = walls_around(cost[n], *at, reach, keys, points)
        for a in range(len(velocities)):
            along, across = velocities[a, 0] * speed[n] * horizon, velocities[a, 1] * speed[n] * horizon
            dx, dy = ex * along - ey * across, ey * along + ex * across
            out[n, a] = not _meets_wall(points, count, dx, dy, keep)
