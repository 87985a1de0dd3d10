"""The limits of robots, in the form that planners read."""

from __future__ import annotations

from dataclasses import dataclass

from agora.core.state import Bools, Floats


@dataclass(frozen=True, eq=False)
class Limits:
    """The limits of the robots in N rows, as arrays (N,). Twists that exceed them are clipped and counted.

    Attributes:
        holonomic: whether the robot can move sideways.
        min_vx: minimum velocity along the heading, m/s; negative if the robot can reverse.
        max_vx: maximum velocity along the heading, m/s.
        max_vy: maximum sideways speed, m/s.
        max_omega: maximum turning rate, rad/s.
        max_ax: maximum acceleration along the heading, m/s2.
        max_ay: maximum sideways acceleration, m/s2.
        max_alpha: maximum angular acceleration, rad/s2.
        turning_radius: minimum turning radius, m; 0 if the robot can turn in place.
    """

    holonomic: Bools
    min_vx: Floats
    max_vx: Floats
    max_vy: Floats
    max_omega: Floats
    max_ax: Floats
    max_ay: Floats
    max_alpha: Floats
    turning_radius: Floats
