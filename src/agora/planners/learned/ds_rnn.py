"""DS-RNN: a recurrent policy over the graph of the robot and the people about it.

S. Liu, P. Chang, W. Liang, N. Chakraborty, K. Driggs-Campbell, "Decentralized structural-RNN for robot crowd navigation with deep
reinforcement learning", ICRA 2021, and its code (Shuijing725/CrowdNav_DSRNN).

Differences from the code: everything is seen in the robot's goal frame, where the code has the map's; the robot's heading, constant
in the code, is left out; the memory of a person follows the person, where the code's follows a list of a fixed length; other robots
count as people. It sees no walls.
"""

from __future__ import annotations

from dataclasses import dataclass

from agora.planners.learned._actor import ActorPlanner


@dataclass(frozen=True)
class DsRnn(ActorPlanner):
    """Keeps a memory of each person, of the own velocity, and of the robot.

    Attributes:
        file: of the policy.
    """

    file: str = "ds_rnn"
