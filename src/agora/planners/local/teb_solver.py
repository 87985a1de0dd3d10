"""Timed elastic bands are optimised by Levenberg-Marquardt; the normal equations are banded.

A band of n poses is an array (n, 4) of x, y, heading and the time to the next pose. The first pose and the last are fixed; what is
sought are the other poses and all times, in the order of the array. A residual knows at most three poses in a row, so that the
normal matrix has ten diagonals beside its own.

The damping is that of g2o, which upstream uses (optimization_algorithm_levenberg.cpp; Madsen, Nielsen, Tingleff, "Methods for
non-linear least squares problems", 2004).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.jit import hidden, lean
from agora.core.scalar import HALF, ONE, TWO, ZERO, sincos, wrap
from agora.core.state import Floats, Ints
from agora.planners.local import teb_edges as edges
from agora.planners.local.teb_band import put

WIDTH = 10
FIXED = 3
_FIRST_DAMPING, _SMALL = np.float32(1e-5), np.float32(1e-3)
_CONVERGED = np.float32(1e-5)
_THIRD, _HUGE = np.float32(1.0 / 3.0), np.float32(1e30)
_TRIALS = 10
_SHORTEST = np.float32(1e-3)
_TURNING = 3
_ONLY = np.float32(1000.0)


class TebWeights(NamedTuple):
    """Weights of the residuals, and the thresholds that belong to them; the fields of `Teb` of these names."""

    max_vel_x: np.float32
    max_vel_theta: np.float32
    acc_lim_x: np.float32
    acc_lim_theta: np.float32
    kinematics_nh: np.float32
    kinematics_forward_drive: np.float32
    kinematics_turning_radius: np.float32
    optimaltime: np.float32
    shortest_path: np.float32
    obstacle: np.float32
    inflation: np.float32
    dynamic_obstacle: np.float32
    dynamic_obstacle_inflation: np.float32
    prefer_rotdir: np.float32
    epsilon: np.float32
    min_obstacle_dist: np.float32
    inflation_dist: np.float32
    dynamic_obstacle_inflation_dist: np.float32


class Bounds(NamedTuple):
    """The limits and the motion of a robot: m/s, rad/s, m/s2, rad/s2, m; ``turn`` is 1 or -1 for a preferred direction, else 0.

    ``hurry`` multiplies the weight on time.
    """

    forward: np.float32
    backward: np.float32
    omega: np.float32
    acceleration: np.float32
    alpha: np.float32
    turning_radius: np.float32
    now: np.float32
    now_omega: np.float32
    turn: np.float32
    hurry: np.float32


class Near(NamedTuple):
    """Discs near the poses of a band: (E, 3) x, y and radius; those of pose i are numbers begin[i] to begin[i + 1]."""

    still: Floats
    still_begin: Ints
    moving: Floats
    moving_begin: Ints


class SolverMemory(NamedTuple):
    """Working memory of the solver, for bands of at most M poses.

    Attributes:
        trig: (M, 2) cosine and sine of the headings.
        steps: (M, 7) speed, its four derivatives, turn and turning rate of each step.
        matrix: (4 M, 11) lower band of the normal matrix.
        factor: (4 M, 11) lower band of its factor.
        side: (4 M,) right-hand side.
        change: (4 M,) change of the band.
        row: (11,) derivatives of a residual.
        trial: (M, 4) band on trial.
    """

    trig: Floats
    steps: Floats
    matrix: Floats
    factor: Floats
    side: Floats
    change: Floats
    row: Floats
    trial: Floats


@lean
def measure(band, n, work):
    """Write cosines, sines and steps of a band."""
    for i in range(n):
        sine, cosine = sincos(band[i, 2])
        work.trig[i, 0], work.trig[i, 1] = cosine, sine
    for i in range(n - 1):
        dx, dy, dt = band[i + 1, 0] - band[i, 0], band[i + 1, 1] - band[i, 1], band[i, 3]
        value, by_x, by_y, by_heading, by_dt = edges.speed(dx, dy, work.trig[i, 0], work.trig[i, 1], dt)
        turn = wrap(band[i + 1, 2] - band[i, 2])
        step = work.steps[i]
        step[0], step[1], step[2], step[3], step[4], step[5], step[6] = value, by_x, by_y, by_heading, by_dt, turn, turn / dt


@hidden
def _soft(epsilon, limit):
    """The margin to a limit: epsilon, but never more than half the limit."""
    return min(epsilon, HALF * limit)


@hidden
def _forward(weights, bounds):
    """The weight on driving forwards: one that cannot drive backwards is never to."""
    only = weights.kinematics_forward_drive if bounds.backward > ZERO else _ONLY
    return max(weights.kinematics_forward_drive, only)


@lean
def cost(band, n, weights, bounds, near, more, work):
    """Sum of all weighted squares but the obstacles', and that of the obstacles; ``more`` multiplies the weight of still ones.

    Reads what `measure` wrote.
    """
    w, b = weights, bounds
    total, discs = ZERO * band[0, 0], ZERO * band[0, 0]
    at_forward, at_omega = _soft(w.epsilon, b.forward), _soft(w.epsilon, b.omega)
    at_backward = _soft(w.epsilon, b.backward)
    before, before_omega = b.now, b.now_omega
    for i in range(n):
        dt = band[i, 3]
        if i < n - 1:
            value, turn, omega = work.steps[i, 0], work.steps[i, 5], work.steps[i, 6]
            e, _ = edges.inside(value, at_backward - b.backward, b.forward - at_forward, ZERO)
            f, _ = edges.inside(omega, -b.omega, b.omega, at_omega)
            total += w.max_vel_x * e * e + w.max_vel_theta * f * f + b.hurry * w.optimaltime * dt * dt
            dx, dy = band[i + 1, 0] - band[i, 0], band[i + 1, 1] - band[i, 1]
            long, _, _ = edges.length(dx, dy)
            total += w.shortest_path * long * long
            e, _, _, _, _ = edges.sideways(dx, dy, work.trig[i, 0], work.trig[i, 1], work.trig[i + 1, 0], work.trig[i + 1, 1])
            total += w.kinematics_nh * e * e
            if b.turning_radius > ZERO:
                if turn != ZERO:
                    e, _ = edges.above(edges.radius(dx, dy, turn)[0], b.turning_radius)
                    total += w.kinematics_turning_radius * e * e
            else:
                e, _ = edges.above(edges.ahead(dx, dy, work.trig[i, 0], work.trig[i, 1])[0], ZERO)
                total += _forward(w, b) * e * e
            if i < _TURNING and b.turn != ZERO:
                e, _ = edges.above(b.turn * turn, ZERO)
                total += w.prefer_rotdir * e * e
        else:
            value, omega = ZERO * before, ZERO * before
        if i == 0:
            linear, angular = edges.start(before, value, dt)[0], edges.start(before_omega, omega, dt)[0]
        elif i == n - 1:
            linear, angular = edges.start(before, value, band[i - 1, 3])[0], edges.start(before_omega, omega, band[i - 1, 3])[0]
        else:
            linear = edges.acceleration(before, value, band[i - 1, 3], dt)[0]
            angular = edges.acceleration(before_omega, omega, band[i - 1, 3], dt)[0]
        e, _ = edges.inside(linear, -b.acceleration, b.acceleration, _soft(w.epsilon, b.acceleration))
        f, _ = edges.inside(angular, -b.alpha, b.alpha, _soft(w.epsilon, b.alpha))
        total += w.acc_lim_x * e * e + w.acc_lim_theta * f * f
        before, before_omega = value, omega
    for i in range(1, n - 1):
        x, y = band[i, 0], band[i, 1]
        for k in range(near.still_begin[i], near.still_begin[i + 1]):
            far, _, _ = edges.gap(x, y, near.still[k, 0], near.still[k, 1], near.still[k, 2])
            e, _ = edges.above(far, w.min_obstacle_dist + w.epsilon)
            f, _ = edges.above(far, w.inflation_dist)
            discs += more * w.obstacle * e * e + w.inflation * f * f
        for k in range(near.moving_begin[i], near.moving_begin[i + 1]):
            far, _, _ = edges.gap(x, y, near.moving[k, 0], near.moving[k, 1], near.moving[k, 2])
            e, _ = edges.above(far, w.min_obstacle_dist + w.epsilon)
            f, _ = edges.above(far, w.dynamic_obstacle_inflation_dist)
            discs += w.dynamic_obstacle * e * e + w.dynamic_obstacle_inflation * f * f
    return total, discs


@hidden
def _add(matrix, side, base, row, size, weight, error):
    """Add one residual, whose derivatives by the unknowns from ``base`` on are ``row``, to the normal equations."""
    for a in range(size):
        scaled = weight * row[a]
        if scaled != ZERO:
            side[base + a] -= scaled * error
            line = matrix[base + a]
            for k in range(a + 1):
                line[WIDTH - a + k] += scaled * row[k]


@hidden
def _step_row(row, at, step, scale):
    """Add ``scale`` times the derivatives of a step's speed; ``at`` is where the first of its two poses is in the row."""
    row[at] -= scale * step[1]
    row[at + 1] -= scale * step[2]
    row[at + 2] += scale * step[3]
    row[at + 3] += scale * step[4]
    row[at + 4] += scale * step[1]
    row[at + 5] += scale * step[2]


