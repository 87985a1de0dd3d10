"""RLCA: collision avoidance by lidar, learned by many robots that share one policy, with weights that were trained here.

P. Long, T. Fan, X. Liao, W. Liu, H. Zhang, J. Pan, "Towards optimally decentralized multi-robot collision avoidance via deep
reinforcement learning", ICRA 2018, and the code of Acmece/rl-collision-avoidance.

The policy sees the three latest scans, the goal and the robot's twist. It takes other robots for what the lidar shows.
"""

from __future__ import annotations

from dataclasses import dataclass

from agora.planners.learned.policy import PolicyPlanner


@dataclass(frozen=True)
class Rlca(PolicyPlanner):
    """Drive by scans and goal as a policy does that learned among robots that drive by it, too.

    Attributes:
        file: of the policy.
    """

    file: str = "rlca"
