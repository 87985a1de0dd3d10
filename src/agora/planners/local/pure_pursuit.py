"""Pure pursuit (Coulter 1992, CMU-RI-TR-92-01): a complete planner for one robot, which can be copied as a template."""

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
    """Steers to a point a fixed distance ahead on the path, ignoring pedestrians, and brakes for the end of the path.

    Attributes:
        lookahead: distance along the path to the point to steer to, m.
        speed: speed, limited to the robot's maximum, m/s; None for the robot's maximum speed.
        tolerance: distance to the end of the path at which the robot stops, m.
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
        """Find the point of the path nearest to the robot, advance along the path by ``lookahead``, and steer to the resulting
        point.
        """
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
