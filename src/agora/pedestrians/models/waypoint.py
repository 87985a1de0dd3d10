"""Pedestrians that walk straight to their waypoint at their preferred speed, ignoring all obstacles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from agora.core.jit import kernel
from agora.core.scalar import ONE, ZERO
from agora.interfaces import CrowdDeclaration
from agora.pedestrians.shared.goal import direction


@kernel
def _waypoint(parameters, crowd, out_x, out_y, first, last):
    pedestrians, traits, waypoints = crowd.pedestrians, crowd.traits, crowd.waypoints
    rate = ONE / np.float32(crowd.dt)
    for w in range(first, last):
        for i in range(pedestrians.x.shape[1]):
            ex, ey, distance = direction(pedestrians.x[w, i], pedestrians.y[w, i], waypoints.x[w, i], waypoints.y[w, i])
            speed = min(traits.speed[w, i], distance * rate) if pedestrians.active[w, i] else ZERO
            out_x[w, i], out_y[w, i] = speed * ex, speed * ey


@dataclass(frozen=True)
class Waypoint:
    """Pedestrians that walk straight to the current waypoint at their preferred speed, ignoring all obstacles, and stop there until
    they get another waypoint.
    """

    declares: ClassVar[CrowdDeclaration] = CrowdDeclaration("velocity", last_step="nothing")

    def kernel(self) -> Any:
        """Return the compiled function."""
        return _waypoint

    def parameters(self) -> tuple[()]:
        """Return no parameters."""
        return ()
