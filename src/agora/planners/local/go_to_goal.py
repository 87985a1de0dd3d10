"""Drives straight to the goal, ignoring all obstacles: the baseline that every other planner should beat."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from agora.core.jit import lean_kernel
from agora.core.scalar import HALF, ONE, TWO, ZERO, sincos, wrap
from agora.core.state import freeze
from agora.interfaces import Answer, Declaration, Memory, Observation, Span
from agora.planners._limits import own
from agora.planners.steering import steer, stopping_speed
from agora.ranges import Checked, Distance, Speed

__all__ = ["GoToGoal"]

_ARRIVED = np.float32(0.52)


@dataclass(frozen=True)
class GoToGoal(Checked):
    """Drives straight to the goal, ignoring walls and pedestrians, brakes in time, and turns to the goal's heading.

    If the goal of a car-like robot lies inside its turning circle, the robot drives straight on until the goal lies outside. A
    car-like robot keeps the heading with which it arrives.

    Attributes:
        speed: speed, limited to the robot's maximum, m/s; None for the robot's maximum speed.
        lookahead: distance from the robot to the point to steer to, which is on the line to the goal, m.
        tolerance: twice the distance to the goal at which the robot stops, m.
    """

    speed: Speed | None = None
    lookahead: Distance = 1.0
    tolerance: Distance = 0.1

    @cached_property
    def declares(self) -> Declaration:
        """The properties of the planner."""
        return Declaration(
            tunable={"speed": Span(0.2, 2.0), "lookahead": Span(0.3, 3.0)},
            turns_at_goal=True,
            top_speed=float(own(self.speed)),
        )

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the twists (N, 3); the memory stays empty."""
        o, m = observation, observation.limits
        parameters = tuple(np.float32(v) for v in (own(self.speed), self.lookahead, self.tolerance, o.dt))
        limits = (m.holonomic, m.min_vx, m.max_vx, m.max_vy, m.max_omega, m.max_ax, m.max_alpha, m.turning_radius)
        twists = np.empty(o.pose.shape, np.float32)
        _drive(parameters, freeze(o.pose), freeze(o.goal), tuple(freeze(limit) for limit in limits), twists, 0, len(twists))
        return Answer(twists)


@lean_kernel
def _drive(parameters, pose, goal, limits, twists, first, last):
    """Write the twists of the rows ``first <= n < last``."""
    speed, lookahead, tolerance, dt = parameters
    holonomic, min_vx, max_vx, max_vy, max_omega, max_ax, max_alpha, turning_radius = limits
    for n in range(first, last):
        dx, dy = goal[n, 0] - pose[n, 0], goal[n, 1] - pose[n, 1]
        sine, cosine = sincos(pose[n, 2])
        x, y = cosine * dx + sine * dy, cosine * dy - sine * dx
        distance = math.sqrt(x * x + y * y)
        if distance < _ARRIVED * tolerance:
            left = wrap(goal[n, 2] - pose[n, 2])
            turn = min(max_omega[n], stopping_speed(abs(left), max_alpha[n], dt)) if turning_radius[n] <= ZERO else ZERO
            twists[n, 0], twists[n, 1], twists[n, 2] = ZERO, ZERO, math.copysign(turn, left)
            continue
        slow = min(speed, stopping_speed(distance - HALF * tolerance, max_ax[n], dt))
        if distance * distance < TWO * turning_radius[n] * abs(y):
            x, y = ONE, ZERO
        elif distance > lookahead:
            x, y = x * lookahead / distance, y * lookahead / distance
        twists[n, 0], twists[n, 1], twists[n, 2] = steer(
            x, y, slow, holonomic[n], min_vx[n], max_vx[n], max_vy[n], max_omega[n], max_alpha[n], turning_radius[n], dt
        )