@hidden
def _turn_row(row, at, step, dt, scale):
    """Add ``scale`` times the derivatives of a step's turning rate."""
    row[at + 2] -= scale / dt
    row[at + 3] -= scale * step[6] / dt
    row[at + 6] += scale / dt


@hidden
def _add_acceleration(band, i, n, weights, bounds, work):
    """Residuals of the accelerations at pose ``i``: between the steps before and after it, or from and to the given speeds."""
    w, b, m, row = weights, bounds, work.matrix, work.row
    first = i == 0 or i == n - 1
    base = 4 * max(i - 1, 0)
    step, after = work.steps[max(i - 1, 0)], work.steps[min(i, n - 2)]
    dt, next_dt = band[max(i - 1, 0), 3], band[min(i, n - 2), 3]
    for angular in range(2):
        k = 6 if angular else 0
        limit = b.alpha if angular else b.acceleration
        weight = w.acc_lim_theta if angular else w.acc_lim_x
        if first:
            given = b.now_omega if angular else b.now
            before, value = (given, after[k]) if i == 0 else (step[k], ZERO * step[k])
            rate, by_before, by_value, by_dt = edges.start(before, value, dt)
        else:
            rate, by_before, by_value, by_dt = edges.acceleration(step[k], after[k], dt, next_dt)
        e, slope = edges.inside(rate, -limit, limit, _soft(w.epsilon, limit))
        if slope == ZERO:
            continue
        row[:] = ZERO
        if i > 0:
            if angular:
                _turn_row(row, 0, step, dt, slope * by_before)
            else:
                _step_row(row, 0, step, slope * by_before)
        if i < n - 1:
            at = 4 if i > 0 else 0
            if angular:
                _turn_row(row, at, after, next_dt, slope * by_value)
            else:
                _step_row(row, at, after, slope * by_value)
        row[3] += slope * by_dt
        if not first:
            row[7] += slope * by_dt
        _add(m, work.side, base, row, 7 if first else WIDTH + 1, weight, e)


