"""The reward of CADRL and GA3C-CADRL.

Y. F. Chen, M. Liu, M. Everett, J. P. How, ICRA 2017, equation 5; M. Everett, Y. F. Chen, J. P. How, IROS 2018, equation 9, and the
code mit-acl/gym-collision-avoidance (``collision_avoidance_env.py``, ``_compute_rewards``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agora.core.scalar import F
from agora.core.state import Floats
from agora.interfaces import Transition
from agora.learning.rewards import added, collision, reached
from agora.ranges import Checked, NotNegative
from agora.world.records import RUNNING

__all__ = ["CadrlReward"]


@dataclass(frozen=True)
class CadrlReward(Checked):
    """A sparse reward for reaching the goal, for collisions, and for being close to a pedestrian or another robot.

    A pedestrian or robot whose clearance d is at most ``distance`` adds ``close + slope d``. In the published code this is -0.1 -
    d/2, so the cost grows with the clearance up to ``distance``; the papers give -0.1 + d/2. The defaults are taken from the code.
    The clearance to other robots is measured at the end of the control period, as in the code; the clearance to pedestrians is the
    minimum within the period.

    Attributes:
        reached: reward for reaching the last goal.
        collision: reward if the episode ends with a contact or outside the map.
        close: reward if the clearance is at most ``distance`` and the episode continues.
        slope: additional reward per metre of clearance, under the same conditions as ``close``.
        distance: clearance up to which ``close`` and ``slope`` apply, m.
        progress: reward per metre of straight-line progress towards the goal; 0 as published.
    """

    reached: float = 1.0
    collision: float = -0.25
    close: float = -0.1
    slope: float = -0.5
    distance: NotNegative = 0.2
    progress: float = 0.0

    @property
    def asks(self) -> frozenset[str]:
        """The name of the required fact: the clearance to other robots."""
        return frozenset({"robots"})

    def terms(self, transition: Transition) -> dict[str, Floats]:
        """Return the weighted terms (N,) by name."""
        clearance = np.maximum(np.minimum(transition.clearance, transition.facts["robots"]), F(0.0))
        near = (clearance <= F(self.distance)) & (transition.outcome == RUNNING)
        return {
            "reached": reached(transition) * F(self.reached),
            "collision": collision(transition) * F(self.collision),
            "close": np.where(near, F(self.close) + F(self.slope) * np.minimum(clearance, F(self.distance)), F(0.0)),
            "progress": transition.progress * F(self.progress),
        }

    def __call__(self, transition: Transition) -> Floats:
        """Return the rewards (N,)."""
        return added(self.terms(transition))
