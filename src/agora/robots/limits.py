"""What robots can do, as planners see it."""

from __future__ import annotations

from dataclasses import dataclass

from agora.core.state import Bools, Floats


@dataclass(frozen=True, eq=False)
class Limits:
    """What the robots of N rows can do; arrays (N,). A planner that exceeds them is clipped, and that is counted.

    Attributes:
        holonomic: whether the robot can move sideways.
        min_vx, max_vx, max_vy, max_omega: twist, m/s and rad/s.
        max_ax, max_ay, max_alpha: change of the twist, m/s2 and rad/s2.
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
