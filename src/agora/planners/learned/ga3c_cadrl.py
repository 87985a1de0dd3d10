"""GA3C-CADRL: one of eleven speeds and changes of heading, learned by robots that share one policy.

M. Everett, Y. F. Chen, J. P. How, "Motion planning among dynamic, decision-making agents with deep reinforcement learning",
IROS 2018, and its code (mit-acl/gym-collision-avoidance).

Differences from the code: the robot turns evenly over the control period, where the code's turns at once and then drives straight
(`agora.policies.agents.Agents`); all robots have one radius and one preferred speed in training. It sees no walls, and people are
others like robots.
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
from agora.ranges import TopSpeed, check_fields


@dataclass(frozen=True)
class Ga3cCadrl(PolicyPlanner):
    """Takes the action of the highest score: it drives forwards and turns, also where the robot could move sideways.

    The policy answers once in every control period of its training; with a shorter control period speed and turning rate are held
    (`agora.policies.policy.decides`). A robot that cannot turn by 30 degrees within the period turns as fast as it can. A car-like
    robot turns no tighter than it can. It does not turn in place, and may stand for ever where its goal lies behind it.

    Attributes:
        file: name of a policy that comes with Agora, or path of a safetensors file (`agora.policies.policy.Policy.save`), whose
            encoding is ``agents``.
        preferred_speed: m/s; None for the robot's largest. Other velocities are seen in preferred speeds
            (`agora.policies.joint_state.JointState`), but turns stay as fast: near the 1 m/s of the training it drives best.
    """

    file: str = "ga3c_cadrl"
    preferred_speed: TopSpeed | None = 1.0

    def __post_init__(self) -> None:
        check_fields(self)

    @cached_property
    def policy(self) -> Policy:
        """The policy of the file, with the preferred speed; any robot drives with it within its own limits.

        Raises:
            InputError: there is no such file, or it is wrong, or of another encoding.
        """
        read = load_policy(self.file)
        if not isinstance(read.observe, Agents):
            raise InputError(f"{self.file}: sees otherwise than 'agents'; the planner 'policy' drives with any policy")
        return replace(read, observe=replace(read.observe, preferred_speed=self.preferred_speed), body=None)

    @cached_property
    def declares(self) -> Declaration:
        """Needs, label and period of the policy, and the preferred speed as its top speed."""
        policy, speed = self.policy, float(own(self.preferred_speed))
        return Declaration(needs=policy.observe.needs, label=policy.label, top_speed=speed, period=policy.period)
