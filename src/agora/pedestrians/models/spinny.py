"""Pedestrians that walk in circles, to test that a crowd model is called.

Arena's ``spinny`` plug-in: the force is from Arena-Rosnav's fork of pedsim_ros (2023), and the push on standing pedestrians is from
its successor crowdsim (2024).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from agora.core.jit import lean_kernel
from agora.core.scalar import ZERO, in_float32, sincos
from agora.interfaces import CrowdDeclaration
from agora.ranges import Checked, NotNegative, Positive, Within

_WALKING2 = np.float32(0.0499**2)
"""Square of the speed below which a pedestrian counts as stationary, m2/s2. The speed is slightly lower than the engine's 0.05 m/s,
because a push of 1 m/s2 results in exactly 0.05 m/s after a step of 0.05 s.
"""


class _Parameters(NamedTuple):
    """The parameters of the kernel, as components ahead and to the left: the force per unit of velocity, 1/s, and the push relative
    to the heading, m/s2.
    """

    along: float
    across: float
    push_along: float
    push_across: float


@lean_kernel
def _spinny(parameters, crowd, out_x, out_y, first, last):
    along, across, push_along, push_across = parameters
    pedestrians = crowd.pedestrians
    for w in range(first, last):
        vx, vy, heading, active = pedestrians.vx[w], pedestrians.vy[w], pedestrians.heading[w], pedestrians.active[w]
        for i in range(vx.size):
            s, c = sincos(heading[i])
            stands = vx[i] * vx[i] + vy[i] * vy[i] < _WALKING2
            fx = push_along * c - push_across * s if stands else along * vx[i] - across * vy[i]
            fy = push_across * c + push_along * s if stands else across * vx[i] + along * vy[i]
            out_x[w, i] = fx if active[i] else ZERO
            out_y[w, i] = fy if active[i] else ZERO


@dataclass(frozen=True)
class Spinny(Checked):
    """Pedestrians with a force proportional to their velocity and rotated to its left, so that they circle faster and faster, up to
    the speed cap.

    A crowd starts at rest, so the force is initially 0. Therefore, crowdsim's push of 1 m/s2 acts on a standing pedestrian (below
    0.05 m/s) instead. In crowdsim, the push points along the x axis of the map; in this model, it points to the left of the
    pedestrian's heading, so that results do not depend on the orientation of the map. crowdsim turns the last acceleration by 3
    degrees with every message, regardless of the time between messages; in this model, the turn depends only on time. Pedestrians
    react neither to each other nor to walls. The model always turns to the left, so it is not mirror-symmetric.

    Attributes:
        angle: angle from the velocity, or from the heading of a standing pedestrian, to the force, counter-clockwise, rad.
        rate: force per unit of speed, 1/s.
        push: force on a standing pedestrian, m/s2. With 0, as in the fork of pedsim_ros, a standing pedestrian never moves.
        max_speed_factor: speed cap, as a multiple of the preferred speed.
    """

    angle: Annotated[float, Within(0.0, math.pi)] = math.pi / 6
    rate: Positive = 1.0
    push: NotNegative = 1.0
    max_speed_factor: Positive = 1.0

    @property
    def declares(self) -> CrowdDeclaration:
        """Return the properties of the model."""
        return CrowdDeclaration("acceleration", self.max_speed_factor)

    def kernel(self) -> Any:
        """Return the compiled function."""
        return _spinny

    def parameters(self) -> _Parameters:
        """Return the parameters of the kernel."""
        along, across = math.cos(self.angle), math.sin(self.angle)
        return in_float32(_Parameters(self.rate * along, self.rate * across, self.push * along, self.push * across))
