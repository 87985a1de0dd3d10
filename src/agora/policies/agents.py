"""The encoding of GA3C-CADRL: the joint state of a robot and other agents; an action consists of a speed and a change of heading.

M. Everett, Y. F. Chen, J. P. How, "Motion planning among dynamic, decision-making agents with deep reinforcement learning", IROS
2018, sections III and IV, and its code (mit-acl/gym-collision-avoidance).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.core.scalar import ONE, ZERO, F
from agora.core.state import Array, Floats
from agora.errors import InputError
from agora.interfaces import Limits
from agora.policies.encoding import within
from agora.policies.joint_state import JointState
from agora.ranges import Count, Length, Positive

if TYPE_CHECKING:
    from agora.robots.model import RobotModel

TURN = math.pi / 6.0
"""Maximum change of heading, rad; it corresponds to an action of 1."""

CHOICES: Floats = np.array(
    [(1.0, turn) for turn in (-1.0, -0.5, 0.0, 0.5, 1.0)] + [(speed, turn) for speed in (0.5, 0.0) for turn in (-1.0, 0.0, 1.0)],
    np.float32,
)
"""(11, 2) published actions, in order: speed in units of the preferred speed, and change of heading in units of `TURN`."""

HOST, OTHER = 4, 7
"""Numbers of values that the network reads for the robot and for each other agent."""

HOST_MEAN: Floats = np.array([0.0, 0.0, 1.0, 0.5], np.float32)
HOST_SCALE: Floats = np.array([5.0, 3.14, 1.0, 1.0], np.float32)
OTHER_MEAN: Floats = np.array([0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 1.0], np.float32)
OTHER_SCALE: Floats = np.array([5.0, 5.0, 1.0, 1.0, 1.0, 5.0, 1.0], np.float32)
"""The published normalisation: a value minus its mean, divided by its scale."""


@dataclass(frozen=True)
class Agents(JointState):
    """A `JointState` with other agents (both people and robots); an action consists of a speed and a change of heading.

    An action is (speed, turn): the speed in units of the preferred speed, clipped to [0, 1], and the change of heading in units of
    30 degrees, clipped to [-1, 1], positive to the left. The robot drives forward at this speed and turns at a constant rate during
    ``period``. A robot whose maximum turning rate is too low makes a smaller turn. In the published dynamics
    (``UnicycleDynamics``), the robot turns instantly and then drives straight ahead: the heading after a step is the same as here,
    but the direction of the displacement differs by half of the turn.

    Attributes:
        people: number of nearest other agents to encode.
        reach: distance beyond which other agents are not seen, m; in the published code, all agents are seen.
        goal_range: maximum distance to the goal, m; larger distances are clipped.
        trained_speed: preferred speed of the robot in training, m/s.
        preferred_speed: preferred speed of the robot, m/s; None for the robot's maximum speed. A robot that cannot reach this speed
            prefers its maximum speed.
        period: time that a change of heading takes, s; equal to the control period used in training.
    """

    people: Count = 9
    reach: Length = 20.0
    goal_range: Length = 20.0
    period: Positive = 0.2

    def check(self, robot: RobotModel) -> None:
        """Reject, for training, robots that cannot perform every action; the planner `agora.planners.learned.ga3c_cadrl` accepts
        such robots.

        Raises:
            InputError: the robot turns too slowly, or cannot turn in place.
        """
        if float(robot.limits(1).max_omega[0]) * self.period < TURN * (1.0 - 1e-3) or robot.turning_radius > 0.0:
            raise InputError(f"agents: robot {robot.name!r} cannot turn by 30 degrees in place in {self.period:g} s")

    def action_size(self, limits: Limits) -> int:
        """Return the number of values of an action, 2."""
        return 2

    def twists(self, actions: Array, limits: Limits, pose: Floats, goal: Floats) -> Floats:
        """Return the twists (N, 3) for actions (N, 2), within the robots' limits."""
        wanted = np.asarray(actions, np.float32)
        speed = np.minimum(np.maximum(wanted[:, 0], ZERO), ONE) * self.scale(limits) * F(self.trained_speed)
        turn = np.minimum(np.maximum(wanted[:, 1], -ONE), ONE) * F(TURN / self.period)
        return within(np.stack([speed, np.zeros_like(speed), turn], 1), limits)

    def actions(self, twists: Array, limits: Limits, pose: Floats, goal: Floats) -> Floats:
        """Return the actions (N, 2) nearest to twists (N, 3); sideways velocities are ignored."""
        speed = twists[:, 0] / (self.scale(limits) * F(self.trained_speed))
        turn = twists[:, 2] * F(self.period / TURN)
        return np.stack([np.clip(speed, ZERO, ONE), np.clip(turn, -ONE, ONE)], 1).astype(np.float32)

    def notes(self) -> Mapping[str, Any]:
        """Return the parts, units and frame of the encoded values."""
        actions = "a speed in preferred speeds, and a change of heading in units of 30 degrees, positive to the left"
        return {**super().notes(), "actions": actions}
