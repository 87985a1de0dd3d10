"""DS-RNN: a recurrent policy over the graph of the robot and the people around it.

S. Liu, P. Chang, W. Liang, N. Chakraborty, K. Driggs-Campbell, "Decentralized structural-RNN for robot crowd navigation with deep
reinforcement learning", ICRA 2021, and its code (Shuijing725/CrowdNav_DSRNN).

Differences from the code: all values are in the robot's goal frame (in the code, in the map frame); the robot's heading, which is
constant in the code, is left out; the memory about a person follows that person (in the code, it belongs to a position in a list of
fixed length); other robots are treated as people. The planner does not see walls.
"""

from __future__ import annotations

from dataclasses import dataclass

from agora.planners.learned._actor import ActorPlanner


@dataclass(frozen=True)
class DsRnn(ActorPlanner):
    """Keeps a memory of each person, of the robot's own velocity, and of the robot.

    Attributes:
        file: policy file.
    """

    file: str = "ds_rnn"
