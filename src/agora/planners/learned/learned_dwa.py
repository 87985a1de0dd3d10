"""A dynamic window whose choice is learned, a policy of our own, with weights that were trained here.

The window is of D. Fox, W. Burgard, S. Thrun, "The dynamic window approach to collision avoidance", IEEE Robotics & Automation
Magazine 1997. Its objective is replaced by a network that judges each command (`agora.policies.commands`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from agora.core.scalar import F
from agora.interfaces import Answer, Declaration, Memory, Observation
from agora.planners.learned.policy import PolicyPlanner
from agora.ranges import Speed


@dataclass(frozen=True)
class LearnedDwa(PolicyPlanner):
    """Take the command that a policy rates highest by its three seconds among walls, people and groups, and along the path.

    It drives any robot with a lidar: commands are shares of the robot's own limits, and a command after which the robot could not
    brake before a wall is never taken. A faster robot than those of the training is driven at theirs: commands of its own would
    carry it past its goal.

    Attributes:
        file: of the policy.
        fastest: largest speed, of the training by default, m/s.
        fastest_sideways: largest speed of a robot that moves sideways, too, of the training by default, m/s.
    """

    file: str = "learned_dwa"
    fastest: Speed = 2.0
    fastest_sideways: Speed = 1.2

    @cached_property
    def declares(self) -> Declaration:
        """Needs, label and period of the policy, and the largest speed."""
        policy = self.policy
        return Declaration(
            needs=policy.observe.needs, label=policy.label, top_speed=max(self.fastest, self.fastest_sideways), period=policy.period
        )

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the twists (N, 3), and the memory, as `PolicyPlanner.act` does; raises as that."""
        own = observation.limits
        most = np.where(own.holonomic, F(self.fastest_sideways), F(self.fastest))
        limits = replace(
            own, min_vx=np.maximum(own.min_vx, -most), max_vx=np.minimum(own.max_vx, most), max_vy=np.minimum(own.max_vy, most)
        )
        return super().act(replace(observation, limits=limits), memory)
