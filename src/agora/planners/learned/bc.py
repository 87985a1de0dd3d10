"""BC of DynaBARN: a policy cloned from a planner, with weights trained in this project.

A. Nair et al., "DynaBARN: benchmarking metric ground navigation in dynamic environments", SSRR 2022. Its demonstrations were driven
by two of the authors; ours are driven by a planner that knows the positions and motion of the cylinders. The policy has the same
inputs as TD3's: beams, goal and twist.
"""

from __future__ import annotations

from dataclasses import dataclass

from agora.planners.learned.policy import PolicyPlanner


@dataclass(frozen=True)
class Bc(PolicyPlanner):
    """Drives by lidar and goal with a policy cloned from a planner.

    Attributes:
        file: file of the policy.
    """

    file: str = "bc"
