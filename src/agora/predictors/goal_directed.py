"""Prediction of people who turn back towards their goal after a momentary detour.

The velocity relaxes exponentially to the preferred velocity towards the goal, as for a pedestrian with no other people around (D.
Helbing and P. Molnar, Phys. Rev. E 51, 1995, eq. 2); positions come from the closed-form solution of that equation. The predicted
goal is the goal whose direction is closest to the direction of the mean velocity. This goal is the most likely one if all goals
have the same prior probability and directions of motion follow a von Mises distribution around the goal's direction. The idea is
due to B. D. Ziebart et al., "Planning-based prediction for pedestrians", IROS 2009; this predictor uses straight paths instead of
planned ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from agora.core.jit import lean_kernel
from agora.core.scalar import ONE, ZERO
from agora.core.state import freeze
from agora.interfaces import Memory, Observation, Prediction, PredictorDeclaration, Span
from agora.predictors.intent import intents
from agora.ranges import Checked, Duration, Period, Within


@dataclass(frozen=True)
class GoalDirected(Checked):
    """Every pedestrian turns back towards its goal, at its recent mean speed.

    Attributes:
        goals: positions (x, y) to which people walk, m. If no goal is within ``sector`` of a pedestrian's mean direction, or if no
            goals are given, the goal lies infinitely far in that direction.
        sector: maximum angle between a pedestrian's mean direction and the direction of its goal, rad.
        averaging: time over which direction and speed are averaged, s.
        relaxation: time constant with which the velocity relaxes to the velocity towards the goal, s.
    """

    goals: tuple[tuple[float, float], ...] = ()
    sector: Annotated[float, Within(0.0, math.pi)] = 0.5
    averaging: Duration = 1.0
    relaxation: Period = 5.0

    declares = PredictorDeclaration(tunable={"averaging": Span(0.2, 5.0, log=True), "relaxation": Span(0.2, 10.0, log=True)})

    def predict(self, observation: Observation, steps: int, dt: float, memory: Memory) -> Prediction:
        """Return the predicted positions on the paths to the goals; the memory keeps mean velocities and speeds."""
        people = observation.pedestrians
        assert people is not None
        velocity, speed, kept = intents(people, memory, observation.dt, self.averaging)
        goals = np.array(self.goals, np.float32).reshape(-1, 2)
        position = np.zeros((*people.present.shape, steps, 2), np.float32)
        now = (freeze(people.position), freeze(people.velocity), freeze(people.present))
        law = (np.float32(math.cos(self.sector)), np.float32(self.relaxation), np.float32(dt))
        _foresee(law, now, (velocity, speed), freeze(goals), position, 0, len(position))
        return Prediction(position, kept)


@lean_kernel
def _foresee(law, now, means, goals, out, first, last):
    least_cosine, relaxation, dt = law
    position, velocity, present = now
    mean_velocity, mean_speed = means
    for n in range(first, last):
        for q in range(present.shape[1]):
            if not present[n, q]:
                continue
            x, y, vx, vy = position[n, q, 0], position[n, q, 1], velocity[n, q, 0], velocity[n, q, 1]
            mx, my, speed = mean_velocity[n, q, 0], mean_velocity[n, q, 1], mean_speed[n, q]
            length = math.sqrt(mx * mx + my * my)
            inverse = ONE / length if length > ZERO else ZERO
            ex, ey, reach, best = mx * inverse, my * inverse, np.float32(np.inf), least_cosine
            for g in range(goals.shape[0]):
                dx, dy = goals[g, 0] - x, goals[g, 1] - y
                distance = math.sqrt(dx * dx + dy * dy)
                if distance > ZERO and (dx * mx + dy * my) * inverse >= best * distance:
                    best, reach = (dx * mx + dy * my) * inverse / distance, distance
                    ex, ey = dx / distance, dy / distance
            for k in range(out.shape[2]):
                t = dt * np.float32(k + 1)
                settled = relaxation * (ONE - math.exp(-t / relaxation))
                along = min(speed * (t - settled), reach - (vx * ex + vy * ey) * settled)
                out[n, q, k, 0] = x + ex * along + vx * settled
                out[n, q, k, 1] = y + ey * along + vy * settled