@hidden
def _add_step(band, i, weights, bounds, work):
    """Residuals of the step from pose ``i`` to the next: speeds, time, length, kinematics, preferred turn."""
    w, b, m, side, row, step = weights, bounds, work.matrix, work.side, work.row, work.steps[i]
    base, dt, turn = 4 * i, band[i, 3], step[5]
    dx, dy = band[i + 1, 0] - band[i, 0], band[i + 1, 1] - band[i, 1]
    cosine, sine, next_cosine, next_sine = work.trig[i, 0], work.trig[i, 1], work.trig[i + 1, 0], work.trig[i + 1, 1]
    e, slope = edges.inside(step[0], _soft(w.epsilon, b.backward) - b.backward, b.forward - _soft(w.epsilon, b.forward), ZERO)
    if slope != ZERO:
        row[:] = ZERO
        _step_row(row, 0, step, slope)
        _add(m, side, base, row, 6, w.max_vel_x, e)
    e, slope = edges.inside(step[6], -b.omega, b.omega, _soft(w.epsilon, b.omega))
    if slope != ZERO:
        row[:] = ZERO
        _turn_row(row, 0, step, dt, slope)
        _add(m, side, base, row, 7, w.max_vel_theta, e)
    m[base + 3, WIDTH] += b.hurry * w.optimaltime
    side[base + 3] -= b.hurry * w.optimaltime * dt
    e, by_x, by_y, by_first, by_second = edges.sideways(dx, dy, cosine, sine, next_cosine, next_sine)
    row[0], row[1], row[2], row[3], row[4], row[5], row[6] = -by_x, -by_y, by_first, ZERO, by_x, by_y, by_second
    _add(m, side, base, row, 7, w.kinematics_nh, e)
    if w.shortest_path > ZERO:
        e, by_x, by_y = edges.length(dx, dy)
        row[0], row[1], row[2], row[3], row[4], row[5] = -by_x, -by_y, ZERO, ZERO, by_x, by_y
        _add(m, side, base, row, 6, w.shortest_path, e)
    if b.turning_radius > ZERO:
        if turn != ZERO:
            value, by_x, by_y, by_turn = edges.radius(dx, dy, turn)
            e, slope = edges.above(value, b.turning_radius)
            if slope != ZERO:
                row[0], row[1], row[2], row[3] = -slope * by_x, -slope * by_y, -slope * by_turn, ZERO
                row[4], row[5], row[6] = slope * by_x, slope * by_y, slope * by_turn
                _add(m, side, base, row, 7, w.kinematics_turning_radius, e)
    else:
        value, by_x, by_y, by_first = edges.ahead(dx, dy, cosine, sine)
        e, slope = edges.above(value, ZERO)
        if slope != ZERO:
            row[0], row[1], row[2], row[3] = -slope * by_x, -slope * by_y, slope * by_first, ZERO
            row[4], row[5] = slope * by_x, slope * by_y
            _add(m, side, base, row, 6, _forward(w, b), e)
    if i < _TURNING and b.turn != ZERO:
        e, slope = edges.above(b.turn * turn, ZERO)
        if slope != ZERO:
            row[:] = ZERO
            row[2], row[6] = -slope * b.turn, slope * b.turn
            _add(m, side, base, row, 7, w.prefer_rotdir, e)


