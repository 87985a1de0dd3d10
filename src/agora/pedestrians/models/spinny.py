"""Pedestrians that turn in circles, to test that a crowd model is called.

Arena's plug-in ``spinny``: the force in the fork of pedsim_ros of Arena-Rosnav (2023), and the push on standing pedestrians in its
successor crowdsim (2024).
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
"""Square of the speed below which a pedestrian stands, m2/s2: slightly less than the engine's 0.05 m/s, because a push of 1 m/s2
gives exactly this speed in a step of 0.05 s.
"""


class _Parameters(NamedTuple):
    """Components ahead and to the left: of the force per velocity, 1/s, and of the push per heading, m/s2."""

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
    """A force proportional to the velocity, turned to its left: pedestrians circle faster and faster, up to the cap.

    A crowd starts at rest, where that force is 0. A standing pedestrian (below 0.05 m/s) therefore gets crowdsim's push of 1 m/s2
    instead. In crowdsim the push points along the x axis of the map; here it points to the left of the pedestrian's heading, so
    that results do not depend on the orientation of the map. crowdsim itself turns the last acceleration by 3 degrees with every
    message, whatever the time between two messages; here the turn depends on time only. Pedestrians react neither to each other nor
    to walls. The model turns to the left, so it is not its own mirror image.

    Attributes:
        angle: angle from the velocity, or from the heading of a standing pedestrian, to the force, rad, to the left.
        rate: force per speed, 1/s.
        push: force on a standing pedestrian, m/s2; 0 as in the fork of pedsim_ros, where a standing pedestrian never moves.
        max_speed_factor: cap of the speed, in preferred speeds.
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
