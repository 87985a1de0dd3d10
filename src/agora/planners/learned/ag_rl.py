"""AG-RL: a recurrent policy that predicts people, with attention among people and from the robot to people.

S. Liu, P. Chang, Z. Huang, N. Chakraborty, K. Hong, W. Liang, D. L. McPherson, J. Geng, K. Driggs-Campbell, "Intention aware robot
crowd navigation with attention-based interaction graph", ICRA 2023, and its code (Shuijing725/CrowdNav_Prediction_AttnGraph).

Differences from the code: people are predicted at constant velocity (the released policy has a learned predictor); all values are
in the robot's goal frame (in the code, in the map frame); the robot's heading, which is constant in the code, is left out; other
robots are treated as people. The planner does not see walls.
"""

from __future__ import annotations

from dataclasses import dataclass

from agora.planners.learned._actor import ActorPlanner


@dataclass(frozen=True)
class AgRl(ActorPlanner):
    """Attends to the people within its reach, at their current positions and at their predicted positions over the next 1.25 s.

    Attributes:
        file: policy file.
    """

    file: str = "ag_rl"
