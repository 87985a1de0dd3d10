"""ROSNavRL, Arena's own family of planners, with weights that were trained here.

L. Kästner et al., "Arena 3.0", RSS 2024, and the code of rosnav-rl. The policy sees the lidar's beams, each the shortest of its
share, and distance and direction of a sub-goal 5 m ahead on the global path. It sees the twist that the robot has, where the code
shows its last command.
"""

from __future__ import annotations

from dataclasses import dataclass

from agora.planners.learned.policy import PolicyPlanner


@dataclass(frozen=True)
class RosnavRl(PolicyPlanner):
    """Drive by lidar and sub-goal as a policy does that was trained with PPO and Arena's rewards.

    Attributes:
        file: of the policy.
    """

    file: str = "rosnav_rl"
