"""The planners of the CrowdNav family: CADRL, LSTM-RL, SA-CADRL, SARL and SARL*, with weights trained in this project.

Y. F. Chen, M. Liu, M. Everett, J. P. How, "Decentralized non-communicating multiagent collision avoidance with deep reinforcement
learning", ICRA 2017; M. Everett, Y. F. Chen, J. P. How, "Motion planning among dynamic, decision-making agents with deep
reinforcement learning", IROS 2018; Y. F. Chen, M. Everett, M. Liu, J. P. How, "Socially aware motion planning with deep
reinforcement learning", IROS 2017; C. Chen, Y. Liu, S. Kreiss, A. Alahi, "Crowd-robot interaction: crowd-aware robot navigation
with attention-based deep reinforcement learning", ICRA 2019; K. Li, Y. Xu, J. Wang, M. Q.-H. Meng, "SARL*: deep reinforcement
learning based human-aware navigation for mobile robot in indoor environments", ROBIO 2019.

They assume that everybody keeps their velocity for one step; by default the code of CrowdNav asks its simulator instead. They treat
other robots as people. Only SARL* sees walls.
"""

from __future__ import annotations

from dataclasses import dataclass

from agora.planners.learned._value import ValuePlanner
from agora.ranges import Distance, Duration, Length


@dataclass(frozen=True)
class Cadrl(ValuePlanner):
    """Y. F. Chen et al. 2017: the value of a state is its value with respect to the worst person.

    Attributes:
        file: file of the policy.
    """

    file: str = "cadrl"


@dataclass(frozen=True)
class LstmRl(ValuePlanner):
    """M. Everett et al. 2018, as a baseline of C. Chen et al. 2019: an LSTM reads the people, nearest last.

    Attributes:
        file: file of the policy.
    """

    file: str = "lstm_rl"


@dataclass(frozen=True)
class SaCadrl(ValuePlanner):
    """Y. F. Chen et al. 2017 (SA-CADRL): the maximum of features over people, and a cost of being on the wrong side of a person.

    The policy learned to keep right among robots that all keep right and start at most 10 m apart. It passed people that come from
    farther away on the left, in 9 of 9 episodes; so people beyond ``reach`` are left out.

    Attributes:
        file: file of the policy.
        reach: distance beyond which people are not seen, m.
    """

    file: str = "sa_cadrl"
    reach: Length | None = 5.0


@dataclass(frozen=True)
class Sarl(ValuePlanner):
    """C. Chen et al. 2019: people weighted by attention.

    Attributes:
        file: file of the policy.
    """

    file: str = "sarl"


@dataclass(frozen=True)
class SarlStar(ValuePlanner):
    """K. Li et al. 2019: SARL that drives to a point on the global path and excludes velocities that hit walls.

    SARL was trained among five people that are all near. Its behaviour among fewer people is undefined: it turns back and forth for
    people far away. So people beyond ``reach`` are left out, and with nobody left it drives along the path.

    Attributes:
        file: file of the policy.
        reach: distance beyond which people are not seen, m.
        follow_path: drive to a point on the global path.
        wall_horizon: velocities that hit a wall within this time are excluded, s.
    """

    file: str = "sarl"
    reach: Distance | None = 5.0
    follow_path: bool = True
    wall_horizon: Duration = 1.0
