"""Pure pursuit (Coulter 1992, CMU-RI-TR-92-01): a complete planner for one robot, and a template to copy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agora.core.path import point_ahead
from agora.interfaces import Declaration, Observation, Span
from agora.planners._limits import own
from agora.planners.steering import steer, stopping_speed
from agora.ranges import Checked, Distance, Speed

__all__ = ["PurePursuit"]


@dataclass(frozen=True)
class PurePursuit(Checked):
    """Follows a point that moves ahead on the path, ignoring pedestrians, and brakes for the path's end.

    Attributes:
        lookahead: distance of the point ahead on the path, m.
        speed: speed if the robot allows it, m/s; None for the robot's own.
        tolerance: distance to the end of the path at which to stop, m.
    """

    lookahead: Distance = 0.8
    speed: Speed | None = None
    tolerance: Distance = 0.05

    @cached_property
    def declares(self) -> Declaration:
        """The properties of the planner."""
        return Declaration(
            needs=("path",),
            label="faithful",
            tunable={"lookahead": Span(0.2, 2.0), "speed": Span(0.2, 2.0)},
            top_speed=float(own(self.speed)),
        )

    def plan(self, observation: Observation, memory: Any) -> tuple[tuple[float, float, float], Any]:
        """Find the point of the path nearest to the robot, move on by ``lookahead`` from there, and steer to the result."""
        assert observation.path is not None and observation.path_count is not None
        x, y, heading = (float(value) for value in observation.pose)
        path, count = observation.path.astype(float), observation.path_count
        _, ahead_x, ahead_y, way = point_ahead(path, count, x, y, self.lookahead)
        dx, dy, cosine, sine = ahead_x - x, ahead_y - y, math.cos(heading), math.sin(heading)
        limits, dt = observation.limits, observation.dt
        left = max(way, math.dist((x, y), path[count - 1])) - self.tolerance
        top = math.inf if self.speed is None else self.speed
        speed = min(top, stopping_speed(left, limits.max_ax, dt))
        twist = steer(
            cosine * dx + sine * dy,
            cosine * dy - sine * dx,
            speed,
            *(limits.holonomic, limits.min_vx, limits.max_vx, limits.max_vy),
            *(limits.max_omega, limits.max_alpha, limits.turning_radius, dt),
        )
        return twist, memory
