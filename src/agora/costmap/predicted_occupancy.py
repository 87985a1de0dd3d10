"""Costs around the predicted positions of pedestrians: a cell's cost depends on when a pedestrian will be nearest to it.

Each pedestrian keeps its velocity v. Starting from position p, it is nearest to a cell x at the time t = (x - p).v / v^2, clipped
to the range from 0 to the horizon. The cost of the cell is cost discount^t exp(-d^2 / (2 s^2)), with d the distance at that time
and s = deviation + growth t. Without growth and discount, this is the maximum over time of a Gaussian that moves with the
pedestrian.

This is a simple way to plan with predictions. D. V. Lu and W. D. Smart (Towards more efficient navigation for robots and humans,
IROS 2013) draw a Gaussian ahead of people; M. Kollmitz et al. (Time dependent planning on a layered social cost map for human-aware
robot navigation, ECMR 2015) have a layer for each time step. This layer does not know when the robot will be at a cell. A path
planned on this layer avoids the area ahead of a pedestrian and passes behind, even if the pedestrian will have left the area when
the robot arrives. Therefore, replan often: at least once per second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from agora.core.jit import lean_kernel
from agora.core.kernel_record import kernel_record
from agora.core.scalar import HALF, ONE, TWO, ZERO, exp
from agora.costmap.inflation import check_costs
from agora.costmap.stamp import cells_around
from agora.ranges import Checked, Duration, Fraction, Length, NotNegative, Positive

__all__ = ["PredictedOccupancy"]

_STANDS = np.float32(0.05)  # m/s


@lean_kernel
def _predicted_occupancy(p, position, velocity, heading, evidence, present, cost, origin, cell, first, last):
    deviation, reach = p.deviation, math.sqrt(TWO * p.deep)
    rows, columns = cost.shape[1], cost.shape[2]
    for n in range(first, last):
        west_edge, south_edge = origin[n, 0], origin[n, 1]
        for q in range(position.shape[1]):
            if not present[n, q]:
                continue
            vx, vy = velocity[n, q, 0], velocity[n, q, 1]
            walks = vx * vx + vy * vy > _STANDS * _STANDS
            per_square = ONE / (vx * vx + vy * vy) if walks else ZERO
            x, y = position[n, q, 0], position[n, q, 1]
            ahead = p.horizon if walks else ZERO
            low, high, west, east, u, v = cells_around(x, y, reach * deviation, west_edge, south_edge, cell, rows, columns)
            there = reach * (deviation + p.growth * ahead)
            low_then, high_then, west_then, east_then, _, _ = cells_around(
                x + vx * ahead, y + vy * ahead, there, west_edge, south_edge, cell, rows, columns
            )
            for i in range(min(low, low_then), max(high, high_then)):
                dy = (np.float32(i) - v) * cell
                for j in range(min(west, west_then), max(east, east_then)):
                    dx = (np.float32(j) - u) * cell
                    t = min(max((dx * vx + dy * vy) * per_square, ZERO), ahead)
                    a, b, s = dx - vx * t, dy - vy * t, deviation + p.growth * t
                    apart, square = HALF * (a * a + b * b), s * s
                    if apart < (p.deep - p.fading * t) * square:
                        mark = np.uint8(np.int32(p.cost * exp(-p.fading * t - apart / square)))
                        cost[n, i, j] = max(cost[n, i, j], mark)


@dataclass(frozen=True)
class PredictedOccupancy(Checked):
    """Costs along the paths of pedestrians, predicted at constant velocity; the farther ahead in time, the lower and wider they
    are.

    Attributes:
        cost: cost at the pedestrian's position, on costmap_2d's scale, at most 252.
        horizon: prediction horizon, s.
        deviation: standard deviation of the Gaussian around the pedestrian's current position, m.
        growth: growth rate of the standard deviation, m/s.
        discount: factor by which the cost is multiplied per second of prediction.
        cutoff: cost below which a cell is left unchanged.
    """

    cost: Positive = 200.0
    horizon: Duration = 4.0
    deviation: Length = 0.5
    growth: NotNegative = 0.1
    discount: Fraction = 0.8
    cutoff: Positive = 10.0

    attribute = "pedestrian"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_costs(self.cutoff, self.cost)

    def kernel(self) -> Any:
        """Return the compiled function."""
        return _predicted_occupancy

    def parameters(self) -> Any:
        """Return the parameters of the kernel."""
        return _Parameters.of(self, fading=-math.log(self.discount), deep=math.log(self.cost / self.cutoff))


_Parameters = kernel_record("_Parameters", PredictedOccupancy, computed=("fading", "deep"))
"""``fading`` is the rate at which the cost decays, 1/s; ``deep`` is the logarithm of the ratio of the cost to the cutoff."""
