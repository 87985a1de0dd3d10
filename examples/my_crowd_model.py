"""A crowd model of your own, in plain NumPy: people walk to their waypoint and step aside for whoever is near."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from agora.core.state import Floats
from agora.episode import Conditions, Episodes
from agora.interfaces import CrowdDeclaration, CrowdScene
from agora.planners.local.pure_pursuit import PurePursuit
from agora.tasks.suite import load_suite


@dataclass(frozen=True)
class Sidestep:
    """Acceleration towards the waypoint, and to the right of others and of walls.

    Attributes:
        relaxation: time to reach the preferred velocity, s.
        strength: of the push, m/s2.
        reach: distance over which it falls to a third, m.
    """

    declares: ClassVar[CrowdDeclaration] = CrowdDeclaration("acceleration")

    relaxation: float = 0.5
    strength: float = 2.0
    reach: float = 0.4

    def __post_init__(self) -> None:
        if not (self.relaxation > 0 and self.strength >= 0 and self.reach > 0):
            raise ValueError("expected relaxation and reach above 0 and strength of at least 0")

    def compute(self, scene: CrowdScene) -> Floats:
        """Return accelerations (W, P, 2), m/s2."""
        goal = scene.waypoint - scene.position
        goal /= np.maximum(np.linalg.norm(goal, axis=-1, keepdims=True), 1e-6)
        drive = (scene.preferred_speed[..., None] * goal - scene.velocity) / self.relaxation

        offset = scene.position[:, :, None] - scene.position[:, None]  # from j to i
        distance = np.maximum(np.linalg.norm(offset, axis=-1), 1e-6)
        gap = distance - scene.radius[:, :, None] - scene.radius[:, None]
        others = scene.active[:, None] & ~np.eye(gap.shape[1], dtype=bool) & scene.sees_pedestrians
        push = (np.where(others, np.exp(-gap / self.reach), 0) / distance)[..., None] * offset
        aside = np.stack([push[..., 1], -push[..., 0]], -1)

        wall = np.exp(-scene.wall_distance / self.reach)[..., None] * scene.wall_direction
        return drive + self.strength * ((push + 0.5 * aside).sum(axis=2) + wall)


if __name__ == "__main__":
    suite = load_suite("demo")
    conditions = replace(Conditions.of(suite.stage("hall")), crowd=Sidestep())
    for _, [recording] in Episodes([suite.start("hall", k) for k in range(3)], PurePursuit(), conditions):
        speed = np.linalg.norm(recording.pedestrian_velocity, axis=-1)[recording.pedestrian_present]
        print(f"{recording.outcome.label:22s} people walk {speed.mean():.2f} m/s")
