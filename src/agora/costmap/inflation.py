"""Cost as a function of the distance to an obstacle, on costmap_2d's scale.

Source: costmap_2d of ROS navigation (inflation_layer.h, ``computeCost``): at a distance d from the nearest obstacle, the cost is
254 (lethal) inside the obstacle, 253 (inscribed) for d up to the robot's inscribed radius r, the integer part of 252 exp(-k (d -
r)) farther away, and 0 beyond the inflation radius. costmap_2d rounds the inflation radius up to whole cells; this module uses it
unchanged.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agora.core.jit import lean
from agora.core.scalar import ZERO, exp
from agora.errors import FieldError
from agora.maps.grid import Map

FREE, INSCRIBED, LETHAL, NO_INFORMATION = 0, 253, 254, 255

_BELOW, _INSCRIBED, _LETHAL = np.float32(252.0), np.float32(INSCRIBED), np.float32(LETHAL)


@lean
def cost_at(distance, touch, inscribed, inflation_radius, scaling):
    """Return the cost for one distance as an integer-valued float32.

    This is the kernel version of `cost_of`. The two results may differ by 1 if 252 exp() is close to an integer.
    """
    cost = np.float32(np.int32(_BELOW * exp(scaling * (inscribed - distance))))
    cost = ZERO if distance > inflation_radius else cost
    cost = _INSCRIBED if distance <= inscribed else cost
    return _LETHAL if distance <= touch else cost


def check_costs(cutoff: float, cost: float) -> None:
    """Check that the maximum cost of a pedestrian layer lies between its cutoff and `INSCRIBED`.

    Raises:
        FieldError: the maximum cost is not above the cutoff, or not below `INSCRIBED`.
    """
    if not cutoff < cost < INSCRIBED:
        raise FieldError(f"cost: must be above cutoff, {cutoff}, and below {INSCRIBED}, is {cost}")


def cost_of(
    distance: ArrayLike, inscribed: float, inflation_radius: float, scaling: float = 10.0, *, touch: float = 0.0
) -> NDArray[np.uint8]:
    """Return the costs for given distances to the nearest obstacle; comparisons with the radii use float32, like the distance
    fields.

    Args:
        distance: distances of any shape, m.
        inscribed: radius of the disc inside the robot's footprint, m.
        inflation_radius: distance beyond which the cost is 0, m.
        scaling: k, 1/m ("cost_scaling_factor").
        touch: distance up to which a point counts as inside the obstacle, m: half a cell for cell centres.
    """
    d = np.asarray(distance, np.float32)
    decay = 252.0 * np.exp(np.minimum(scaling * (inscribed - d.astype(np.float64)), 0.0))
    cost = np.where(d > np.float32(inflation_radius), 0.0, decay)
    cost = np.where(d <= np.float32(inscribed), float(INSCRIBED), cost)
    return np.where(d <= np.float32(touch), float(LETHAL), cost).astype(np.uint8)


def inflate(map: Map, inscribed: float, inflation_radius: float = 0.55, scaling: float = 10.0) -> NDArray[np.uint8]:
    """Return the costs (rows, columns) for a whole map: 254 if an obstacle extends into the cell, 255 if the cell is unknown.

    Args:
        map: cells and shapes.
        inscribed: radius of the disc inside the robot's footprint, m.
        inflation_radius: distance beyond which the cost is 0, m.
        scaling: k, 1/m.
    """
    cost = cost_of(map.clearance, inscribed, inflation_radius, scaling, touch=0.5 * map.resolution)
    if map.unknown is not None:
        cost[map.unknown & (cost != LETHAL)] = NO_INFORMATION
    return cost
