"""A Levenberg-Marquardt solver for timed elastic bands, whose normal equations are banded.

The damping is that of g2o, which upstream uses (optimization_algorithm_levenberg.cpp; Madsen, Nielsen, Tingleff, "Methods for
non-linear least squares problems", 2004).
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import hidden, lean
from agora.core.scalar import ONE, TWO, ZERO, wrap
from agora.planners._bands.band import write_pose
from agora.planners._bands.costs import WIDTH, cost, linearise, measure

FIXED = 3
_FIRST_DAMPING, _SMALL = np.float32(1e-5), np.float32(1e-3)
_CONVERGED = np.float32(1e-5)
_THIRD, _HUGE = np.float32(1.0 / 3.0), np.float32(1e30)
_TRIALS = 10
_SHORTEST = np.float32(1e-3)


@lean
def solve(matrix, side, first, end, damping, factor, change, column):
    """Solve (matrix + damping I) change = side for unknowns ``first`` to ``end``; return whether the matrix is positive definite.

    Uses Cholesky decomposition of the lower band: ``matrix[r, width - k]`` is the entry in row r and column r - k. ``column`` is
    scratch for width + 1 numbers.
    """
    width = matrix.shape[1] - 1
    for r in range(first, end):
        for k in range(width):
            factor[r, k] = matrix[r, k]
        factor[r, width] = matrix[r, width] + damping
    for c in range(first, end):
        pivot = factor[c, width]
        if not pivot > ZERO:
            return False
        root = math.sqrt(pivot)
        factor[c, width] = root
        last = min(end - 1 - c, width)
        for k in range(1, last + 1):
            column[k] = factor[c + k, width - k] / root
            factor[c + k, width - k] = column[k]
        for k in range(1, last + 1):
            line, scale = factor[c + k], column[k]
            for j in range(1, k + 1):
                line[width - k + j] -= scale * column[j]
    for r in range(first, end):
        value = side[r]
        for k in range(1, min(r - first, width) + 1):
            value -= factor[r, width - k] * change[r - k]
        change[r] = value / factor[r, width]
    for r in range(end - 1, first - 1, -1):
        value = change[r]
        for k in range(1, min(end - 1 - r, width) + 1):
            value -= factor[r + k, width - k] * change[r + k]
        change[r] = value / factor[r, width]
    return True


@hidden
def _move_band(band, n, change, out):
    """Write the band with the change applied to its unknowns."""
    out[0, 0], out[0, 1], out[0, 2] = band[0, 0], band[0, 1], band[0, 2]
    write_pose(out, n - 1, band[n - 1])
    for i in range(n - 1):
        if i > 0:
            out[i, 0], out[i, 1] = band[i, 0] + change[4 * i], band[i, 1] + change[4 * i + 1]
            out[i, 2] = wrap(band[i, 2] + change[4 * i + 2])
        out[i, 3] = max(band[i, 3] + change[4 * i + 3], _SHORTEST)


@lean
def optimise(band, n, weights, bounds, shape, near, more, iterations, work):
    """Optimise a band in place using the Levenberg-Marquardt method; return its cost, in the same two parts as `cost`.

    Every iteration lowers the cost or is the last one; iteration stops when the expected gain is less than 1e-5 of the cost.
    """
    first, end = FIXED, 4 * (n - 1)
    measure(band, n, bounds, work)
    total, discs = cost(band, n, weights, bounds, shape, near, more, work)
    damping, growth = ZERO * total, TWO
    for iteration in range(iterations):
        linearise(band, n, weights, bounds, shape, near, more, work)
        if iteration == 0:
            for r in range(first, end):
                damping = max(damping, abs(work.matrix[r, WIDTH]))
            damping = _FIRST_DAMPING * damping
        better = False
        for _ in range(_TRIALS):
            gain, expected = -ONE * total, total + discs
            if solve(work.matrix, work.side, first, end, damping, work.factor, work.change, work.row):
                _move_band(band, n, work.change, work.trial)
                measure(work.trial, n, bounds, work)
                new_total, new_discs = cost(work.trial, n, weights, bounds, shape, near, more, work)
                expected = ZERO * total
                for r in range(first, end):
                    expected += work.change[r] * (damping * work.change[r] + work.side[r])
                gain = (total + discs - new_total - new_discs) / (expected + _SMALL)
            if gain > ZERO and gain < _HUGE:
                better = True
                for i in range(n):
                    write_pose(band, i, work.trial[i])
                total, discs = new_total, new_discs
                bend = TWO * gain - ONE
                damping *= max(_THIRD, min(ONE - bend * bend * bend, TWO * _THIRD))
                growth = TWO
                break
            if expected < _CONVERGED * (total + discs):
                break
            damping *= growth
            growth *= TWO
        if not better:
            measure(band, n, bounds, work)
            break
    return total, discs
