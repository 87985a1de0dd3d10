"""The joint state of a robot and the people around it, as used by the value networks of the CrowdNav family.

Y. F. Chen, M. Liu, M. Everett, J. P. How, "Decentralized non-communicating multiagent collision avoidance with deep reinforcement
learning", ICRA 2017, section III A; C. Chen et al., "Crowd-robot interaction", ICRA 2019, equation 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.core.jit import kernel
from agora.core.scalar import ONE, ZERO, F, sincos
from agora.core.state import Array, Floats, freeze
from agora.errors import InputError
from agora.interfaces import Channel, Limits, Observation
from agora.policies.encoding import EncodingBase, nearest_tracks, tracks_of
from agora.ranges import Count, Length, Positive

if TYPE_CHECKING:
    from agora.robots.model import RobotModel

ROBOT, PERSON, PAIR, OWN = 7, 6, 13, 6
"""Numbers of values of the robot and of each person in a joint state, of a robot-person pair as read by networks, and of the robot
in a pair.
"""

GOAL, SPEED, RADIUS, VX, VY, COSINE, SINE = range(ROBOT)
"""Indices of the robot's values: distance to the goal, preferred speed, radius, velocity, and the direction that the robot faces.
"""

GOAL_FRAME = "origin at the robot, x axis towards the goal"

_TINY, _SLOWEST = F(1e-6), F(0.01)


@dataclass(frozen=True)
class JointState(EncodingBase):
    """The robot and the nearest people in the robot's goal frame. Other robots count as people.

    The frame has its origin at the robot and its x axis towards the goal. The first values are the distance to the goal, the
    preferred speed, the radius, the velocity (2), and the cosine and sine of the robot's heading in this frame. They are followed,
    for each person, nearest first, by position (2), velocity (2), radius, and 1, or by six zeros for a missing person. Lengths are
    in metres.

    An action is a velocity in the goal frame, in units of the preferred speed. Actions longer than 1 are shortened to length 1.

    A policy is trained for one preferred speed. For a robot with a different preferred speed, all velocities are scaled to the
    policy's preferred speed, as if time ran faster or slower; this does not change the paths of the robot and the people.

    Attributes:
        people: number of nearest people to encode.
        reach: distance beyond which people are not seen, m.
        goal_range: maximum distance to the goal, m; larger distances are clipped.
        trained_speed: preferred speed of the robot in training, m/s.
        preferred_speed: preferred speed of the robot, m/s; None for the robot's maximum speed. A robot that cannot reach this speed
            prefers its maximum speed.
    """

    people: Count = 5
    reach: Length = 12.0
    goal_range: Length = 8.0
    trained_speed: Positive = 1.0
    preferred_speed: Positive | None = None

    @property
    def needs(self) -> frozenset[str | Channel]:
        """Return the channels that a planner with this encoding needs."""
        return frozenset({"pedestrians", "robots"})

    @property
    def length(self) -> int:
        """Number of values, D."""
        return ROBOT + PERSON * self.people

    @property
    def low(self) -> Floats:
        """Minimum values (D,)."""
        return np.full(self.length, -np.inf, np.float32)

    @property
    def high(self) -> Floats:
        """Maximum values (D,)."""
        return np.full(self.length, np.inf, np.float32)

    def check(self, robot: RobotModel) -> None:
        """Reject, for training, robots that cannot drive at every velocity; planners accept such robots.

        Raises:
            InputError: the robot cannot move sideways or in reverse.
        """
        limits = robot.limits(1)
        if not limits.holonomic[0] or limits.min_vx[0] >= ZERO:
            raise InputError(f"observe: actions are velocities, which robot {robot.name!r} cannot take in every direction")

    def scale(self, limits: Limits) -> Floats:
        """Return the factors (N,) that convert velocities in the states of N robots to velocities in m/s."""
        speed: Floats = limits.max_vx if self.preferred_speed is None else np.minimum(limits.max_vx, F(self.preferred_speed))
        scale: Floats = (np.maximum(speed, _SLOWEST) / F(self.trained_speed)).astype(np.float32)
        return scale

    def write(self, observation: Observation, out: Floats, first: int, last: int) -> None:
        """Write the joint states of the rows ``first <= n < last`` into ``out`` (N, D)."""
        o = observation
        robot = tuple(freeze(one) for one in (o.pose, o.twist, o.goal, ONE / self.scale(o.limits), o.radius))
        people, robots = (tracks_of(tracks, len(o.pose)) for tracks in (o.pedestrians, o.robots))
        position, velocity, radius, present = (
            np.concatenate(both, 1) if both[1].shape[1] else both[0] for both in zip(people, robots, strict=True)
        )
        ranges = (F(self.reach), F(self.goal_range), F(self.trained_speed))
        marks = self.marks(o, present.shape[1])
        others = tuple(freeze(one) for one in (position, velocity, radius, present, marks))
        _write(self.people, ranges, robot, others, out, first, last)

    def marks(self, observation: Observation, others: int) -> Floats:
        """Return the last value (N, P) in the encoding of each of P people and other robots, including unused slots."""
        return np.ones((len(observation.pose), others), np.float32)

    def action_size(self, limits: Limits) -> int:
        """Return the number of values of an action, 2."""
        return 2

    def velocities(self, actions: Array, limits: Limits, pose: Floats, goal: Floats) -> Floats:
        """Return the velocities (N, 2) for actions (N, 2), m/s, in the map frame."""
        wanted = np.asarray(actions, np.float32)
        scale = self._speed(limits) / np.maximum(np.sqrt(wanted[:, 0] ** 2 + wanted[:, 1] ** 2), ONE)
        along, across = wanted[:, 0] * scale, wanted[:, 1] * scale
        ex, ey = _to_goal(pose, goal)
        return np.stack([ex * along - ey * across, ey * along + ex * across], 1)

    def twists(self, actions: Array, limits: Limits, pose: Floats, goal: Floats) -> Floats:
        """Return the twists (N, 3) with which holonomic robots drive at the velocities given by actions (N, 2)."""
        velocity = self.velocities(actions, limits, pose, goal)
        c, s = np.cos(pose[:, 2]), np.sin(pose[:, 2])
        twists = (c * velocity[:, 0] + s * velocity[:, 1], c * velocity[:, 1] - s * velocity[:, 0], np.zeros_like(c))
        return np.stack(twists, 1)

    def actions(self, twists: Array, limits: Limits, pose: Floats, goal: Floats) -> Floats:
        """Return the actions (N, 2) for the velocities in twists (N, 3)."""
        c, s = np.cos(pose[:, 2]), np.sin(pose[:, 2])
        vx, vy = c * twists[:, 0] - s * twists[:, 1], s * twists[:, 0] + c * twists[:, 1]
        ex, ey = _to_goal(pose, goal)
        speed = self._speed(limits)
        along, across = (ex * vx + ey * vy) / speed, (ex * vy - ey * vx) / speed
        scale = ONE / np.maximum(np.sqrt(along * along + across * across), ONE)
        return np.stack([along * scale, across * scale], 1).astype(np.float32)

    def _speed(self, limits: Limits) -> Floats:
        return self.scale(limits) * F(self.trained_speed)

    def notes(self) -> Mapping[str, Any]:
        """Return the parts, units and frame of the encoded values."""
        parts = {
            "goal_distance": [GOAL, GOAL + 1],
            "preferred_speed": [SPEED, SPEED + 1],
            "radius": [RADIUS, RADIUS + 1],
            "velocity": [VX, VY + 1],
            "heading": [COSINE, ROBOT],
            "people": [ROBOT, ROBOT + PERSON * self.people],
        }
        scaled = "m/s, scaled so that the preferred speed is trained_speed"
        units = {
            "goal_distance": f"m, at most {self.goal_range:g}",
            "preferred_speed": f"m/s, always {self.trained_speed:g}",
            "radius": "m",
            "velocity": scaled,
            "heading": "cosine and sine",
            "people": f"{PERSON} values each, nearest first: x, y (m); vx, vy ({scaled}); radius (m); {self._mark()}",
        }
        return {"parts": parts, "units": units, "frame": GOAL_FRAME, "actions": "a velocity in preferred speeds, in the goal frame"}

    def _mark(self) -> str:
        """Return the meaning of the last value in a person's encoding."""
        return "1, or six zeros where nobody is"


def _to_goal(pose: Floats, goal: Floats) -> tuple[Floats, Floats]:
    """Return the directions to the goals as two arrays (N,); for a robot at its goal, return the robot's heading."""
    dx, dy = goal[:, 0] - pose[:, 0], goal[:, 1] - pose[:, 1]
    distance = np.sqrt(dx * dx + dy * dy)
    away, length = distance > _TINY, np.maximum(distance, _TINY)
    return np.where(away, dx / length, np.cos(pose[:, 2])), np.where(away, dy / length, np.sin(pose[:, 2]))


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
