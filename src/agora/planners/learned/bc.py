"""BC of DynaBARN: a policy that was cloned from a planner, with weights that were trained here.

A. Nair et al., "DynaBARN: benchmarking metric ground navigation in dynamic environments", SSRR 2022. Its demonstrations were driven
by two of the authors; these by a planner that knows where the cylinders are and how they move. The policy sees what that of TD3
sees: beams, goal and twist.
"""

from __future__ import annotations

from dataclasses import dataclass

from agora.planners.learned.policy import PolicyPlanner


@dataclass(frozen=True)
class Bc(PolicyPlanner):
    """Drive by lidar and goal as a policy does that was cloned from a planner.

    Attributes:
        file: of the policy.
    """

    file: str = "bc"
