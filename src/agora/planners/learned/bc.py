"""BC (behaviour cloning) from DynaBARN: a policy cloned from a planner, with weights trained in this project.

A. Nair et al., "DynaBARN: benchmarking metric ground navigation in dynamic environments", SSRR 2022. In the paper, the
demonstrations were driven by two of the authors; in this project, they are driven by a planner that knows the positions and the
motion of the cylinders. The policy has the same inputs as TD3's: beams, goal and twist.
"""

from __future__ import annotations

from dataclasses import dataclass

from agora.planners.learned.policy import PolicyPlanner


@dataclass(frozen=True)
class Bc(PolicyPlanner):
    """Drives from the lidar and the goal, with a policy cloned from a planner.

    Attributes:
        file: policy file.
    """

    file: str = "bc"
