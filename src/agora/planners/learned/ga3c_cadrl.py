"""GA3C-CADRL: chooses one of eleven combinations of speed and heading change; learned by robots that share one policy.

M. Everett, Y. F. Chen, J. P. How, "Motion planning among dynamic, decision-making agents with deep reinforcement learning", IROS
2018, and its code (mit-acl/gym-collision-avoidance).

Differences from the code: the robot turns evenly over the control period (the code's robot turns at once and then drives straight,
`agora.policies.agents.Agents`); in training, all robots have the same radius and preferred speed. The planner does not see walls,
and treats people as robots.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from agora.errors import InputError
from agora.interfaces import Declaration
from agora.planners._limits import own
from agora.planners.learned.policy import PolicyPlanner
from agora.policies.agents import Agents
from agora.policies.policy import Policy, load_policy
from agora.ranges import TopSpeed


@dataclass(frozen=True)
class Ga3cCadrl(PolicyPlanner):
    """Takes the action with the highest score. Actions combine driving forwards and turning, even if the robot could move sideways.

    The policy decides once per control period used in training; if the robot's control period is shorter, speed and turning rate
    are held (`agora.policies.policy.decides`). A robot that cannot turn by 30 degrees within the period turns as fast as it can. A
    car-like robot respects its turning radius. The robot does not turn in place, and may stop forever if its goal lies behind it.

    Attributes:
        file: name of a policy that comes with Agora, or path of a safetensors file (`agora.policies.policy.Policy.save`); the
            policy's encoding must be ``agents``.
        preferred_speed: preferred speed, m/s; None for the robot's maximum speed. Other velocities are scaled by the preferred
            speed (`agora.policies.joint_state.JointState`), but turning rates are not, so the planner works best near the training
            speed, 1 m/s.
    """

    file: str = "ga3c_cadrl"
    preferred_speed: TopSpeed | None = 1.0

    @cached_property
    def policy(self) -> Policy:
        """Return the policy from the file, with the preferred speed; every robot executes it within its own limits.

        Raises:
            InputError: the file does not exist, is invalid, or contains a policy with another encoding.
        """
        read = load_policy(self.file)
        if not isinstance(read.observe, Agents):
            raise InputError(f"{self.file}: does not use the encoding 'agents'; the planner 'policy' drives with any policy")
        return replace(read, observe=replace(read.observe, preferred_speed=self.preferred_speed), body=None)

    @cached_property
    def declares(self) -> Declaration:
        """Return the needs, label and period of the policy, and the preferred speed as the top speed."""
        policy, speed = self.policy, float(own(self.preferred_speed))
        return Declaration(needs=policy.observe.needs, label=policy.label, top_speed=speed, period=policy.period)
