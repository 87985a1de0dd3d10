"""The interplanner that keeps to its path regardless of what is in the way.

The rule is that of Arena 3.0's AggressiveInter (Kästner et al. 2024, arXiv:2406.00837; its fork of move_base_flex). In that code,
the commanded speed collapses to 0 or 1 m/s, because a function that sets the speed returns a Boolean; this module implements the
intended behaviour.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated

import numpy as np

from agora.core.state import Floats
from agora.interfaces import Declaration, Guidance, Memory, Observation
from agora.planners.inter.surroundings import company, unchanged
from agora.ranges import Chance, Checked, Within


def speed_share(nearest: Floats, within: float) -> Floats:
    """Return d^2 / (1 + d^2), where d (N,) is the distance to the nearest pedestrian, m; 1 if the distance exceeds ``within``."""
    return np.where(nearest <= within, 1.0 - 1.0 / (1.0 + nearest * nearest), np.float32(1.0))


@dataclass(frozen=True)
class Aggressive(Checked):
    """Keeps to the path, and slows down near pedestrians to d^2 / (1 + d^2) of the top speed, where d is the distance to the
    nearest pedestrian, m.

    Attributes:
        slowdown_distance: distance to the nearest pedestrian below which the robot slows down, m.
        danger_threshold: danger level above which the interplanner warns.
    """

    slowdown_distance: Annotated[float, Within(0.0, 20.0)] = 5.0
    danger_threshold: Chance = 0.6

    @cached_property
    def declares(self) -> Declaration:
        """The properties of the interplanner."""
        return Declaration(needs=("path", "pedestrians"), concurrent=True, danger_threshold=self.danger_threshold)

    def guide(self, observation: Observation, memory: Memory) -> tuple[Guidance, Memory]:
        """Return the path and the speed at which to follow it."""
        seen = company(observation)
        speed = speed_share(seen.nearest, self.slowdown_distance)
        return replace(unchanged(observation), speed=speed, danger=seen.danger), memory
