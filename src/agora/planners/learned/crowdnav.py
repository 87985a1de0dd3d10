"""The planners of the CrowdNav family: CADRL, LSTM-RL, SA-CADRL, SARL and SARL*, with weights trained in this project.

Y. F. Chen, M. Liu, M. Everett, J. P. How, "Decentralized non-communicating multiagent collision avoidance with deep reinforcement
learning", ICRA 2017; M. Everett, Y. F. Chen, J. P. How, "Motion planning among dynamic, decision-making agents with deep
reinforcement learning", IROS 2018; Y. F. Chen, M. Everett, M. Liu, J. P. How, "Socially aware motion planning with deep
reinforcement learning", IROS 2017; C. Chen, Y. Liu, S. Kreiss, A. Alahi, "Crowd-robot interaction: crowd-aware robot navigation
with attention-based deep reinforcement learning", ICRA 2019; K. Li, Y. Xu, J. Wang, M. Q.-H. Meng, "SARL*: deep reinforcement
learning based human-aware navigation for mobile robot in indoor environments", ROBIO 2019.

These planners assume that everyone keeps their velocity for one step; by default, CrowdNav's code asks its simulator instead. They
treat other robots as people. Only SARL* sees walls.
"""

from __future__ import annotations

from dataclasses import dataclass

from agora.planners.learned._value import ValuePlanner
from agora.ranges import Distance, Duration, Length


@dataclass(frozen=True)
class Cadrl(ValuePlanner):
    """CADRL (Y. F. Chen et al. 2017): the value of a state is the lowest of its values with respect to each person.

    Attributes:
        file: policy file.
    """

    file: str = "cadrl"


@dataclass(frozen=True)
class LstmRl(ValuePlanner):
    """LSTM-RL (M. Everett et al. 2018, as the baseline in C. Chen et al. 2019): an LSTM reads the people one after another, the
    nearest last.

    Attributes:
        file: policy file.
    """

    file: str = "lstm_rl"


@dataclass(frozen=True)
class SaCadrl(ValuePlanner):
    """SA-CADRL (Y. F. Chen et al. 2017): features are max-pooled over people, and being on the wrong side of a person has a cost.

    The policy learned to keep right among robots that all keep right and start at most 10 m apart. With people that came from
    farther away, it kept left in 9 of 9 episodes; people beyond ``reach`` are therefore ignored.

    Attributes:
        file: policy file.
        reach: distance beyond which people are ignored, m.
    """

    file: str = "sa_cadrl"
    reach: Length | None = 5.0


@dataclass(frozen=True)
class Sarl(ValuePlanner):
    """SARL (C. Chen et al. 2019): people are weighted by attention.

    Attributes:
        file: policy file.
    """

    file: str = "sarl"


@dataclass(frozen=True)
class SarlStar(ValuePlanner):
    """SARL* (K. Li et al. 2019): SARL that drives to a point on the global path and excludes velocities that hit walls.

    SARL was trained among five people who are all nearby. Its behaviour among fewer people is undefined: it turns back and forth
    because of people far away. People beyond ``reach`` are therefore ignored, and if nobody is within ``reach``, it drives along
    the path.

    Attributes:
        file: policy file.
        reach: distance beyond which people are ignored, m.
        follow_path: whether to drive to a point on the global path.
        wall_horizon: velocities that hit a wall within this time are excluded, s.
    """

    file: str = "sarl"
    reach: Distance | None = 5.0
    follow_path: bool = True
    wall_horizon: Duration = 1.0
