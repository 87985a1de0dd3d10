"""The robot and the people about it as DS-RNN's network reads them, and the velocities that it answers.

S. Liu, P. Chang, W. Liang, N. Chakraborty, K. Driggs-Campbell, "Decentralized structural-RNN for robot crowd navigation with deep
reinforcement learning", ICRA 2021.

The published inputs are places and velocities in the map's frame, so that the published policy is bound to one square about (0, 0).
Here everything is in the robot's goal frame: a policy does not depend on where a map begins or how it is turned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from agora.core.scalar import ONE, ZERO, F
from agora.core.state import Array, Floats
from agora.errors import InputError
from agora.interfaces import Limits, Observation
from agora.policies.joint_state import JointState
from agora.ranges import Distance

if TYPE_CHECKING:
    from agora.robots.model import RobotModel

_IDS = 1 << 20  # marks up to this are exact in float32
_MOST = 200
_TINY = F(1e-6)


@dataclass(frozen=True)
class RobotAndPeople(JointState):
    """A `JointState` whose people can be told from each other, and actions that are velocities in the goal frame.

    The last value of a person is a mark that stays the same as long as the person is tracked: one more than the identity, negative
    for other robots, and 0 where there is nobody. With it a network keeps a memory of each person.

    An action is a velocity in preferred speeds. A longer one than 1 is shortened to 1, as in DS-RNN's code.

    Attributes:
        people: how many of the nearest.
        reach: people farther away are not seen, m.
        goal_range: a farther goal counts as this far, m; by default the longest way in DS-RNN's square.
        trained_speed: preferred speed of the robot in training, m/s.
        preferred_speed: of the robot, m/s; None for its largest. A robot that cannot drive so fast prefers its largest speed.
        places_only: whether networks read the places of people alone, as published, and neither their velocities nor radii.
    """

    goal_range: Distance = 17.0
    places_only: bool = True
    kind: Literal["robot_and_people"] = "robot_and_people"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.people > _MOST:
            raise InputError(f"robot_and_people: people must be at most {_MOST}, got {self.people}")

    def check(self, robot: RobotModel) -> None:
        """Refuse robots that cannot take every velocity in training; `agora.planners.learned.ds_rnn` drives those, too.

        Raises:
            InputError: the robot does not move sideways or backwards.
        """
        limits = robot.limits(1)
        if not limits.holonomic[0] or limits.min_vx[0] >= ZERO:
            raise InputError(f"robot_and_people: actions are velocities, which robot {robot.name!r} cannot take in every direction")

    def marks(self, observation: Observation, others: int) -> Floats:
        """Return the marks (N, P) of P people and other robots, for slots not in use, too."""
        both = ((observation.pedestrians, ONE), (observation.robots, -ONE))
        parts = [side * (ONE + (tracks.id % _IDS).astype(np.float32)) for tracks, side in both if tracks is not None]
        return np.concatenate(parts, 1) if parts else np.zeros((len(observation.pose), others), np.float32)

    def action_size(self, limits: Limits) -> int:
        """Return 2."""
        return 2

    def velocities(self, actions: Array, limits: Limits, pose: Floats, goal: Floats) -> Floats:
        """Return the velocities (N, 2) of actions (N, 2), m/s in the map's frame."""
        wanted = np.asarray(actions, np.float32)
        scale = self._speed(limits) / np.maximum(np.sqrt(wanted[:, 0] ** 2 + wanted[:, 1] ** 2), ONE)
        along, across = wanted[:, 0] * scale, wanted[:, 1] * scale
        ex, ey = _to_goal(pose, goal)
        return np.stack([ex * along - ey * across, ey * along + ex * across], 1)

    def twists(self, actions: Array, limits: Limits, pose: Floats, goal: Floats) -> Floats:
        """Return the twists (N, 3) with which holonomic robots take the velocities of actions (N, 2)."""
        velocity = self.velocities(actions, limits, pose, goal)
        c, s = np.cos(pose[:, 2]), np.sin(pose[:, 2])
        twists = (c * velocity[:, 0] + s * velocity[:, 1], c * velocity[:, 1] - s * velocity[:, 0], np.zeros_like(c))
        return np.stack(twists, 1)

    def actions(self, twists: Array, limits: Limits, pose: Floats, goal: Floats) -> Floats:
        """Return the actions (N, 2) of the velocities of twists (N, 3)."""
        c, s = np.cos(pose[:, 2]), np.sin(pose[:, 2])
        vx, vy = c * twists[:, 0] - s * twists[:, 1], s * twists[:, 0] + c * twists[:, 1]
        ex, ey = _to_goal(pose, goal)
        speed = self._speed(limits)
        along, across = (ex * vx + ey * vy) / speed, (ex * vy - ey * vx) / speed
        scale = ONE / np.maximum(np.sqrt(along * along + across * across), ONE)
        return np.stack([along * scale, across * scale], 1).astype(np.float32)

    def _speed(self, limits: Limits) -> Floats:
        return self.scale(limits) * F(self.trained_speed)


def _to_goal(pose: Floats, goal: Floats) -> tuple[Floats, Floats]:
    """The directions (N,), (N,) to the goals; at a goal, the direction that the robot faces."""
    dx, dy = goal[:, 0] - pose[:, 0], goal[:, 1] - pose[:, 1]
    distance = np.sqrt(dx * dx + dy * dy)
    away, length = distance > _TINY, np.maximum(distance, _TINY)
    return np.where(away, dx / length, np.cos(pose[:, 2])), np.where(away, dy / length, np.sin(pose[:, 2]))
