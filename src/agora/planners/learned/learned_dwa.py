"""A dynamic window approach in which the choice of command is learned: this project's own policy, with weights trained in this
project.

The window follows D. Fox, W. Burgard, S. Thrun, "The dynamic window approach to collision avoidance", IEEE Robotics & Automation
Magazine 1997. The objective is replaced by a network that rates each command (`agora.policies.commands`). As in ROS's
implementation, a robot that alternates between turning left and right on the spot counts as stuck, and may then only turn to one
side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from agora.core.scalar import F
from agora.core.state import Array, Bools, Floats
from agora.interfaces import Answer, Declaration, Memory, Observation
from agora.planners.learned.policy import PolicyPlanner
from agora.policies.command_rollouts import CONTEXT, FEATURES
from agora.ranges import Distance, Speed

_STILL = 1e-3  # m/s, rad/s


@dataclass(frozen=True)
class LearnedDwa(PolicyPlanner):
    """Takes the command that a policy rates highest, based on the command's effects over three seconds with respect to walls,
    people, groups and the path.

    The planner drives any robot with a lidar: commands are fractions of the robot's own limits, and a command after which the robot
    could not brake before a wall is never taken. A robot that is faster than the robots in training is limited to their speed;
    otherwise it would overshoot its goal.

    A robot that has turned on the spot to one side and then to the other may only turn to the second side until it has moved away.
    The policy has no memory, and would otherwise alternate between turning left and right forever.

    Attributes:
        file: policy file.
        fastest: maximum speed, m/s; by default, the maximum speed in training.
        fastest_sideways: maximum speed of a robot that can also move sideways, m/s; by default, the maximum speed in training.
        oscillation_reset_dist: distance that the robot must move before it may turn on the spot to either side again, m.
    """

    file: str = "learned_dwa"
    fastest: Speed = 2.0
    fastest_sideways: Speed = 1.2
    oscillation_reset_dist: Distance = 0.2

    @cached_property
    def declares(self) -> Declaration:
        """Return the needs, label and period of the policy, and the maximum speed."""
        policy = self.policy
        return Declaration(
            needs=policy.observe.needs, label=policy.label, top_speed=max(self.fastest, self.fastest_sideways), period=policy.period
        )

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the twists (N, 3) and the memory, like `PolicyPlanner.act`; raise the same errors.

        Additional memory: ``place`` (N, 2), the position from which motion is measured; ``turned`` (N,), the side to which the
        robot has turned on the spot there, 1 or -1; and ``alone`` (N,), whether it may only turn to that side.
        """
        own, rows = observation.limits, len(observation.pose)
        most = np.where(own.holonomic, F(self.fastest_sideways), F(self.fastest))
        limits = replace(
            own, min_vx=np.maximum(own.min_vx, -most), max_vx=np.minimum(own.max_vx, most), max_vy=np.minimum(own.max_vy, most)
        )
        fresh = memory.get("calls", np.zeros(rows, np.int64)) == 0
        place, turned, alone = (
            memory.get(name, np.zeros((rows, *shape), kind))
            for name, shape, kind in (("place", (2,), np.float32), ("turned", (), np.int8), ("alone", (), np.bool_))
        )
        off = observation.pose[:, :2] - place
        left = fresh | ((off * off).sum(1) > F(self.oscillation_reset_dist) ** 2)
        place = np.where(left[:, None], observation.pose[:, :2], place)
        turned, alone = np.where(left, np.int8(0), turned), alone & ~left
        answer = super().act(
            replace(observation, limits=limits), {**memory, "turned": turned, "alone": alone} if memory else memory
        )
        moves = np.abs(answer.twists) > _STILL
        side = np.where(moves[:, 2] & ~moves[:, :2].any(1), np.sign(answer.twists[:, 2]), 0.0).astype(np.int8)
        alone = alone | (side * turned < 0)
        turned = np.where(side != 0, side, turned)
        return Answer(answer.twists, {**answer.memory, "place": place, "turned": turned, "alone": alone})

    def _encode(self, observation: Observation, memory: Memory, due: Bools) -> tuple[Floats, dict[str, Array]]:
        looked, kept = super()._encode(observation, memory, due)
        if not memory or not memory["alone"].any():
            return looked, kept
        seen = looked.copy()
        commands = seen[:, CONTEXT:].reshape(len(seen), -1, FEATURES)
        back = np.sign(commands[..., 3]) * memory["turned"][:, None] < 0
        turns = (np.abs(commands[..., 1:3]) <= _STILL).all(2)
        commands[..., 0] *= ~(turns & back & memory["alone"][:, None])
        return seen, kept
