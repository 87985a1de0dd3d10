"""Costs for positions where pedestrians cannot see the robot: half Gaussians behind them.

Source: E. A. Sisbot et al., A human aware mobile robot motion planner, IEEE Transactions on Robotics 23, 2007 (the visibility
criterion: the cost increases with the angle from the centre of the field of view, and with proximity); CoHAN has a similar layer
(Singamaneni 2021). In this layer, the cost is ``cost * exp(-d^2 / (2 deviation^2)) * max(0, -cos(bearing))``, which is 0 at the
shoulders.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from agora.core.jit import lean_kernel
from agora.core.scalar import HALF, ZERO, exp, in_float32, sincos
from agora.costmap.inflation import check_costs
from agora.costmap.stamp import cells_around
from agora.ranges import Checked, Positive

__all__ = ["Visibility"]

_TINY = np.float32(1e-12)


class _Parameters(NamedTuple):
    """The parameters of the kernel: cost directly behind the pedestrian; 1 / standard deviation, 1/m; reach, m."""

    amplitude: float
    inverse: float
    reach: float


@lean_kernel
def _visibility(parameters, position, velocity, heading, evidence, present, cost, origin, cell, first, last):
    amplitude, inverse, reach = parameters
    rows, columns = cost.shape[1], cost.shape[2]
    for n in range(first, last):
        for q in range(position.shape[1]):
            if not present[n, q]:
                continue
            s, c = sincos(heading[n, q])
            x, y = position[n, q, 0], position[n, q, 1]
            low, high, west, east, u, v = cells_around(x, y, reach, origin[n, 0], origin[n, 1], cell, rows, columns)
            for i in range(low, high):
                dy = (np.float32(i) - v) * cell
                for j in range(west, east):
                    dx = (np.float32(j) - u) * cell
                    square = dx * dx + dy * dy
                    behind = max(-(c * dx + s * dy) / math.sqrt(square + _TINY), ZERO)
                    mark = np.uint8(np.int32(amplitude * behind * exp(-HALF * square * inverse * inverse)))
                    cost[n, i, j] = max(cost[n, i, j], mark)


@dataclass(frozen=True)
class Visibility(Checked):
    """Half Gaussians behind pedestrians, where they cannot see the robot.

    Attributes:
        cost: cost directly behind the pedestrian, on costmap_2d's scale, at most 252.
        deviation: standard deviation of the Gaussian, m.
        cutoff: cost below which a cell is left unchanged.
    """

    cost: Positive = 150.0
    deviation: Positive = 1.0
    cutoff: Positive = 5.0

    attribute = "pedestrian"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_costs(self.cutoff, self.cost)

    def kernel(self) -> Any:
        """Return the compiled function."""
        return _visibility

    def parameters(self) -> _Parameters:
        """Return the parameters of the kernel."""
        reach = self.deviation * math.sqrt(2.0 * math.log(self.cost / self.cutoff))
        return in_float32(_Parameters(self.cost, 1.0 / self.deviation, reach))
