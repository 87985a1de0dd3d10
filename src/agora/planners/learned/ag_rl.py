"""AG-RL: a recurrent policy that foresees where people will be, with attention among people and from the robot to them.

S. Liu, P. Chang, Z. Huang, N. Chakraborty, K. Hong, W. Liang, D. L. McPherson, J. Geng, K. Driggs-Campbell, "Intention aware robot
crowd navigation with attention-based interaction graph", ICRA 2023, and its code (Shuijing725/CrowdNav_Prediction_AttnGraph).

Differences from the code: people are predicted at constant velocity, where the released policy has a learned predictor;
everything is seen in the robot's goal frame, where the code has the map's; the robot's heading, constant in the code, is left
out; other robots count as people. It sees no walls.
"""

from __future__ import annotations

from dataclasses import dataclass

from agora.planners.learned._actor import ActorPlanner


@dataclass(frozen=True)
class AgRl(ActorPlanner):
    """Attends to the people within its reach, now and where they will be in the next 1.25 s.

    Attributes:
        file: of the policy.
    """

    file: str = "ag_rl"
