"""The social force used by the CrowdNav family: only relaxation and isotropic repulsion.

From the code of S. Liu et al., "Decentralized structural-RNN for robot crowd navigation with deep reinforcement learning", ICRA
2021 (DS-RNN), and "Intention aware robot crowd navigation with attention-based interaction graph", ICRA 2023 (AG-RL).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from agora.core.jit import inlined, kernel
from agora.core.kernel_record import kernel_record
from agora.core.scalar import HALF, ONE, ZERO, exp
from agora.interfaces import CrowdDeclaration
from agora.pedestrians.shared.goal import arrival_speed, direction
from agora.pedestrians.shared.neighbours import RADIUS, X, Y, append_people, append_robots, lanes
from agora.ranges import Checked, Length, NotNegative, Positive

_TINY = np.float32(1e-12)


@inlined
def exponential_force(dx, dy, reach, strength, inverse_length):
    """Return A exp((reach - d) / B) along the unit vector of (dx, dy), which points away from the other disc; 0 at distance 0."""
    d = math.sqrt(dx * dx + dy * dy + _TINY)
    g = strength * exp((reach - d) * inverse_length) * (ONE / d)
    return g * dx, g * dy


@kernel
def _helbing_simple(p, crowd, out_x, out_y, first, last):
    pedestrians, traits, waypoints = crowd.pedestrians, crowd.traits, crowd.waypoints
    slots, others = pedestrians.x.shape[1], crowd.robots.x.shape[1]
    discs = np.empty((5, slots + others), np.float32)
    for w in range(first, last):
        count = traits.count[w]
        top = lanes(count)
        x, y, vx, vy, active = pedestrians.x[w], pedestrians.y[w], pedestrians.vx[w], pedestrians.vy[w], pedestrians.active[w]
        radius, ax, ay = traits.radius[w], out_x[w], out_y[w]
        for i in range(top):
            ex, ey, distance = direction(x[i], y[i], waypoints.x[w, i], waypoints.y[w, i])
            last_one = (waypoints.mode[w, i], waypoints.index[w, i], waypoints.count[w, i])
            speed = arrival_speed(traits.speed[w, i], distance, HALF * p.relaxation, *last_one)
            ax[i], ay[i] = p.relaxation * (speed * ex - vx[i]), p.relaxation * (speed * ey - vy[i])
        n = append_robots(crowd, w, discs, append_people(crowd, w, discs, 0))
        for j in range(n):
            xj, yj, rj = discs[X, j], discs[Y, j], discs[RADIUS, j]
            for i in range(top):
                gx, gy = exponential_force(x[i] - xj, y[i] - yj, radius[i] + rj, p.repulsion, p.inverse_length)
                ax[i] += gx
                ay[i] += gy
        for i in range(top):
            ax[i], ay[i] = (ax[i] if active[i] else ZERO), (ay[i] if active[i] else ZERO)
        ax[top:] = ZERO
        ay[top:] = ZERO


@dataclass(frozen=True)
class HelbingSimple(Checked):
    """Pedestrians that relax towards their goal direction and repel each other; they ignore walls.

    The original caps the speed at the preferred speed. A visible robot acts like a pedestrian with the robot's radius.

    Attributes:
        relaxation: inverse of the relaxation time, K_i, 1/s.
        repulsion: strength A of the repulsion, m/s2.
        length: range B of the repulsion, m.
        max_speed_factor: speed cap, as a multiple of the preferred speed.
    """

    relaxation: Positive = 1.0
    repulsion: NotNegative = 2.0
    length: Length = 1.0
    max_speed_factor: Positive = 1.0

    @property
    def declares(self) -> CrowdDeclaration:
        """Return the properties of the model."""
        return CrowdDeclaration("acceleration", self.max_speed_factor)

    def kernel(self) -> Any:
        """Return the compiled function."""
        return _helbing_simple

    def parameters(self) -> Any:
        """Return the parameters of the kernel."""
        return _Parameters.of(self, inverse_length=1.0 / self.length)


_Parameters = kernel_record("_Parameters", HelbingSimple, computed=("inverse_length",))
