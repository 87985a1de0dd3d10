"""What the planners of the CrowdNav family share: how a value policy drives a robot."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from agora.core.jit import kernel
from agora.core.recording import Reason
from agora.core.scalar import HALF, ONE, ZERO
from agora.core.state import Array, Bools, Floats, frozen
from agora.costmap.walls import nearest_walls, room, window_of
from agora.costmap.window import Window
from agora.interfaces import Answer, Declaration, Memory, Observation
from agora.pedestrians.checks import above_zero, at_least_zero
from agora.planners.limits import own
from agora.planners.steering import velocity_to_twist
from agora.policies.joint_state import SPEED
from agora.policies.subgoal import subgoals
from agora.policies.value import ValuePolicy, load_value_policy
from agora.ranges import Distance, Duration, Speed

_WALLS = 24
_TINY = np.float32(1e-6)


@dataclass(frozen=True)
class ValuePlanner:
    """Takes the velocity that leads to the state of the highest value.

    A holonomic robot takes the velocity at once; `agora.planners.steering.velocity_to_twist` says how other robots follow it.

    Attributes:
        file: name of a policy that comes with Agora, or path of a safetensors file (`agora.policies.value.ValuePolicy.save`).
        follow_path: head for a point on the global path; False heads straight for the goal.
        lookahead: distance along the path of the point to head for, m; the goal where it is nearer.
        wall_horizon: velocities that lead into a wall within this time are left out, s; 0 sees no walls.
        window: local costmap, for walls.
        preferred_speed: m/s; None for the robot's largest (`agora.policies.joint_state.JointState`).
        turn_gain: of robots that cannot move sideways, 1/s.
    """

    file: str = "sarl"
    follow_path: bool = False
    lookahead: Distance = 2.5
    wall_horizon: Duration = 0.0
    window: Window = field(default_factory=lambda: Window(size=4.0, sources=("map",)))
    preferred_speed: Speed | None = None
    turn_gain: float = 2.0

    def __post_init__(self) -> None:
        above_zero(self, "lookahead", "turn_gain")
        at_least_zero(self, "wall_horizon")
        if self.preferred_speed is not None:
            above_zero(self, "preferred_speed")

    @cached_property
    def policy(self) -> ValuePolicy:
        """The policy of the file.

        Raises:
            InputError: there is no such file, or it is wrong.
        """
        read = load_value_policy(self.file)
        return replace(read, observe=replace(read.observe, preferred_speed=self.preferred_speed))

    @cached_property
    def declares(self) -> Declaration:
        """What it says of itself."""
        path, walls = ("path",) if self.follow_path else (), (self.window,) if self.wall_horizon > 0.0 else ()
        needs = (*self.policy.observe.needs, *path, *walls)
        return Declaration(needs=needs, notes=("reason",), label=self.policy.label, top_speed=float(own(self.preferred_speed)))

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return twists (N, 3) in the robots' frames; nothing is remembered."""
        aimed = self._aimed(observation)
        states = self.policy.observe(aimed)
        scale = self.policy.observe.scale(aimed.limits)
        open_ = self._open(aimed, states, scale)
        wanted = self.policy(states, open_) * scale[:, None]
        twists = velocity_to_twist(_to_map_frame(wanted, aimed), observation, self.turn_gain)
        return Answer(twists, notes={"reason": _reasons(wanted, open_)})

    def _aimed(self, o: Observation) -> Observation:
        """The observation with the point on the path that the robot heads for as its goal."""
        return replace(o, goal=subgoals(o, self.lookahead)) if self.follow_path else o

    def _open(self, o: Observation, states: Floats, scale: Floats) -> Bools | None:
        """Which candidates (N, A) lead into no wall; None where no walls are seen."""
        if o.costmap is None or self.wall_horizon <= 0.0:
            return None
        out = np.ones((len(states), len(self.policy.ahead.velocities)), np.bool_)
        velocities, seen = self.policy.ahead.velocities, (o.pose, o.goal, o.radius, states[:, SPEED] * scale)
        robot = tuple(frozen(np.ascontiguousarray(array)) for array in seen)
        _leave_open(velocities, robot, window_of(o.costmap, len(out)), np.float32(self.wall_horizon), out, 0, len(out))
        return out


def _reasons(wanted: Floats, open_: Bools | None) -> Array:
    """Why robots (N,) stand: walls leave nothing else, or their policy waits."""
    shut = np.zeros(len(wanted), np.bool_) if open_ is None else ~open_[:, 1:].any(1)
    return np.where(wanted.any(1), Reason.NONE, np.where(shut, Reason.BLOCKED, Reason.WAITING)).astype(np.int8)


def _to_map_frame(velocities: Floats, o: Observation) -> Floats:
    """Velocities (N, 2) of the goal frame in the map's."""
    away = o.goal[:, :2] - o.pose[:, :2]
    distance = np.hypot(away[:, 0], away[:, 1])
    there = distance <= _TINY
    c = np.where(there, np.cos(o.pose[:, 2]), away[:, 0] / np.maximum(distance, _TINY))
    s = np.where(there, np.sin(o.pose[:, 2]), away[:, 1] / np.maximum(distance, _TINY))
    turned: Floats = np.stack([c * velocities[:, 0] - s * velocities[:, 1], s * velocities[:, 0] + c * velocities[:, 1]], -1)
    return turned.astype(np.float32)


@kernel
def _leave_open(velocities, robot, window, horizon, out, first, last):
    """Close the candidates (A) of each row on whose straight way the robot's disc touches a wall.

    A robot that touches a wall already may move so that it gets away from it.
    """
    pose, goal, radius, speed = robot
    cost, origin, resolution = window
    keys = np.empty(room(max(cost.shape[1], cost.shape[2])), np.int64)
    nearest, points = np.empty(_WALLS, np.int64), np.empty((_WALLS, 2), np.float32)
    for n in range(first, last):
        keep = radius[n] + HALF * resolution
        gx, gy = goal[n, 0] - pose[n, 0], goal[n, 1] - pose[n, 1]
        distance = math.sqrt(gx * gx + gy * gy)
        if distance <= _TINY:
            continue
        ex, ey = gx / distance, gy / distance
        reach = keep + speed[n] * horizon
        at = (origin[n, 0], origin[n, 1], resolution, pose[n, 0], pose[n, 1])
        count = nearest_walls(cost[n], *at, reach, keys, nearest, points)
        for a in range(len(velocities)):
            along, across = velocities[a, 0] * speed[n] * horizon, velocities[a, 1] * speed[n] * horizon
            dx, dy = ex * along - ey * across, ey * along + ex * across
            length2 = dx * dx + dy * dy
            if length2 <= _TINY:
                continue
            for w in range(count):
                px, py = points[w, 0], points[w, 1]
                share = min(max((px * dx + py * dy) / length2, ZERO), ONE)
                ox, oy = px - share * dx, py - share * dy
                near2 = ox * ox + oy * oy
                away = px * dx + py * dy <= ZERO
                if near2 < keep * keep and not away:
                    out[n, a] = False
