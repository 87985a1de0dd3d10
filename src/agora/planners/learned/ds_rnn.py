"""DS-RNN: a recurrent policy over the graph of the robot and the people around it.

S. Liu, P. Chang, W. Liang, N. Chakraborty, K. Driggs-Campbell, "Decentralized structural-RNN for robot crowd navigation with deep
reinforcement learning", ICRA 2021, and its code (Shuijing725/CrowdNav_DSRNN).

Differences from the code: all values are in the robot's goal frame (in the code, the map's frame); the robot's heading, constant in
the code, is left out; the memory of a person follows the person (in the code, the position in a list of fixed length); other robots
count as people. The planner does not see walls.
"""

from __future__ import annotations

from dataclasses import dataclass

from agora.planners.learned._actor import ActorPlanner


@dataclass(frozen=True)
class DsRnn(ActorPlanner):
    """Keeps a memory of each person, of the robot's own velocity, and of the robot.

    Attributes:
        file: file of the policy.
    """

    file: str = "ds_rnn"
