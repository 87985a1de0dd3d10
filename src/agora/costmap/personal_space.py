"""Costs for the personal space of pedestrians: asymmetric Gaussians that extend farther ahead of walking people.

Source: R. Kirby, Social Robot Navigation (thesis, Carnegie Mellon University, 2010), appendix A: the standard deviation is max(2 v,
0.5) ahead, 2/3 of this value to the sides and 1/2 of it behind. The social navigation layers of ROS (Lu 2014) use these Gaussians,
too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from agora.core.jit import lean_kernel
from agora.core.kernel_record import kernel_record
from agora.core.scalar import HALF, ZERO, exp, sincos
from agora.costmap.inflation import check_costs
from agora.costmap.stamp import cells_around
from agora.ranges import Checked, NotNegative, Positive

__all__ = ["PersonalSpace"]

_STANDS = np.float32(0.05)  # m/s; below this speed, the direction is the heading
SIDE, BEHIND = 2.0 / 3.0, 0.5
"""Standard deviations to the side and behind, as fractions of the standard deviation ahead."""

_SIDE, _BEHIND = np.float32(SIDE), np.float32(BEHIND)


@lean_kernel
def _personal_space(p, position, velocity, heading, evidence, present, cost, origin, cell, first, last):
    rows, columns = cost.shape[1], cost.shape[2]
    for n in range(first, last):
        for q in range(position.shape[1]):
            if not present[n, q]:
                continue
            vx, vy = velocity[n, q, 0], velocity[n, q, 1]
            speed = math.sqrt(vx * vx + vy * vy)
            s, c = sincos(heading[n, q])
            if speed > _STANDS:
                c, s = vx / speed, vy / speed
            ahead = max(p.seconds * speed, p.least_deviation)
            across, behind = _SIDE * ahead, _BEHIND * ahead
            x, y = position[n, q, 0], position[n, q, 1]
            low, high, west, east, u, v = cells_around(x, y, ahead * p.reach, origin[n, 0], origin[n, 1], cell, rows, columns)
            for i in range(low, high):
                dy = (np.float32(i) - v) * cell
                for j in range(west, east):
                    dx = (np.float32(j) - u) * cell
                    along, beside = c * dx + s * dy, c * dy - s * dx
                    a, b = along / (ahead if along > ZERO else behind), beside / across
                    mark = np.uint8(np.int32(p.cost * exp(-HALF * (a * a + b * b))))
                    cost[n, i, j] = max(cost[n, i, j], mark)


@dataclass(frozen=True)
class PersonalSpace(Checked):
    """Asymmetric Gaussians around pedestrians, which extend farther ahead at higher speeds.

    Attributes:
        cost: cost at the pedestrian, on costmap_2d's scale, at most 252.
        least_deviation: standard deviation of the Gaussian ahead of a standing pedestrian, m.
        seconds: increase in the standard deviation ahead per unit of speed, s.
        cutoff: cost below which a cell is left unchanged.
    """

    cost: Positive = 252.0
    least_deviation: Positive = 0.5
    seconds: NotNegative = 2.0
    cutoff: Positive = 10.0

    attribute = "pedestrian"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_costs(self.cutoff, self.cost)

    def kernel(self) -> Any:
        """Return the compiled function."""
        return _personal_space

    def parameters(self) -> Any:
        """Return the parameters of the kernel."""
        return _Parameters.of(self, reach=math.sqrt(2.0 * math.log(self.cost / self.cutoff)))


_Parameters = kernel_record("_Parameters", PersonalSpace, computed=("reach",))
"""``reach`` is how far the Gaussians extend, in standard deviations."""
