"""Evacuation with bonds between the members of a group: a published model, reconstructed from its abstract.

Xu and Duh, "A simulation of bonding effects and their impacts on pedestrian dynamics", IEEE Trans. Intelligent Transportation
Systems 11, 2010. Only the abstract was available ("exponential formulation of bonding force, as opposed to the repulsive force"):
the form used in this module and its constants are ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from agora.core.jit import kernel
from agora.core.scalar import ONE, ZERO, exp, in_float32
from agora.pedestrians.models.evacuation import Evacuation, Forces, evacuate
from agora.pedestrians.shared.neighbours import SEES_PEDESTRIANS, lanes
from agora.ranges import Distance, Length, NotNegative

_TINY = np.float32(1e-12)


class _Bonds(NamedTuple):
    """The parameters of the kernel: the body forces; d0, m; 1 / D, 1/m; C / m and the maximum bond force / m, m/s2; reach, m."""

    bodies: Forces
    rest: float
    inverse_length: float
    pull: float
    most: float
    reach: float


@kernel
def _bond(parameters, crowd, out_x, out_y, first, last):
    evacuate(parameters.bodies, crowd, out_x, out_y, first, last)
    rest, inverse_length, pull = parameters.rest, parameters.inverse_length, parameters.pull
    most, reach = parameters.most, parameters.reach
    pedestrians, traits = crowd.pedestrians, crowd.traits
    if not crowd.sees & SEES_PEDESTRIANS:
        return
    for w in range(first, last):
        count = traits.count[w]
        x, y, active, group, ax, ay = pedestrians.x[w], pedestrians.y[w], pedestrians.active[w], traits.group[w], out_x[w], out_y[w]
        for j in range(count):
            if not active[j] or group[j] < 0:
                continue
            xj, yj, its = x[j], y[j], group[j]
            for i in range(lanes(count)):
                dx, dy = xj - x[i], yj - y[i]
                d = math.sqrt(dx * dx + dy * dy + _TINY)
                force = min(pull * (exp((d - rest) * inverse_length) - ONE), most)
                bound = active[i] and group[i] == its and d > rest and d < reach
                force = force / d if bound else ZERO
                ax[i] += force * dx
                ay[i] += force * dy


@dataclass(frozen=True)
class Bonding(Evacuation):
    """The `Evacuation` model with bonds: members of a group that are apart attract each other.

    The force on i towards a member j at distance d, ``bond_distance`` < d < ``bond_reach``, is ``min(bond_force (exp((d -
    bond_distance) / bond_length) - 1), bond_limit)``; there is no bond force between pedestrians that do not see each other.

    Attributes:
        bond_distance: distance up to which there is no bond force, m.
        bond_length: distance over which the bond force grows, m.
        bond_force: scale of the bond force, N.
        bond_limit: maximum bond force between two pedestrians, N.
        bond_reach: distance beyond which the bond is broken, m.
    """

    bond_distance: Distance = 0.8
    bond_length: Length = 0.8
    bond_force: NotNegative = 20.0
    bond_limit: NotNegative = 200.0
    bond_reach: Distance = 5.0

    def kernel(self) -> Any:
        """Return the compiled function."""
        return _bond

    def parameters(self) -> _Bonds:
        """Return the parameters of the kernel."""
        forces = (self.bond_force / self.mass, self.bond_limit / self.mass)
        return in_float32(_Bonds(super().parameters(), self.bond_distance, 1.0 / self.bond_length, *forces, self.bond_reach))
