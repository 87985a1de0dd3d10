"""Pedestrians who turn in circles, to see that a crowd model is called.

Arena's plug-in ``spinny`` (pedsim_ros fork of Arena-Rosnav, 2023).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from agora.core.jit import lean_kernel
from agora.core.scalar import ZERO
from agora.core.state import Floats
from agora.errors import InputError
from agora.pedestrians.checks import above_zero


@lean_kernel
def _spinny(parameters, dt, sees, pedestrians, traits, waypoints, robots, robot_traits, maps, out_x, out_y, first, last):
    along, across = parameters[0], parameters[1]
    for w in range(first, last):
        vx, vy, active = pedestrians.vx[w], pedestrians.vy[w], pedestrians.active[w]
        for i in range(vx.size):
            out_x[w, i] = along * vx[i] - across * vy[i] if active[i] else ZERO
            out_y[w, i] = across * vx[i] + along * vy[i] if active[i] else ZERO


@dataclass(frozen=True)
class Spinny:
    """A force of the size of the velocity, turned to the left of it: they go round faster and faster, up to the cap.

    Who stands goes on standing. Nobody reacts to anybody, nor to walls. It prefers its left, so it is not its own mirror image.

    Attributes:
        angle: from the velocity to the force, rad, to the left.
        rate: force per speed, 1/s.
        max_speed_factor: cap of the speed, in preferred speeds.
    """

    output: ClassVar[Literal["acceleration", "velocity"]] = "acceleration"

    angle: float = math.pi / 6
    rate: float = 1.0
    max_speed_factor: float = 1.0

    def __post_init__(self) -> None:
        above_zero(self, "rate", "max_speed_factor")
        if not 0.0 <= self.angle <= math.pi:
            raise InputError(f"Spinny.angle is {self.angle!r}; expected a number in [0, pi]")

    def kernel(self) -> Any:
        """Return the compiled function."""
        return _spinny

    def parameters(self) -> Floats:
        """Return the parts of the force along the velocity and to its left."""
        return np.array([self.rate * math.cos(self.angle), self.rate * math.sin(self.angle)], np.float32)
