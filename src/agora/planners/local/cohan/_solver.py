"""The joint Levenberg-Marquardt solver for the bands of a robot and of people, with damping as in
`agora.planners._bands.solver`.
"""

from __future__ import annotations

import numpy as np

from agora.core.jit import hidden, lean
from agora.core.scalar import ONE, TWO, ZERO, wrap
from agora.planners._bands.band import write_pose
from agora.planners._bands.solver import solve
from agora.planners.local.cohan._costs import cost_of, measure_bands, unknown_number, write_normal_equations

_FIRST_DAMPING, _SMALL = np.float32(1e-5), np.float32(1e-3)
_CONVERGED = np.float32(1e-5)
_THIRD, _HUGE = np.float32(1.0 / 3.0), np.float32(1e30)
_TRIALS = 10
_SHORTEST = np.float32(1e-3)


@hidden
def _move_bands(crowd, many):
    """Write the trial bands, which are the current bands after the change of the unknowns."""
    for b in range(many):
        for i in range(crowd.counts[b]):
            write_pose(crowd.trial[b], i, crowd.bands[b, i])
            for k in range(4):
                at = unknown_number(crowd, many, b, i, k)
                if at >= 0:
                    crowd.trial[b, i, k] += crowd.change[at]
            crowd.trial[b, i, 2] = wrap(crowd.trial[b, i, 2])
            if i < crowd.counts[b] - 1:
                crowd.trial[b, i, 3] = max(crowd.trial[b, i, 3], _SHORTEST)


@lean
def optimise_all(crowd, many, weights, bounds, shape, nears, more, s, near, iterations):
    """Optimise ``many`` bands in place; return their cost.

    Every iteration except possibly the last lowers the cost. The iteration stops when the expected gain is less than 1e-5 of the
    cost.

    Args:
        crowd: `agora.planners.local.cohan._costs.Crowd`.
        many: number of bands, including the robot's band, which is the first.
        weights: three `agora.planners._bands.costs.TebWeights`, for the robot and for people.
        bounds: three `agora.planners._bands.costs.Bounds`.
        shape: three `agora.planners._bands.shape.Shape`.
        nears: three `agora.planners._bands.costs.Near`.
        more: factor applied to the weight of stationary obstacles.
        s: `agora.planners.local.cohan._costs.Social`.
        near: whether a person is close enough for the safety cost.
        iterations: maximum number of iterations.
    """
    width = 8 * many + 2
    joint, factor = crowd.joint[:, : width + 1], crowd.factor[:, : width + 1]
    measure_bands(crowd, crowd.bands, many, bounds)
    total = cost_of(crowd, crowd.bands, many, weights, bounds, shape, nears, more, s, near)
    damping, growth = ZERO * total, TWO
    for iteration in range(iterations):
        size = write_normal_equations(crowd, many, weights, bounds, shape, nears, more, s, near)
        if iteration == 0:
            for r in range(size):
                damping = max(damping, abs(joint[r, width]))
            damping = _FIRST_DAMPING * damping
        better = False
        for _ in range(_TRIALS):
            gain, expected, found = -ONE * total, total, total
            if solve(joint, crowd.right, 0, size, damping, factor, crowd.change, crowd.row):
                _move_bands(crowd, many)
                measure_bands(crowd, crowd.trial, many, bounds)
                found = cost_of(crowd, crowd.trial, many, weights, bounds, shape, nears, more, s, near)
                expected = ZERO * total
                for r in range(size):
                    expected += crowd.change[r] * (damping * crowd.change[r] + crowd.right[r])
                gain = (total - found) / (expected + _SMALL)
            if gain > ZERO and gain < _HUGE:
                better, total = True, found
                for b in range(many):
                    for i in range(crowd.counts[b]):
                        write_pose(crowd.bands[b], i, crowd.trial[b, i])
                bend = TWO * gain - ONE
                damping *= max(_THIRD, min(ONE - bend * bend * bend, TWO * _THIRD))
                growth = TWO
                break
            if expected < _CONVERGED * total:
                break
            damping *= growth
            growth *= TWO
        if not better:
            measure_bands(crowd, crowd.bands, many, bounds)
            break
    return total
