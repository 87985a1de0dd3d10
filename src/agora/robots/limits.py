"""The limits of robots, as planners see them."""

from __future__ import annotations

from dataclasses import dataclass

from agora.core.state import Bools, Floats


@dataclass(frozen=True, eq=False)
class Limits:
    """The limits of the robots of N rows; arrays (N,). A planner that exceeds them is clipped, and that is counted.

    Attributes:
        holonomic: whether the robot can move sideways.
        min_vx: lowest speed along the heading, m/s.
        max_vx: largest speed along the heading, m/s.
        max_vy: largest speed sideways, m/s.
        max_omega: largest turning rate, rad/s.
        max_ax: largest acceleration along the heading, m/s2.
        max_ay: largest acceleration sideways, m/s2.
        max_alpha: largest acceleration of the turning rate, rad/s2.
        turning_radius: smallest radius of a curve, m; 0 where it can turn in place.
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
