"""The interaction force measured by Moussaid et al., which Pedsim and PySocialForce use.

Moussaid, Helbing, Garnier, Johansson, Combe and Theraulaz, "Experimental study of the behavioural mechanisms underlying
self-organization in human crowds", Proc. R. Soc. B 276, 2009, eqs. 3 to 6; the exponents of n B theta are negative, as in the
paper.

With e the unit vector to the neighbour at distance d, D = lambda (v_i - v_j) + e, t = D / |D|, theta the angle from t to e and B =
gamma |D|, the force is -exp(-d / B - (n' B theta)^2) t - sign(theta) exp(-d / B - (n B theta)^2) n, where n is t rotated by 90
degrees to the left.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import inlined, part
from agora.core.scalar import ONE, ZERO, atan2, exp
from agora.pedestrians.shared.neighbours import VX, VY, X, Y

_TINY = np.float32(1e-12)
_STRAIGHT = np.float32(1e-5)


@inlined
def interaction(dx, dy, dvx, dvy, law):
    """Return the force on a pedestrian from a neighbour at (dx, dy) relative to the pedestrian; (dvx, dvy) is the pedestrian's
    velocity relative to the neighbour's.

    ``law`` is (lambda, gamma, n, n', squared cutoff). theta is in (-pi, pi]. If the neighbour is straight ahead or behind, within
    1e-5 rad, the sideways part is 0, because its sign would depend on rounding errors. At distance 0 without relative velocity, the
    force is 0.
    """
    importance, gamma, n, n_prime, cutoff2 = law
    d2 = dx * dx + dy * dy
    d = math.sqrt(d2)
    inverse = ONE / (d + _TINY)
    ex, ey = dx * inverse, dy * inverse
    # D, of which t is the direction
    tx, ty = importance * dvx + ex, importance * dvy + ey
    size = math.sqrt(tx * tx + ty * ty + _TINY)
    inverse = ONE / size
    tx, ty = tx * inverse, ty * inverse
    # The cross product of t and e. The part of e in t is left out, because its product with e is 0 up to rounding.
    cross = importance * inverse * (dvx * ey - dvy * ex)
    b = gamma * size
    bend = b * atan2(cross, tx * ex + ty * ey)
    decay = d / b
    along = n_prime * bend
    across = n * bend
    # f slows down along t; g turns away from the side on which the neighbour is.
    f = exp(-decay - along * along)
    g = exp(-decay - across * across)
    g = g if cross > ZERO else -g
    g = g if abs(cross) > _STRAIGHT else ZERO
    fx, fy = g * ty - f * tx, -g * tx - f * ty
    return (fx if d2 < cutoff2 else ZERO), (fy if d2 < cutoff2 else ZERO)


@part
def add_interactions(discs, n, x, y, vx, vy, count, law, fx, fy):
    """Add the forces of ``n`` discs (`agora.pedestrians.shared.neighbours`) on the first ``count`` pedestrians of a world."""
    for j in range(n):
        xj, yj, vxj, vyj = discs[X, j], discs[Y, j], discs[VX, j], discs[VY, j]
        for i in range(count):
            gx, gy = interaction(xj - x[i], yj - y[i], vx[i] - vxj, vy[i] - vyj, law)
            fx[i] += gx
            fy[i] += gy