@hidden
def _add_disc(band, i, disc, weight, inflation_weight, least, inflated, work):
    """Residuals of one disc near pose ``i``: both have the same derivatives."""
    far, by_x, by_y = edges.gap(band[i, 0], band[i, 1], disc[0], disc[1], disc[2])
    e, slope = edges.above(far, least)
    f, other = edges.above(far, inflated)
    stiff = weight * slope * slope + inflation_weight * other * other
    if stiff != ZERO:
        pull = weight * slope * e + inflation_weight * other * f
        base, m = 4 * i, work.matrix
        m[base, WIDTH] += stiff * by_x * by_x
        m[base + 1, WIDTH] += stiff * by_y * by_y
        m[base + 1, WIDTH - 1] += stiff * by_x * by_y
        work.side[base] -= pull * by_x
        work.side[base + 1] -= pull * by_y


@lean
def linearise(band, n, weights, bounds, near, more, work):
    """Write the normal equations of a band that has been measured."""
    w = weights
    work.matrix[: 4 * n] = ZERO
    work.side[: 4 * n] = ZERO
    for i in range(n - 1):
        _add_step(band, i, w, bounds, work)
    for i in range(n):
        _add_acceleration(band, i, n, w, bounds, work)
    least = w.min_obstacle_dist + w.epsilon
    for i in range(1, n - 1):
        for k in range(near.still_begin[i], near.still_begin[i + 1]):
            _add_disc(band, i, near.still[k], more * w.obstacle, w.inflation, least, w.inflation_dist, work)
        for k in range(near.moving_begin[i], near.moving_begin[i + 1]):
            inflated, weight = w.dynamic_obstacle_inflation_dist, w.dynamic_obstacle_inflation
            _add_disc(band, i, near.moving[k], w.dynamic_obstacle, weight, least, inflated, work)


