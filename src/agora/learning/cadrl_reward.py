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
    """Sparse: for the goal, for a collision, and for being close to a pedestrian or another robot.

    A pedestrian at a small distance d costs ``close + slope d``: in the published code -0.1 - d / 2, so that the cost grows with
    the distance up to ``distance``; the papers write -0.1 + d / 2. The defaults are the code's. Other robots count by their
    distance at the end of the control period, as in the code, pedestrians by their smallest within it.

    Attributes:
        reached: for reaching the last goal.
        collision: for an end by a contact or outside the map.
        close: where the clearance is at most ``distance`` and the episode continues.
        slope: for every metre of clearance there.
        distance: clearance between the edges up to which there is a cost, m.
        progress: for every metre nearer to the goal, in a straight line; 0 as published.
    """

    reached: float = 1.0
    collision: float = -0.25
    close: float = -0.1
    slope: float = -0.5
    distance: NotNegative = 0.2
    progress: float = 0.0

    @property
    def asks(self) -> frozenset[str]:
        """The clearance to other robots."""
        return frozenset({"robots"})

    def terms(self, transition: Transition) -> dict[str, Floats]:
        """Return the terms (N,), weighted, by name."""
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
