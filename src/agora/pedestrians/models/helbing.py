"""The social force model with circular specification.

Helbing and Molnar, "Social force model for pedestrian dynamics", Phys. Rev. E 51, 1995 (relaxation: eq. 2; cap at 1.3 v0); Helbing,
Farkas and Vicsek, "Simulating dynamical features of escape panic", Nature 407, 2000 (repulsion A exp((r_ij - d_ij) / B));
Johansson, Helbing and Shukla, Adv. Complex Syst. 10, 2007 (weight lambda + (1 - lambda) (1 + cos phi) / 2, where phi is the angle
from the desired direction to the neighbour). The default repulsion, length and anisotropy were chosen from `agora validate` and
head-on streams (docs/decisions). The values of 1995, V0 / sigma exp(-d / sigma) with V0 = 2.1 m2/s2 and sigma = 0.3 m, correspond
for discs of radius 0.3 m to a repulsion of 2.1 / 0.3 exp(-0.6 / 0.3) = 0.947 and a length of 0.3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from agora.core.cells import cell_at, extent, run, sort_into_cells
from agora.core.jit import inlined, kernel, part
from agora.core.scalar import HALF, ONE, ZERO, exp, in_float32
from agora.interfaces import CrowdDeclaration, Span
from agora.pedestrians.shared import walls
from agora.pedestrians.shared.goal import write_directions
from agora.pedestrians.shared.neighbours import RADIUS, SEES_PEDESTRIANS, X, Y, append_people, append_robots, lanes
from agora.pedestrians.shared.walls import clearances
from agora.ranges import Checked, Distance, Length, NotNegative, Period, Positive

_TINY = np.float32(1e-6)
_FAR = np.float32(3e38)
_MARGIN = np.float32(1.001)
_MANY = 160
_BLOCK = 32
_TILE = 7


@inlined
def _repulsion(dx, dy, reach, ex, ey, law):
    """Return the force of a disc on a pedestrian at (dx, dy) relative to the disc; ``reach`` is the sum of the radii, and (ex, ey)
    the desired direction.
    """
    strength, inverse_length, even, odd, cutoff2 = law
    d2 = dx * dx + dy * dy + _TINY
    d = math.sqrt(d2)
    inverse = ONE / d
    g = strength * exp((reach - d) * inverse_length) * inverse
    g = g * (even - odd * inverse * (dx * ex + dy * ey))
    g = g if d2 < cutoff2 else ZERO
    return g * dx, g * dy


@part
def _near_pairs(x, y, radius, active, count, law, ex, ey, fx, fy, starts, order, tile):
    """Add the forces between pedestrians within the cutoff, for `_BLOCK` pedestrians in a row of cells at a time."""
    reach = math.sqrt(law[4]) * _MARGIN
    cells = sort_into_cells(extent(x, y, active, count), x, y, active, count, reach, starts, order)
    bx, by, br, bex, bey, bfx, bfy = tile[0], tile[1], tile[2], tile[3], tile[4], tile[5], tile[6]
    for row in range(cells.rows):
        begin, end = run(cells, starts, row, 0, cells.columns - 1)
        for o in range(begin, end, _BLOCK):
            used = min(_BLOCK, end - o)
            left, right = _FAR, -_FAR
            for k in range(_BLOCK):
                i = order[o + min(k, used - 1)]
                bx[k], by[k], br[k], bex[k], bey[k], bfx[k], bfy[k] = x[i], y[i], radius[i], ex[i], ey[i], ZERO, ZERO
                left, right = min(left, x[i]), max(right, x[i])
            from_column, _ = cell_at(cells, left - reach, ZERO)
            to_column, _ = cell_at(cells, right + reach, ZERO)
            for other in range(row - 1, row + 2):
                first, last = run(cells, starts, other, from_column, to_column)
                for s in range(first, last):
                    j = order[s]
                    xj, yj, rj = x[j], y[j], radius[j]
                    for k in range(_BLOCK):
                        gx, gy = _repulsion(bx[k] - xj, by[k] - yj, br[k] + rj, bex[k], bey[k], law)
                        bfx[k] += gx
                        bfy[k] += gy
            for k in range(used):
                i = order[o + k]
                fx[i], fy[i] = bfx[k], bfy[k]


class _Parameters(NamedTuple):
    """The parameters of the kernel: 1 / tau, 1/s; A, m/s2; 1 / B, 1/m; the terms of the weight; for walls, A, m/s2, and 1 / B, 1/m;
    squared cutoff, m2.
    """

    relaxation: float
    strength: float
    inverse_length: float
    even: float
    odd: float
    wall: float
    inverse_wall: float
    cutoff2: float


@kernel
def _helbing(parameters, crowd, out_x, out_y, first, last):
    relaxation, wall, inverse_wall = parameters.relaxation, parameters.wall, parameters.inverse_wall
    law = (parameters.strength, parameters.inverse_length, parameters.even, parameters.odd, parameters.cutoff2)
    pedestrians, traits = crowd.pedestrians, crowd.traits
    maps, sees = crowd.maps, crowd.sees
    slots, others = pedestrians.x.shape[1], crowd.robots.x.shape[1]
    cut = law[4] < _FAR and slots > _MANY
    scratch = np.empty((5 + max(walls.ROWS, _TILE), max(slots, _BLOCK)), np.float32)
    discs = np.empty((5, slots + others), np.float32)
    numbers = np.empty((3 if cut else 1, slots + 1), np.int32)
    ex, ey, fx, fy, speed = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4]
    for w in range(first, last):
        count = traits.count[w]
        top = lanes(count)
        x, y, vx, vy, active = pedestrians.x[w], pedestrians.y[w], pedestrians.vx[w], pedestrians.vy[w], pedestrians.active[w]
        radius, ax, ay = traits.radius[w], out_x[w], out_y[w]
        write_directions(crowd, w, top, HALF * relaxation, ex, ey, speed)
        fx[:top], fy[:top] = ZERO, ZERO
        n = 0
        if cut and count > _MANY and sees & SEES_PEDESTRIANS:
            _near_pairs(x, y, radius, active, count, law, ex, ey, fx, fy, numbers[1], numbers[2], scratch[5:])
        else:
            n = append_people(crowd, w, discs, n)
        n = append_robots(crowd, w, discs, n)
        for j in range(n):
            xj, yj, rj = discs[X, j], discs[Y, j], discs[RADIUS, j]
            for i in range(top):
                gx, gy = _repulsion(x[i] - xj, y[i] - yj, radius[i] + rj, ex[i], ey[i], law)
                fx[i] += gx
                fy[i] += gy
        clearance, nx, ny = clearances(maps, maps.index[w], x, y, top, numbers[0], scratch[5:])
        for i in range(top):
            push = wall * exp((radius[i] - clearance[i]) * inverse_wall)
            ax[i] = (speed[i] * ex[i] - vx[i]) * relaxation + fx[i] + push * nx[i] if active[i] else ZERO
            ay[i] = (speed[i] * ey[i] - vy[i]) * relaxation + fy[i] + push * ny[i] if active[i] else ZERO
        ax[top:] = ZERO
        ay[top:] = ZERO


_TUNABLE: dict[str, Span] = {
    "relaxation_time": Span(0.2, 1.5, log=True),
    "repulsion": Span(0.3, 10.0, log=True),
    "length": Span(0.05, 0.6, log=True),
    "anisotropy": Span(0.0, 1.0),
    "wall_repulsion": Span(0.5, 20.0, log=True),
    "wall_length": Span(0.05, 0.5, log=True),
}


@dataclass(frozen=True)
class Helbing(Checked):
    """Pedestrians that relax towards their desired velocity, and are repelled by all other pedestrians and by the nearest wall.

    With a cutoff, worlds with more than 160 slots use a cell list; both methods use the same pairs, and the sums differ only by
    rounding. The neglected part beyond a cutoff c is at most ``repulsion * exp((r_ij - c) / length)`` per neighbour, and for a
    crowd of uniform density rho that fills one side at most ``2 rho A B (c + B) exp((r_ij - c) / B)``: by default, with radii of
    0.3 m, at 1 /m2 and c = 3 m, 0.0003 m/s2. A visible robot acts like a pedestrian with the robot's radius. Walls act through the
    clearance field (`agora.core.field`).

    Attributes:
        relaxation_time: relaxation time tau, s.
        repulsion: strength A of the repulsion, m/s2.
        length: range B of the repulsion, m.
        anisotropy: weight lambda of a neighbour directly behind; 1 makes the force isotropic.
        wall_repulsion: acceleration at contact with a wall, m/s2.
        wall_length: distance over which the wall's acceleration falls to 1/e, m.
        cutoff: distance between centres beyond which neighbours have no effect, m; 0 for no cutoff.
        max_speed_factor: speed cap, as a multiple of the preferred speed.
    """

    relaxation_time: Period = 0.5
    repulsion: NotNegative = 3.0
    length: Length = 0.25
    anisotropy: NotNegative = 0.6
    wall_repulsion: NotNegative = 5.0
    wall_length: Length = 0.2
    cutoff: Distance = 0.0
    max_speed_factor: Positive = 1.3

    @property
    def declares(self) -> CrowdDeclaration:
        """Return the properties of the model."""
        return CrowdDeclaration("acceleration", self.max_speed_factor, tunable=_TUNABLE)

    def kernel(self) -> Any:
        """Return the compiled function."""
        return _helbing

    def parameters(self) -> _Parameters:
        """Return the parameters of the kernel."""
        odd = (1.0 - self.anisotropy) / 2.0
        cutoff2 = self.cutoff**2 if self.cutoff else float(_FAR)
        wall = (self.wall_repulsion, 1.0 / self.wall_length)
        weight = (self.anisotropy + odd, odd)
        return in_float32(_Parameters(1.0 / self.relaxation_time, self.repulsion, 1.0 / self.length, *weight, *wall, cutoff2))
