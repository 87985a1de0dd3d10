"""Prediction at constant velocity, a baseline that few learned predictors beat.

C. Schoeller, V. Aravantinos, F. Lay and A. Knoll, "What the constant velocity model can teach us about pedestrian motion
prediction", IEEE RA-L 5(2), 2020.
"""

from __future__ import annotations

from dataclasses import dataclass

from agora.interfaces import Memory, Observation, Prediction, PredictorDeclaration
from agora.world.tracks import onward


@dataclass(frozen=True)
class ConstantVelocity:
    """Every pedestrian keeps its current velocity."""

    declares = PredictorDeclaration()

    def predict(self, observation: Observation, steps: int, dt: float, memory: Memory) -> Prediction:
        """Return the predicted positions at constant velocity; the memory stays empty."""
        people = observation.pedestrians
        assert people is not None
        return Prediction(onward(people.position, people.velocity, steps, dt))
