"""RLCA: collision avoidance from lidar, learned by many robots that share one policy; with weights trained in this project.

P. Long, T. Fan, X. Liao, W. Liu, H. Zhang, J. Pan, "Towards optimally decentralized multi-robot collision avoidance via deep
reinforcement learning", ICRA 2018, and the code of Acmece/rl-collision-avoidance.

The policy sees the three latest scans, the goal and the robot's twist. It sees other robots only in the scans.
"""

from __future__ import annotations

from dataclasses import dataclass

from agora.planners.learned.policy import PolicyPlanner


@dataclass(frozen=True)
class Rlca(PolicyPlanner):
    """Drives from the scans and the goal, with a policy that was trained among robots driven by the same policy.

    Attributes:
        file: policy file.
    """

    file: str = "rlca"
