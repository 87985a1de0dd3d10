"""iPlanner in two dimensions: paths that were learned from their costs on maps, with weights that were trained here.

F. Yang, C. Wang, C. Cadena, M. Hutter, "iPlanner: imperative path planning", RSS 2023, and its code (leggedrobotics/iPlanner,
b9ea6605). The published network reads depth images; this one reads a scan. Both know the goal alone, no map and no path. The
published robot stops where its path is feared for three frames. This one turns to its goal meanwhile, so that it may see another
way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agora.core.scalar import F
from agora.core.state import Array, Bools, Floats
from agora.errors import InputError
from agora.interfaces import Memory
from agora.planners.learned.policy import PolicyPlanner
from agora.policies.key_points import KeyPoints
from agora.policies.policy import Policy
from agora.ranges import Chance, Count


@dataclass(frozen=True)
class IPlanner(PolicyPlanner):
    """Drive along the path that a network answers for scan and goal, and stop where it fears a collision.

    Attributes:
        file: of the policy, whose encoding is ``key_points``.
        fear: probability of a collision from which a path is feared.
        frames: feared paths in turn after which the robot stops.
    """

    file: str = "iplanner"
    fear: Chance = 0.5
    frames: Count = 3

    @property
    def paths(self) -> KeyPoints:
        """The encoding of the policy.

        Raises:
            InputError: it is another one, whose actions are no paths.
        """
        policy: Policy = self.policy
        if not isinstance(policy.observe, KeyPoints):
            raise InputError(f"{self.file}: iplanner drives with the encoding key_points, got {type(policy.observe).__name__}")
        return policy.observe

    def _judged(
        self, twists: Floats, actions: Floats, looked: Floats, memory: Memory, kept: dict[str, Array], due: Bools
    ) -> tuple[Floats, dict[str, Array]]:
        """Stop, and turn to the goal, where the last paths were feared; ``feared`` (N,) of them in turn are remembered."""
        gain, before = F(self.paths.gain), memory.get("feared", np.zeros(len(twists), np.int64))
        probability = F(1.0) / (F(1.0) + np.exp(-np.clip(actions[:, -1], F(-30.0), F(30.0))))
        feared = np.where(due, np.where(probability > F(self.fear), before + 1, 0), before)
        bearing = np.arctan2(looked[:, -1], looked[:, -2])
        turned = np.stack([np.zeros_like(bearing), np.zeros_like(bearing), gain * bearing], -1)
        stopped = np.where((feared >= self.frames)[:, None], turned, twists).astype(np.float32)
        return stopped, kept | {"feared": feared}
