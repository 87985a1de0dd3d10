"""The joint state of a robot and the people about it, as the value networks of the CrowdNav family read it.

Y. F. Chen, M. Liu, M. Everett, J. P. How, "Decentralized non-communicating multiagent collision avoidance with deep reinforcement
learning", ICRA 2017, section III A; C. Chen et al., "Crowd-robot interaction", ICRA 2019, equation 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agora.core.jit import kernel
from agora.core.scalar import ONE, ZERO, F, sincos
from agora.core.state import Bools, Floats, frozen
from agora.errors import InputError
from agora.interfaces import Channel, Limits, Observation
from agora.policies.encoding import FromLimitToLimit, nearest_tracks, tracks_of
from agora.ranges import Count, Distance

if TYPE_CHECKING:
    from agora.robots.model import RobotModel

ROBOT, PERSON, PAIR, OWN = 7, 6, 13, 6
"""Values of the robot, of each person in a joint state, of a pair of both as networks read it, and of the robot in a pair."""

GOAL, SPEED, RADIUS, VX, VY, COSINE, SINE = range(ROBOT)
"""Where the robot's values stand: distance to the goal, preferred speed, radius, velocity, and the direction it faces."""

_TINY, _SLOWEST = F(1e-6), F(0.01)


@dataclass(frozen=True)
class JointState(FromLimitToLimit):
    """The robot and the nearest people in the robot's goal frame. Other robots count as people.

    The frame has its origin at the robot and its x axis towards the goal. First come the distance to the goal, the preferred
    speed, the radius, the velocity (2), and cosine and sine of the robot's heading in the frame. Then, for each person, nearest
    first: place (2), velocity (2), radius, and 1; six zeros where there are not so many. Lengths are in m.

    A policy knows one preferred speed. For a robot that prefers another, all velocities are scaled so that it prefers that one, as
    if time ran faster or slower: the ways of everybody stay as they are.

    Attributes:
        people: how many of the nearest.
        reach: people farther away are not seen, m.
        goal_range: a farther goal counts as this far, m.
        trained_speed: preferred speed of the robot in training, m/s.
        preferred_speed: of the robot, m/s; None for its largest. A robot that cannot drive so fast prefers its largest speed.
    """

    people: Count = 5
    reach: Distance = 12.0
    goal_range: Distance = 8.0
    trained_speed: float = 1.0
    preferred_speed: float | None = None

    def __post_init__(self) -> None:
        if self.people < 1:
            raise InputError(f"joint_state: people must be at least 1, got {self.people}")
        for name in ("reach", "goal_range"):
            if not 0.0 < getattr(self, name) < math.inf:
                raise InputError(f"joint_state: {name} must be above 0, got {getattr(self, name)}")
        for name in ("trained_speed", "preferred_speed"):
            if (speed := getattr(self, name)) is not None and not 0.0 < speed < math.inf:
                raise InputError(f"joint_state: {name} must be above 0, got {speed}")

    @property
    def needs(self) -> frozenset[str | Channel]:
        """Channels that a planner with this encoding needs."""
        return frozenset({"pedestrians", "robots"})

    @property
    def length(self) -> int:
        """D, how many values."""
        return ROBOT + PERSON * self.people

    @property
    def low(self) -> Floats:
        """(D,) the smallest values."""
        return np.full(self.length, -np.inf, np.float32)

    @property
    def high(self) -> Floats:
        """(D,) the largest values."""
        return np.full(self.length, np.inf, np.float32)

    def check(self, robot: RobotModel) -> None:
        """Accept every robot."""

    def remember(self, seen: Floats, before: Floats, begins: Bools) -> None:
        """Remember nothing."""

    def scale(self, limits: Limits) -> Floats:
        """Return the factors (N,) from velocities in the states of N robots to velocities in m/s."""
        speed: Floats = limits.max_vx if self.preferred_speed is None else np.minimum(limits.max_vx, F(self.preferred_speed))
        scale: Floats = (np.maximum(speed, _SLOWEST) / F(self.trained_speed)).astype(np.float32)
        return scale

    def __call__(self, observation: Observation) -> Floats:
        """Return the joint states (N, D) of N robots."""
        out = np.empty((len(observation.pose), self.length), np.float32)
        self.write(observation, out, 0, len(out))
        return out

    def write(self, observation: Observation, out: Floats, first: int, last: int) -> None:
        """Write the joint states of the rows ``first <= n < last`` into ``out`` (N, D)."""
        o = observation
        robot = tuple(frozen(one) for one in (o.pose, o.twist, o.goal, ONE / self.scale(o.limits), o.radius))
        people, robots = (tracks_of(tracks, len(o.pose)) for tracks in (o.pedestrians, o.robots))
        position, velocity, radius, present = (
            np.concatenate(both, 1) if both[1].shape[1] else both[0] for both in zip(people, robots, strict=True)
        )
        ranges = (F(self.reach), F(self.goal_range), F(self.trained_speed))
        marks = self.marks(o, present.shape[1])
        others = tuple(frozen(one) for one in (position, velocity, radius, present, marks))
        _write(self.people, ranges, robot, others, out, first, last)

    def marks(self, observation: Observation, others: int) -> Floats:
        """Return the last value (N, P) of each of P people and other robots, for slots not in use, too."""
        return np.ones((len(observation.pose), others), np.float32)


@kernel
def _write(people, ranges, robot, others, out, first, last):
    reach, goal_range, trained_speed = ranges
    pose, twist, goal, slowed, radius = robot
    position, velocity, radii, present, marks = others
    chosen, distances = np.empty(people, np.int64), np.empty(people, np.float32)
    for n in range(first, last):
        row = out[n]
        row[:] = ZERO
        sine, cosine = sincos(pose[n, 2])
        dx, dy = goal[n, 0] - pose[n, 0], goal[n, 1] - pose[n, 1]
        distance = math.sqrt(dx * dx + dy * dy)
        ex = dx / distance if distance > _TINY else cosine
        ey = dy / distance if distance > _TINY else sine
        c, s = cosine * ex + sine * ey, sine * ex - cosine * ey
        row[0], row[1], row[2] = min(distance, goal_range), trained_speed, radius[n]
        drives_x, drives_y = slowed[n] * twist[n, 0], slowed[n] * twist[n, 1]
        row[3], row[4] = c * drives_x - s * drives_y, s * drives_x + c * drives_y
        row[5], row[6] = c, s
        found = nearest_tracks(people, reach, pose[n], position[n], present[n], chosen, distances)
        for k in range(found):
            i, at = chosen[k], ROBOT + PERSON * k
            px, py = position[n, i, 0] - pose[n, 0], position[n, i, 1] - pose[n, 1]
            vx, vy = slowed[n] * velocity[n, i, 0], slowed[n] * velocity[n, i, 1]
            row[at], row[at + 1] = ex * px + ey * py, ex * py - ey * px
            row[at + 2], row[at + 3] = ex * vx + ey * vy, ex * vy - ey * vx
            row[at + 4], row[at + 5] = radii[n, i], marks[n, i]
