"""TRAIL: DRL-VO, the planner of Temple University's robotics laboratory (TRAIL), with weights trained in this project.

Z. Xie, P. Dames, "DRL-VO: Learning to navigate through crowded dynamic scenes using velocity obstacles", IEEE T-RO 2023, and the
code of TempleRAIL/drl_vo_nav. Arena 3.0 runs it under the laboratory's name.

The policy sees the three latest scans, the nearest people with their velocities, and a sub-goal 2 m ahead on the global path.
"""

from __future__ import annotations

from dataclasses import dataclass

from agora.planners.learned.policy import PolicyPlanner


@dataclass(frozen=True)
class Trail(PolicyPlanner):
    """Drives from scans, people and a sub-goal, with a policy that learned from velocity obstacles which headings are free.

    Attributes:
        file: policy file.
    """

    file: str = "trail"
