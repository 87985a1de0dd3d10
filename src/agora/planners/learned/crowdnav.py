"""The planners of the CrowdNav family: CADRL, LSTM-RL, SA-CADRL, SARL and SARL*, with weights that were trained here.

Y. F. Chen, M. Liu, M. Everett, J. P. How, "Decentralized non-communicating multiagent collision avoidance with deep reinforcement
learning", ICRA 2017; M. Everett, Y. F. Chen, J. P. How, "Motion planning among dynamic, decision-making agents with deep
reinforcement learning", IROS 2018; Y. F. Chen, M. Everett, M. Liu, J. P. How, "Socially aware motion planning with deep
reinforcement learning", IROS 2017; C. Chen, Y. Liu, S. Kreiss, A. Alahi, "Crowd-robot interaction: crowd-aware robot navigation
with attention-based deep reinforcement learning", ICRA 2019; K. Li, Y. Xu, J. Wang, M. Q.-H. Meng, "SARL*: deep reinforcement
learning based human-aware navigation for mobile robot in indoor environments", ROBIO 2019.

They believe that everybody keeps their velocity for one step, where the code of CrowdNav asks its simulator by default. They treat
other robots as people. All but SARL* see no walls.
"""

from __future__ import annotations

from dataclasses import dataclass

from agora.planners.learned._value import ValuePlanner
from agora.ranges import Distance, Duration, Length


@dataclass(frozen=True)
class Cadrl(ValuePlanner):
    """Y. F. Chen et al. 2017: the value of a state is that with the worst person.

    Attributes:
        file: of the policy.
    """

    file: str = "cadrl"


@dataclass(frozen=True)
class LstmRl(ValuePlanner):
    """M. Everett et al. 2018, as a baseline of C. Chen et al. 2019: an LSTM reads the people, the nearest last.

    Attributes:
        file: of the policy.
    """

    file: str = "lstm_rl"


@dataclass(frozen=True)
class SaCadrl(ValuePlanner):
    """Y. F. Chen et al. 2017 (SA-CADRL): the largest of what it sees of all people, and a cost of being on their wrong side.

    It learned to keep right among robots that all keep right, and begin at most 10 m apart. Somebody who comes from farther away it
    passed on the left, in 9 of 9 episodes; so people beyond ``reach`` are left out.

    Attributes:
        file: of the policy.
        reach: distance beyond which people are not seen, m.
    """

    file: str = "sa_cadrl"
    reach: Length | None = 5.0


@dataclass(frozen=True)
class Sarl(ValuePlanner):
    """C. Chen et al. 2019: attention weighs the people.

    Attributes:
        file: of the policy.
    """

    file: str = "sarl"


@dataclass(frozen=True)
class SarlStar(ValuePlanner):
    """K. Li et al. 2019: SARL that heads for a point on the global path and leaves out velocities that lead into walls.

    SARL was trained among five people who are all near. Alone it does not know how to behave: among fewer it turns hither and
    thither for somebody far away. So people beyond ``reach`` are left out, and with nobody left it drives along the path.

    Attributes:
        file: of the policy.
        reach: distance beyond which people are not seen, m.
        follow_path: head for a point on the global path.
        wall_horizon: velocities that lead into a wall within this time are left out, s.
    """

    file: str = "sarl"
    reach: Distance | None = 5.0
    follow_path: bool = True
    wall_horizon: Duration = 1.0
