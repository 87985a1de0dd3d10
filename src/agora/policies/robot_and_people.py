"""The robot and the people around it, encoded for DS-RNN's network.

S. Liu, P. Chang, W. Liang, N. Chakraborty, K. Driggs-Campbell, "Decentralized structural-RNN for robot crowd navigation with deep
reinforcement learning", ICRA 2021.

The published inputs are positions and velocities in the map frame, so the published policy works only in one particular square
around (0, 0). Here, all values are in the robot's goal frame, so a policy does not depend on the origin or the orientation of a
map.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agora.core.scalar import ONE
from agora.core.state import Floats
from agora.errors import InputError
from agora.interfaces import Observation
from agora.policies.joint_state import JointState
from agora.ranges import Length

_IDS = 1 << 20  # marks up to this value are exact in float32
ACTIONS = 2
"""Number of values of an action."""

_MOST = 200


@dataclass(frozen=True)
class RobotAndPeople(JointState):
    """A `JointState` with people's identities, and with the actions of DS-RNN's code.

    The last value of each person is a mark that stays the same while the person is tracked: the identity plus one, negative for
    other robots, and 0 for an empty slot. With the marks, a network can keep a memory for each person.

    Attributes:
        people: number of nearest people to encode.
        reach: distance beyond which people are not seen, m.
        goal_range: maximum distance to the goal, m; larger distances are clipped. The default is the longest distance in DS-RNN's
            square.
        trained_speed: preferred speed of the robot in training, m/s.
        preferred_speed: preferred speed of the robot, m/s; None for the robot's maximum speed. A robot that cannot reach this speed
            prefers its maximum speed.
        places_only: whether networks read only people's positions, as published, without velocities and radii.
    """

    goal_range: Length = 17.0
    places_only: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.people > _MOST:
            raise InputError(f"people: must be at most {_MOST}, is {self.people}")

    def marks(self, observation: Observation, others: int) -> Floats:
        """Return the marks (N, P) of P people and other robots, including empty slots."""
        both = ((observation.pedestrians, ONE), (observation.robots, -ONE))
        parts = [side * (ONE + (tracks.id % _IDS).astype(np.float32)) for tracks, side in both if tracks is not None]
        return np.concatenate(parts, 1) if parts else np.zeros((len(observation.pose), others), np.float32)

    def _mark(self) -> str:
        return "1 + identity of a person, -1 - identity of a robot, or six zeros where nobody is"
