"""ROSNavRL, Arena's own family of planners, with weights trained in this project.

L. Kästner et al., "Arena 3.0", RSS 2024, and the code of rosnav-rl. The policy sees the shortest range in each sector of the lidar,
and the distance and direction of a sub-goal 5 m ahead on the global path. It also sees the robot's current twist; the code uses the
last command instead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from agora.interfaces import Answer, Memory, Observation
from agora.planners.learned.policy import PolicyPlanner
from agora.ranges import Distance


@dataclass(frozen=True)
class RosnavRl(PolicyPlanner):
    """Drives from the lidar and a sub-goal, with a policy trained with PPO and Arena's rewards.

    The policy was trained to come within 0.5 m of its goal. With a smaller goal tolerance it would circle around the goal. Near the
    goal, the speed is therefore limited so that the robot can reach the goal along a single arc.

    Attributes:
        file: policy file.
        approach: distance to the goal within which the speed is limited by the arc to the goal, m; 0 to disable this.
    """

    file: str = "rosnav_rl"
    approach: Distance = 1.0

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the twists (N, 3), and the policy's memory.

        Raises:
            InputError: the policy was trained with a shorter control period.
        """
        answer, o = super().act(observation, memory), observation
        dx, dy = o.goal[:, 0] - o.pose[:, 0], o.goal[:, 1] - o.pose[:, 1]
        distance = np.hypot(dx, dy)
        ahead = np.cos(o.pose[:, 2]) * dx + np.sin(o.pose[:, 2]) * dy
        aside = np.abs(np.cos(o.pose[:, 2]) * dy - np.sin(o.pose[:, 2]) * dx)
        across = np.where(ahead > 0.0, aside, distance)  # distance^2 divided by twice this value is the radius of the arc
        fastest = o.limits.max_omega * distance**2 / np.maximum(2.0 * across, 1e-6)
        twists = answer.twists.copy()
        twists[:, 0] = np.where(distance < self.approach, np.minimum(twists[:, 0], fastest), twists[:, 0])
        return replace(answer, twists=twists)
