"""iPlanner in two dimensions: a network learns paths from their costs on maps; with weights trained in this project.

F. Yang, C. Wang, C. Cadena, M. Hutter, "iPlanner: imperative path planning", RSS 2023, and its code (leggedrobotics/iPlanner,
b9ea6605). The published network reads depth images; this one reads a scan. Apart from this, both know only the goal; they use
neither a map nor a path. The published planner stops the robot after three consecutive paths with a high collision probability.
This planner also turns the stopped robot towards the goal, so that it may find another path.
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
    """Drives along the path that a network outputs for the scan and the goal, and stops if a collision is likely.

    Attributes:
        file: policy file; the policy's encoding must be ``key_points``.
        fear: collision probability above which a path counts as feared.
        frames: number of consecutive feared paths after which the robot stops.
    """

    file: str = "iplanner"
    fear: Chance = 0.5
    frames: Count = 3

    @property
    def paths(self) -> KeyPoints:
        """Return the policy's encoding.

        Raises:
            InputError: the policy has a different encoding, whose actions are not paths.
        """
        policy: Policy = self.policy
        if not isinstance(policy.observe, KeyPoints):
            raise InputError(f"{self.file}: iplanner drives with the encoding key_points, got {type(policy.observe).__name__}")
        return policy.observe

    def _twists_of_actions(
        self, twists: Floats, actions: Floats, looked: Floats, memory: Memory, kept: dict[str, Array], due: Bools
    ) -> tuple[Floats, dict[str, Array]]:
        """If the last paths were feared, stop and turn towards the goal; the memory holds the number of consecutive ``feared`` (N,)
        paths.
        """
        gain, before = F(self.paths.gain), memory.get("feared", np.zeros(len(twists), np.int64))
        probability = F(1.0) / (F(1.0) + np.exp(-np.clip(actions[:, -1], F(-30.0), F(30.0))))
        feared = np.where(due, np.where(probability > F(self.fear), before + 1, 0), before)
        bearing = np.arctan2(looked[:, -1], looked[:, -2])
        turned = np.stack([np.zeros_like(bearing), np.zeros_like(bearing), gain * bearing], -1)
        stopped = np.where((feared >= self.frames)[:, None], turned, twists).astype(np.float32)
        return stopped, kept | {"feared": feared}
