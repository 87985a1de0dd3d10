"""Escape panic: the social force model with body compression and sliding friction between people in contact.

Helbing, Farkas and Vicsek, "Simulating dynamical features of escape panic", Nature 407, 2000, eqs. 1 to 3 and their parameters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from agora.core.jit import inlined, kernel
from agora.core.scalar import HALF, ONE, ZERO, exp, in_float32
from agora.interfaces import CrowdDeclaration
from agora.pedestrians.shared import walls
from agora.pedestrians.shared.goal import write_directions
from agora.pedestrians.shared.neighbours import RADIUS, VX, VY, X, Y, append_people, append_robots, lanes
from agora.pedestrians.shared.walls import clearances
from agora.ranges import Checked, Length, NotNegative, Period, Positive

__all__ = ["Evacuation"]

_TINY = np.float32(1e-12)
_STABLE = np.float32(0.25)  # maximum fraction of the sliding velocity that one contact may remove from a body in a step


@inlined
def _contact_acceleration(nx, ny, overlap, ux, uy, law):
    """Return the acceleration of a body that overlaps another by ``overlap`` metres (negative if they are apart); (nx, ny) is the
    direction away from the other body.

    (ux, uy) is the velocity of the other body relative to the first. Friction acts only on the tangential component, u - (u.n) n =
    (u.t) t.
    """
    strength, inverse_length, body, friction, stable = law
    # Compression and friction act only in contact.
    pressed = max(overlap, ZERO)
    push = strength * exp(overlap * inverse_length) + body * pressed
    rub = min(friction * pressed, stable)
    # Subtracting the normal part of the friction from the push leaves its tangential part in the sum below.
    push -= rub * (ux * nx + uy * ny)
    return push * nx + rub * ux, push * ny + rub * uy


class Forces(NamedTuple):
    """The parameters of the body forces: 1 / tau, 1/s; A / m, m/s2; 1 / B, 1/m; k / m, 1/s2; kappa / m, 1/(m s)."""

    relaxation: float
    strength: float
    inverse_length: float
    body: float
    friction: float


@kernel
def evacuate(parameters, crowd, out_x, out_y, first, last):
    """Write the accelerations of the pedestrians of worlds ``first <= w < last``; arguments as in `CompiledCrowdModel`."""
    relaxation = parameters.relaxation
    law = (parameters.strength, parameters.inverse_length, parameters.body, parameters.friction, _STABLE / np.float32(crowd.dt))
    pedestrians, traits = crowd.pedestrians, crowd.traits
    maps = crowd.maps
    slots, others = pedestrians.x.shape[1], crowd.robots.x.shape[1]
    scratch = np.empty((5 + walls.ROWS, slots), np.float32)
    discs = np.empty((5, slots + others), np.float32)
    cell = np.empty(slots, np.int32)
    ex, ey, fx, fy, speed = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4]
    for w in range(first, last):
        count = traits.count[w]
        top = lanes(count)
        x, y, vx, vy, active = pedestrians.x[w], pedestrians.y[w], pedestrians.vx[w], pedestrians.vy[w], pedestrians.active[w]
        radius, ax, ay = traits.radius[w], out_x[w], out_y[w]
        write_directions(crowd, w, top, HALF * relaxation, ex, ey, speed)
        fx[:top], fy[:top] = ZERO, ZERO
        n = append_robots(crowd, w, discs, append_people(crowd, w, discs, 0))
        # Eq. 2. The inner loop, over pedestrians, has no reduction, so vectorisation cannot change the order of a sum. The
        # pedestrian's own disc contributes nothing, because its direction and its relative velocity are 0.
        for j in range(n):
            xj, yj, uj, vj, rj = discs[X, j], discs[Y, j], discs[VX, j], discs[VY, j], discs[RADIUS, j]
            for i in range(top):
                dx, dy = x[i] - xj, y[i] - yj
                d = math.sqrt(dx * dx + dy * dy + _TINY)
                inverse = ONE / d
                gx, gy = _contact_acceleration(dx * inverse, dy * inverse, radius[i] + rj - d, uj - vx[i], vj - vy[i], law)
                fx[i] += gx
                fy[i] += gy
        # Eq. 3, in which the nearest point of a wall is a body at rest with radius 0, and the driving term of eq. 1
        clearance, nx, ny = clearances(maps, maps.index[w], x, y, top, cell, scratch[5:])
        for i in range(top):
            gx, gy = _contact_acceleration(nx[i], ny[i], radius[i] - clearance[i], -vx[i], -vy[i], law)
            ax[i] = (speed[i] * ex[i] - vx[i]) * relaxation + fx[i] + gx if active[i] else ZERO
            ay[i] = (speed[i] * ey[i] - vy[i]) * relaxation + fy[i] + gy if active[i] else ZERO
        ax[top:] = ZERO
        ay[top:] = ZERO


@dataclass(frozen=True)
class Evacuation(Checked):
    """Pedestrians that repel each other and, when in contact, are subject to body compression and sliding friction.

    The forces are stiff, so the engine calls this model in substeps of at most ``max_step``. A wall acts only through the nearest
    point of the clearance field (`agora.core.field`), whose distances are accurate to half a cell, so use a map resolution of 0.05
    m or less for narrow doors. A visible robot is a body with the robot's radius. Friction is integrated explicitly. For stability
    in strong contacts, friction removes at most half of the sliding velocity between two bodies in one step.

    Attributes:
        relaxation_time: relaxation time tau, s.
        mass: mass m, kg.
        repulsion: strength A of the repulsion, N.
        length: range B of the repulsion, m.
        body: stiffness k of the body compression, N/m.
        friction: coefficient kappa of sliding friction, kg/(m s).
        max_step: maximum time between calls, s; use 0.001 if people press harder than they do at a desired speed of 3 m/s.
        max_speed_factor: speed cap, as a multiple of the preferred speed; the paper has no cap, so the default is higher than any
            speed that occurs.
    """

    relaxation_time: Period = 0.5
    mass: Positive = 80.0
    repulsion: NotNegative = 2000.0
    length: Length = 0.08
    body: NotNegative = 1.2e5
    friction: NotNegative = 2.4e5
    max_step: Positive = 0.0025
    max_speed_factor: Positive = 10.0

    @property
    def declares(self) -> CrowdDeclaration:
        """Return the properties of the model."""
        return CrowdDeclaration("acceleration", self.max_speed_factor, self.max_step, "robots")

    def kernel(self) -> Any:
        """Return the compiled function."""
        return evacuate

    def parameters(self) -> Any:
        """Return the parameters of the kernel."""
        per_mass = (self.repulsion / self.mass, 1.0 / self.length, self.body / self.mass, self.friction / self.mass)
        return in_float32(Forces(1.0 / self.relaxation_time, *per_mass))
