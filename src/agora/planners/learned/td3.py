"""TD3 as in DynaBARN and ros_jackal, with weights trained in this project.

A. Nair et al., "DynaBARN: benchmarking metric ground navigation in dynamic environments", SSRR 2022; Z. Xu et al., "Benchmarking
reinforcement learning techniques for autonomous navigation", ICRA 2023, and its code (Daffan/ros_jackal). The policy sees the
shortest range in each sector of the lidar, clipped at 5 m, the distance and direction of the goal, and the robot's twist. It uses
neither a map nor a path.
"""

from __future__ import annotations

from dataclasses import dataclass

from agora.planners.learned.policy import PolicyPlanner


@dataclass(frozen=True)
class Td3(PolicyPlanner):
    """Drives from the lidar and the goal, with a policy trained with TD3.

    Attributes:
        file: policy file.
    """

    file: str = "td3"
