"""The interplanner that keeps to its path, whoever is in the way.

The rule is Arena 3.0's AggressiveInter (Kästner et al. 2024, arXiv:2406.00837; its fork of move_base_flex). There the speed that is
commanded collapses to 0 or 1 m/s, because a function that sets it returns a truth value; what is meant is implemented here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from agora.core.state import Floats
from agora.interfaces import Declaration, Guidance, Memory, Observation
from agora.planners.inter.surroundings import company, unchanged
from agora.ranges import Chance, Distance


def slowed(nearest: Floats, within: float) -> Floats:
    """d^2 / (1 + d^2) of distances (N,) to the nearest pedestrian up to ``within``, 1 beyond."""
    return np.where(nearest <= within, 1.0 - 1.0 / (1.0 + nearest * nearest), np.float32(1.0))


@dataclass(frozen=True)
class Aggressive:
    """Keep the path, and near pedestrians slow down to d^2 / (1 + d^2) of the top speed, d the distance to the nearest in m.

    Attributes:
        slowdown_distance: distance to the nearest pedestrian from which on it slows down, m.
        danger_threshold: level of danger from which on it warns.
    """

    slowdown_distance: Distance = 5.0
    danger_threshold: Chance = 0.6

    def __post_init__(self) -> None:
        if not 0.0 <= self.slowdown_distance <= 20.0:
            raise ValueError(f"slowdown_distance must be in [0, 20] m, got {self.slowdown_distance}")

    @cached_property
    def declares(self) -> Declaration:
        """The properties of the interplanner."""
        return Declaration(needs=("path", "pedestrians"), concurrent=True, danger_threshold=self.danger_threshold)

    def guide(self, observation: Observation, memory: Memory) -> tuple[Guidance, Memory]:
        """Return the path and how fast to follow it."""
        seen = company(observation)
        speed = slowed(seen.nearest, self.slowdown_distance)
        return replace(unchanged(observation), speed=speed, danger=seen.danger), memory
