"""A dynamic window whose choice is learned, a policy of our own, with weights that were trained here.

The window is of D. Fox, W. Burgard, S. Thrun, "The dynamic window approach to collision avoidance", IEEE Robotics & Automation
Magazine 1997. Its objective is replaced by a network that judges each command (`agora.policies.commands`).
"""

from __future__ import annotations

from dataclasses import dataclass

from agora.planners.learned.policy import PolicyPlanner


@dataclass(frozen=True)
class LearnedDwa(PolicyPlanner):
    """Take the command that a policy rates highest by its three seconds among walls, people and groups, and along the path.

    It drives any robot: commands are shares of the robot's own limits, and a command after which the robot could not brake before a
    wall is never taken.

    Attributes:
        file: of the policy.
    """

    file: str = "learned_dwa"
