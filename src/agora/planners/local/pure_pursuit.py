"""Pure pursuit (Coulter 1992, CMU-RI-TR-92-01): a whole planner for one robot, and the one to copy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from agora.interfaces import Observation
from agora.planners.steering import steer, stopping_speed


@dataclass(frozen=True)
class PurePursuit:
    """Chase a point that runs ahead on the path, blind to pedestrians, and brake for the path's end.

    Attributes:
        lookahead: how far ahead on the path the point is, m.
        speed: m/s, where the robot allows it.
        tolerance: distance to the end of the path at which to stop, m.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"path"})

    lookahead: float = 0.8
    speed: float = 1.0
    tolerance: float = 0.05

    def plan(self, observation: Observation, memory: Any) -> tuple[tuple[float, float, float], Any]:
        """Find the point of the path nearest to the robot, go ``lookahead`` on from there, steer to it."""
        assert observation.path is not None
        x, y, heading = (float(value) for value in observation.pose)
        path = observation.path[: observation.path_count].astype(float) - (x, y)
        if len(path) == 0:
            return (0.0, 0.0, 0.0), memory
        path = np.concatenate((path, path[-1:]))
        step, length = np.diff(path, axis=0), np.hypot(*np.diff(path, axis=0).T)
        share = np.clip(-(path[:-1] * step).sum(axis=1) / np.maximum(length, 1e-6) ** 2, 0.0, 1.0)
        nearest = np.argmin(np.hypot(*(path[:-1] + share[:, None] * step).T))
        arc = np.concatenate(([0.0], np.cumsum(length)))
        passed = arc[nearest] + share[nearest] * length[nearest]
        ahead = np.array([np.interp(passed + self.lookahead, arc, axis) for axis in path.T])
        forward = np.array((np.cos(heading), np.sin(heading)))
        limits, dt = observation.limits, observation.dt
        speed = min(self.speed, stopping_speed(max(arc[-1] - passed, np.hypot(*path[-1])) - self.tolerance, limits.max_ax, dt))
        twist = steer(
            ahead @ forward,
            forward[0] * ahead[1] - forward[1] * ahead[0],
            speed,
            *(limits.holonomic, limits.min_vx, limits.max_vx, limits.max_vy),
            *(limits.max_omega, limits.max_alpha, limits.turning_radius, dt),
        )
        return twist, memory
