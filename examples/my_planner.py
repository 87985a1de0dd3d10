"""A planner of your own: it follows the path and waits for whoever is in front of it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from agora.episode import Conditions, Episodes
from agora.interfaces import Declaration, Observation
from agora.planners.local.pure_pursuit import PurePursuit
from agora.tasks.suite import load_suite


@dataclass(frozen=True)
class Polite:
    """Pure pursuit that waits for people.

    Attributes:
        distance: to a pedestrian ahead at which it waits, from edge to edge, m.
        speed: m/s.
    """

    distance: float = 0.8
    speed: float = 1.0

    @property
    def declares(self) -> Declaration:
        """The channels that it reads, and its top speed."""
        return Declaration(needs=("path", "pedestrians"), top_speed=self.speed)

    def plan(self, observation: Observation, memory: Any) -> tuple[tuple[float, float, float], Any]:
        """Return the twist (vx, vy, omega) and the memory for the next call."""
        people = observation.pedestrians
        heading = observation.pose[2]
        offset = people.position - observation.pose[:2]
        clearance = np.hypot(*offset.T) - people.radius - observation.radius
        ahead = offset @ (np.cos(heading), np.sin(heading)) > 0
        if (people.present & ahead & (clearance < self.distance)).any():
            return (0.0, 0.0, 0.0), memory
        return PurePursuit(speed=self.speed).plan(observation, memory)


if __name__ == "__main__":
    suite = load_suite("demo")
    starts = [suite.start("crossing", k) for k in range(6)]
    for planner in (PurePursuit(), Polite()):
        episodes = Episodes(starts, planner, Conditions.of(suite.stage("crossing")))
        outcomes = [recording.outcome.label for _, [recording] in episodes]
        print(f"{type(planner).__name__:12s} {', '.join(sorted(outcomes))}")
