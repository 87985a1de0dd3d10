"""TD3 of DynaBARN and ros_jackal, with weights that were trained here.

A. Nair et al., "DynaBARN: benchmarking metric ground navigation in dynamic environments", SSRR 2022; Z. Xu et al., "Benchmarking
reinforcement learning techniques for autonomous navigation", ICRA 2023, and its code (Daffan/ros_jackal). The policy sees the
lidar's beams, each the shortest of its share and cut at 5 m, distance and direction of the goal, and the robot's twist. There is no
map and no path.
"""

from __future__ import annotations

from dataclasses import dataclass

from agora.planners.learned.policy import PolicyPlanner


@dataclass(frozen=True)
class Td3(PolicyPlanner):
    """Drive by lidar and goal as a policy does that was trained with TD3.

    Attributes:
        file: of the policy.
    """

    file: str = "td3"
