"""The social force model with elliptical specification and a learned potential.

Kreiss, "Deep Social Force", arXiv:2109.12081, 2021 (a network instead of the potential); Helbing and Molnar, "Social force model
for pedestrian dynamics", Phys. Rev. E 51, 1995 (relaxation: eq. 2; ellipse: eqs. 3 and 4; wall: eq. 5; weight w of the field of
view).

With r from the neighbour to the pedestrian, y the neighbour's step in the time ``stride`` and q = r - y, 2 b = sqrt((|r| + |q|)^2 -
|y|^2) = sqrt(2 (|r| |q| + r . q)), and the force is -grad_r V(b) = -V'(b) (|r| + |q|) / (4 b) m with m = r / |r| + q / |q|, for
which 2 b = |m| sqrt(|r| |q|). The force has full weight if the neighbour is in view, i.e. if the angle from the desired direction
to -m is at most half the field of view; otherwise its weight is ``behind``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

from agora.core.jit import inlined, kernel
from agora.core.scalar import HALF, ONE, ZERO, exp, in_float32
from agora.core.state import Floats
from agora.interfaces import CrowdDeclaration
from agora.pedestrians.shared import walls
from agora.pedestrians.shared.goal import write_directions
from agora.pedestrians.shared.neighbours import VX, VY, X, Y, append_people, append_robots, lanes
from agora.pedestrians.shared.potential import Potential, load_potential, potential_file
from agora.pedestrians.shared.walls import clearances
from agora.ranges import Checked, Duration, Length, NotNegative, Period, Positive, Within

_TINY2 = np.float32(1e-8)
_SAME2 = np.float32(1e-6)
_FOUR = np.float32(4.0)


@inlined
def _ellipse(dx, dy, step_x, step_y, ex, ey, cosine, behind):
    """Return b in metres, and the factor by which -V'(b) m is multiplied; 0 for neighbours within 1 mm, including the pedestrian
    itself.
    """
    qx, qy = dx - step_x, dy - step_y
    d2 = dx * dx + dy * dy
    d, e = math.sqrt(d2 + _TINY2), math.sqrt(qx * qx + qy * qy + _TINY2)
    over_d, over_e = ONE / d, ONE / e
    mx, my = dx * over_d + qx * over_e, dy * over_d + qy * over_e
    m2 = mx * mx + my * my + _TINY2
    m = math.sqrt(m2)
    b = HALF * math.sqrt(m2 * d * e)
    seen = -(mx * ex + my * ey) >= cosine * m
    factor = (d + e) / (_FOUR * b) * (ONE if seen else behind)
    return b, mx, my, (factor if d2 > _SAME2 else ZERO)


class _Parameters(NamedTuple):
    """The parameters of the kernel: 1 / tau, 1/s; duration of a neighbour's step, s; cosine of half the field of view; weight
    behind; for walls, U / R, m/s2, and 1 / R, 1/m.

    units: (K, 3) rate, 1/m, offset, and rate * weight, m/s2, of each unit of the network.
    """

    relaxation: float
    stride: float
    cosine: float
    behind: float
    wall: float
    inverse_wall: float
    units: Floats


@kernel
def _deep(parameters, crowd, out_x, out_y, first, last):
    relaxation, stride, cosine, behind = parameters.relaxation, parameters.stride, parameters.cosine, parameters.behind
    wall, inverse_wall, units = parameters.wall, parameters.inverse_wall, parameters.units
    pedestrians, traits = crowd.pedestrians, crowd.traits
    maps = crowd.maps
    slots, others = pedestrians.x.shape[1], crowd.robots.x.shape[1]
    scratch = np.empty((10 + walls.ROWS, slots), np.float32)
    discs = np.empty((5, slots + others), np.float32)
    cell = np.empty(slots, np.int32)
    ex, ey, speed, fx, fy = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4]
    b, mx, my, factor, slope = scratch[5], scratch[6], scratch[7], scratch[8], scratch[9]
    for w in range(first, last):
        count = traits.count[w]
        top = lanes(count)
        x, y, vx, vy, active = pedestrians.x[w], pedestrians.y[w], pedestrians.vx[w], pedestrians.vy[w], pedestrians.active[w]
        ax, ay = out_x[w], out_y[w]
        write_directions(crowd, w, top, HALF * relaxation, ex, ey, speed)
        fx[:top], fy[:top] = ZERO, ZERO
        n = append_robots(crowd, w, discs, append_people(crowd, w, discs, 0))
        for j in range(n):
            xj, yj, step_x, step_y = discs[X, j], discs[Y, j], discs[VX, j] * stride, discs[VY, j] * stride
            for i in range(top):
                b[i], mx[i], my[i], factor[i] = _ellipse(x[i] - xj, y[i] - yj, step_x, step_y, ex[i], ey[i], cosine, behind)
                slope[i] = ZERO
            for k in range(len(units)):
                rate, offset, weight = units[k, 0], units[k, 1], units[k, 2]
                for i in range(top):
                    t = exp(offset + rate * b[i])
                    slope[i] += weight * t / (ONE + t)
            for i in range(top):
                fx[i] -= slope[i] * factor[i] * mx[i]
                fy[i] -= slope[i] * factor[i] * my[i]
        clearance, nx, ny = clearances(maps, maps.index[w], x, y, top, cell, scratch[10:])
        for i in range(top):
            push = wall * exp(-clearance[i] * inverse_wall)
            ax[i] = (speed[i] * ex[i] - vx[i]) * relaxation + fx[i] + push * nx[i] if active[i] else ZERO
            ay[i] = (speed[i] * ey[i] - vy[i]) * relaxation + fy[i] + push * ny[i] if active[i] else ZERO
        ax[top:] = ZERO
        ay[top:] = ZERO


@dataclass(frozen=True)
class DeepSocialForce(Checked):
    """Pedestrians whose repulsion is the gradient of a learned potential that ignores body sizes.

    The potential depends on the ellipse spanned by a neighbour's position and its position after its next step, so an approaching
    neighbour acts from farther away. A visible robot acts like a pedestrian. Walls act through the clearance field
    (`agora.core.field`).

    As in the original, the repulsion is weak and ignores bodies: two pedestrians that meet head-on at 1.3 m/s pass with 0.2 to 0.45
    m between their centres, as in ``socialforce``. There are three differences from ``socialforce``. A neighbour's step is along
    its velocity, which can be observed, instead of its desired direction. The view test uses the direction of the force, as in
    Helbing and Molnar, instead of the direction of the neighbour. A network has no second coordinate.

    Attributes:
        potential: name of a potential that comes with Agora, or path of a safetensors file written by ``python -m
            agora.learning.potential``.
        relaxation_time: relaxation time tau, s.
        stride: duration of a neighbour's step, s; must equal the stride with which the potential was learned. Kreiss uses 0.4 s.
            With the 2 s of Helbing and Molnar, two pedestrians that meet head-on pass at a distance of 0.6 m, but in crossing
            flows, strangers come within a few millimetres of each other.
        field_of_view: full angle of the field of view, degrees.
        behind: weight of neighbours out of view.
        wall_potential: potential of a wall at distance 0 from the centre, m2/s2.
        wall_length: distance over which the wall's potential falls to 1/e, m.
        max_speed_factor: speed cap, as a multiple of the preferred speed.
    """

    potential: str = "deep_social_force"
    relaxation_time: Period = 0.5
    stride: Duration = 0.4
    field_of_view: Annotated[float, Within(0.0, 360.0)] = 200.0
    behind: NotNegative = 0.5
    wall_potential: NotNegative = 10.0
    wall_length: Length = 0.2
    max_speed_factor: Positive = 1.3

    def __post_init__(self) -> None:
        super().__post_init__()
        self.learned()

    def files(self) -> list[Path]:
        """Return the file of the potential."""
        return [potential_file(self.potential)]

    def learned(self) -> Potential:
        """Return the potential."""
        return load_potential(self.potential)

    @property
    def declares(self) -> CrowdDeclaration:
        """Return the properties of the model."""
        return CrowdDeclaration("acceleration", self.max_speed_factor)

    def kernel(self) -> Any:
        """Return the compiled function."""
        return _deep

    def parameters(self) -> _Parameters:
        """Return the parameters of the kernel."""
        learned = self.learned()
        view = math.cos(math.radians(self.field_of_view) / 2.0) if self.field_of_view < 360.0 else -2.0
        wall = (self.wall_potential / self.wall_length, 1.0 / self.wall_length)
        units = np.column_stack((learned.rate, learned.offset, learned.rate.astype(np.float64) * learned.weight))
        return in_float32(_Parameters(1.0 / self.relaxation_time, self.stride, view, self.behind, *wall, units.astype(np.float32)))