@lean
def solve(matrix, side, first, end, damping, factor, change, column):
    """Solve (matrix + damping I) change = side for unknowns ``first`` to ``end``; return whether the matrix is positive definite.

    Cholesky on the lower band: ``matrix[r, WIDTH - k]`` is the entry of row r and column r - k. ``column`` is room for 11 numbers.
    """
    for r in range(first, end):
        for k in range(WIDTH):
            factor[r, k] = matrix[r, k]
        factor[r, WIDTH] = matrix[r, WIDTH] + damping
    for c in range(first, end):
        pivot = factor[c, WIDTH]
        if not pivot > ZERO:
            return False
        root = math.sqrt(pivot)
        factor[c, WIDTH] = root
        last = min(end - 1 - c, WIDTH)
        for k in range(1, last + 1):
            column[k] = factor[c + k, WIDTH - k] / root
            factor[c + k, WIDTH - k] = column[k]
        for k in range(1, last + 1):
            line, scale = factor[c + k], column[k]
            for j in range(1, k + 1):
                line[WIDTH - k + j] -= scale * column[j]
    for r in range(first, end):
        value = side[r]
        for k in range(1, min(r - first, WIDTH) + 1):
            value -= factor[r, WIDTH - k] * change[r - k]
        change[r] = value / factor[r, WIDTH]
    for r in range(end - 1, first - 1, -1):
        value = change[r]
        for k in range(1, min(end - 1 - r, WIDTH) + 1):
            value -= factor[r + k, WIDTH - k] * change[r + k]
        change[r] = value / factor[r, WIDTH]
    return True


@hidden
def _moved(band, n, change, out):
    """Write the band with the unknowns changed."""
    out[0, 0], out[0, 1], out[0, 2] = band[0, 0], band[0, 1], band[0, 2]
    put(out, n - 1, band[n - 1])
    for i in range(n - 1):
        if i > 0:
            out[i, 0], out[i, 1] = band[i, 0] + change[4 * i], band[i, 1] + change[4 * i + 1]
            out[i, 2] = wrap(band[i, 2] + change[4 * i + 2])
        out[i, 3] = max(band[i, 3] + change[4 * i + 3], _SHORTEST)


@lean
def optimise(band, n, weights, bounds, near, more, iterations, work):
    """Change a band in place by Levenberg-Marquardt; return its cost, in the two parts of `cost`.

    Every iteration lowers the cost, or is the last; none is tried where less than 1e-5 of the cost is to be won.
    """
    first, end = FIXED, 4 * (n - 1)
    measure(band, n, work)
    total, discs = cost(band, n, weights, bounds, near, more, work)
    damping, growth = ZERO * total, TWO
    for iteration in range(iterations):
        linearise(band, n, weights, bounds, near, more, work)
        if iteration == 0:
            for r in range(first, end):
                damping = max(damping, abs(work.matrix[r, WIDTH]))
            damping = _FIRST_DAMPING * damping
        better = False
        for _ in range(_TRIALS):
            gain, expected = -ONE * total, total + discs
            if solve(work.matrix, work.side, first, end, damping, work.factor, work.change, work.row):
                _moved(band, n, work.change, work.trial)
                measure(work.trial, n, work)
                new_total, new_discs = cost(work.trial, n, weights, bounds, near, more, work)
                expected = ZERO * total
                for r in range(first, end):
                    expected += work.change[r] * (damping * work.change[r] + work.side[r])
                gain = (total + discs - new_total - new_discs) / (expected + _SMALL)
            if gain > ZERO and gain < _HUGE:
                better = True
                for i in range(n):
                    put(band, i, work.trial[i])
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
            measure(band, n, work)
            break
    return total, discs
