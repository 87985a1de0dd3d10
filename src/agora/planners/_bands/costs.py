"""The costs of a timed elastic band: the weighted squares of its residuals, and the normal equations.

Rösmann, Feiten, Wösch, Hoffmann, Bertram, "Trajectory modification considering dynamic constraints of autonomous robots", ROBOTIK
2012; based on teb_local_planner (melodic-devel b68c328, optimal_planner.cpp, edge_*.h). A band of n poses is an array (n, 4) of x,
y, heading and the time to the next pose. The first and the last pose are fixed; the unknowns are the other poses and all times, in
the order of the array. A residual depends on at most three consecutive poses, so the normal matrix has ten diagonals in addition to
the main one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agora.core.jit import hidden, lean
from agora.core.scalar import HALF, ZERO, sincos, wrap
from agora.core.state import Floats, Ints
from agora.planners._bands import edges
from agora.planners._bands import shape as shapes

WIDTH = 10
STEP = 12
_TURNING = 3
_SPEED, _TURN, _OMEGA, _SIDEWAYS = 0, 5, 6, 7


class TebWeights(NamedTuple):
    """Weights of the residuals, and the related thresholds: the fields of `Teb` with these names."""

    max_vel_x: np.float32
    max_vel_y: np.float32
    max_vel_theta: np.float32
    acc_lim_x: np.float32
    acc_lim_y: np.float32
    acc_lim_theta: np.float32
    kinematics_nh: np.float32
    kinematics_forward_drive: np.float32
    kinematics_turning_radius: np.float32
    optimaltime: np.float32
    shortest_path: np.float32
    viapoint: np.float32
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
    """The limits and the motion of a robot, in m/s, rad/s, m/s2, rad/s2 and m; ``turn`` is 1 or -1 for a preferred turning
    direction, otherwise 0.

    For a robot that cannot move sideways, the sideways limits are 0. ``free`` is 1 if the speed at the end is free, otherwise 0.
    """

    forward: np.float32
    backward: np.float32
    sideways: np.float32
    omega: np.float32
    acceleration: np.float32
    acceleration_y: np.float32
    alpha: np.float32
    turning_radius: np.float32
    now: np.float32
    now_sideways: np.float32
    now_omega: np.float32
    turn: np.float32
    free: np.float32


class Near(NamedTuple):
    """The obstacles and path points that belong to the poses of a band: discs (x, y, radius), and path points (V, 2).

    Standing discs (E, 4) have the desired distance as their last value; moving discs are (E, 3). The discs of pose i have the
    indices begin[i] to begin[i + 1] - 1. Each path point belongs to one pose; the list ends with pose -1.
    """

    still: Floats
    still_begin: Ints
    moving: Floats
    moving_begin: Ints
    via: Floats
    via_pose: Ints


class SolverMemory(NamedTuple):
    """Working memory of the solver, for bands of at most M poses.

    Attributes:
        trig: (M, 2) cosine and sine of the headings.
        steps: (M, 12) for each step, the speed and its four derivatives, the turn and the turning rate, and the sideways speed and
            its derivatives.
        matrix: (4 M, 11) lower band of the normal matrix.
        factor: (4 M, 11) lower band of its Cholesky factor.
        side: (4 M,) right-hand side.
        change: (4 M,) change of the band.
        row: (11,) derivatives of a residual.
        trial: (M, 4) trial band.
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
def measure(band, n, bounds, work):
    """Compute the cosines, sines and steps of a band.

    For a robot that can move sideways, the speed is measured along its heading; for other robots, it is measured along their path.
    """
    for i in range(n):
        sine, cosine = sincos(band[i, 2])
        work.trig[i, 0], work.trig[i, 1] = cosine, sine
    for i in range(n - 1):
        dx, dy, dt = band[i + 1, 0] - band[i, 0], band[i + 1, 1] - band[i, 1], band[i, 3]
        cosine, sine, step = work.trig[i, 0], work.trig[i, 1], work.steps[i]
        if bounds.sideways > ZERO:
            step[0], step[1], step[2], step[3], step[4] = edges.component(dx, dy, cosine, sine, dt)
            step[7], step[8], step[9], step[10], step[11] = edges.component(dx, dy, -sine, cosine, dt)
        else:
            step[0], step[1], step[2], step[3], step[4] = edges.speed(dx, dy, cosine, sine, dt)
        turn = wrap(band[i + 1, 2] - band[i, 2])
        step[5], step[6] = turn, turn / dt


@hidden
def _soft_margin(epsilon, limit):
    """Return the margin to a limit: ``epsilon``, but at most half the limit."""
    return min(epsilon, HALF * limit)


@lean
def cost(band, n, weights, bounds, shape, near, more, work):
    """Return the sum of all weighted squares except the obstacles' squares, and the sum of the obstacles' squares; ``more`` scales
    the squares of standing obstacles.

    Uses the arrays that `measure` has written.
    """
    w, b = weights, bounds
    total, discs = ZERO * band[0, 0], ZERO * band[0, 0]
    at_forward, at_omega = _soft_margin(w.epsilon, b.forward), _soft_margin(w.epsilon, b.omega)
    at_backward = _soft_margin(w.epsilon, b.backward)
    before, before_omega, before_sideways = b.now, b.now_omega, b.now_sideways
    for i in range(n - 1 if b.free > ZERO else n):
        dt = band[i, 3]
        if i < n - 1:
            value, turn, omega = work.steps[i, _SPEED], work.steps[i, _TURN], work.steps[i, _OMEGA]
            e, _ = edges.range_violation(value, at_backward - b.backward, b.forward - at_forward, ZERO)
            f, _ = edges.range_violation(omega, -b.omega, b.omega, at_omega)
            total += w.max_vel_x * e * e + w.max_vel_theta * f * f + w.optimaltime * dt * dt
            if b.sideways > ZERO:
                e, _ = edges.range_violation(work.steps[i, _SIDEWAYS], -b.sideways, b.sideways, ZERO)
                total += w.max_vel_y * e * e
            dx, dy = band[i + 1, 0] - band[i, 0], band[i + 1, 1] - band[i, 1]
            long, _, _ = edges.length(dx, dy)
            total += w.shortest_path * long * long
            e, _, _, _, _ = edges.arc_deviation(dx, dy, work.trig[i, 0], work.trig[i, 1], work.trig[i + 1, 0], work.trig[i + 1, 1])
            total += w.kinematics_nh * e * e
            if b.turning_radius > ZERO:
                if turn != ZERO:
                    e, _ = edges.shortfall(edges.radius(dx, dy, turn)[0], b.turning_radius)
                    total += w.kinematics_turning_radius * e * e
            else:
                e, _ = edges.shortfall(edges.forward_step(dx, dy, work.trig[i, 0], work.trig[i, 1])[0], ZERO)
                total += w.kinematics_forward_drive * e * e
            if i < _TURNING and b.turn != ZERO:
                e, _ = edges.shortfall(b.turn * turn, ZERO)
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
        e, _ = edges.range_violation(linear, -b.acceleration, b.acceleration, _soft_margin(w.epsilon, b.acceleration))
        f, _ = edges.range_violation(angular, -b.alpha, b.alpha, _soft_margin(w.epsilon, b.alpha))
        total += w.acc_lim_x * e * e + w.acc_lim_theta * f * f
        before, before_omega = value, omega
        if b.sideways > ZERO:
            value = work.steps[i, _SIDEWAYS] if i < n - 1 else ZERO * value
            time = dt if i == 0 else band[i - 1, 3] if i == n - 1 else HALF * (band[i - 1, 3] + dt)
            linear = edges.start(before_sideways, value, time)[0]
            e, _ = edges.range_violation(linear, -b.acceleration_y, b.acceleration_y, _soft_margin(w.epsilon, b.acceleration_y))
            total += w.acc_lim_y * e * e
            before_sideways = value
    for k in range(near.via_pose.size):
        i = near.via_pose[k]
        if i < 0:
            break
        e, _, _ = edges.length(band[i, 0] - near.via[k, 0], band[i, 1] - near.via[k, 1])
        total += w.viapoint * e * e
    for i in range(1, n - 1):
        x, y, cosine, sine = band[i, 0], band[i, 1], work.trig[i, 0], work.trig[i, 1]
        for k in range(near.still_begin[i], near.still_begin[i + 1]):
            disc = near.still[k]
            far, _, _, _ = shapes.gap(shape, x, y, cosine, sine, disc[0], disc[1], disc[2])
            e, _ = edges.shortfall(far, disc[3])
            f, _ = edges.shortfall(far, w.inflation_dist)
            discs += more * w.obstacle * e * e + w.inflation * f * f
        for k in range(near.moving_begin[i], near.moving_begin[i + 1]):
            disc = near.moving[k]
            far, _, _, _ = shapes.gap(shape, x, y, cosine, sine, disc[0], disc[1], disc[2])
            e, _ = edges.shortfall(far, w.min_obstacle_dist + w.epsilon)
            f, _ = edges.shortfall(far, w.dynamic_obstacle_inflation_dist)
            discs += w.dynamic_obstacle * e * e + w.dynamic_obstacle_inflation * f * f
    return total, discs


@hidden
def _add(matrix, side, base, row, size, weight, error):
    """Add one residual to the normal equations; ``row`` holds its derivatives with respect to the unknowns from ``base`` on."""
    for a in range(size):
        scaled = weight * row[a]
        if scaled != ZERO:
            side[base + a] -= scaled * error
            line = matrix[base + a]
            for k in range(a + 1):
                line[WIDTH - a + k] += scaled * row[k]


@hidden
def _step_row(row, at, step, k, scale):
    """Add ``scale`` times the derivatives of the speed in step ``k``; the first of the step's two poses is at index ``at`` in the
    row.
    """
    row[at] -= scale * step[k + 1]
    row[at + 1] -= scale * step[k + 2]
    row[at + 2] += scale * step[k + 3]
    row[at + 3] += scale * step[k + 4]
    row[at + 4] += scale * step[k + 1]
    row[at + 5] += scale * step[k + 2]


@hidden
def _turn_row(row, at, step, dt, scale):
    """Add ``scale`` times the derivatives of a step's turning rate."""
    row[at + 2] -= scale / dt
    row[at + 3] -= scale * step[_OMEGA] / dt
    row[at + 6] += scale / dt


@hidden
def _add_acceleration(band, i, n, weights, bounds, work):
    """Add the residuals of the accelerations at pose ``i``: between adjacent steps, from the given start speed, or to the given end
    speed.
    """
    w, b, m, row = weights, bounds, work.matrix, work.row
    first = i == 0 or i == n - 1
    base = 4 * max(i - 1, 0)
    step, after = work.steps[max(i - 1, 0)], work.steps[min(i, n - 2)]
    dt, next_dt = band[max(i - 1, 0), 3], band[min(i, n - 2), 3]
    for axis in range(3 if b.sideways > ZERO else 2):
        k, now, limit, weight = _SPEED, b.now, b.acceleration, w.acc_lim_x
        if axis == 1:
            k, now, limit, weight = _OMEGA, b.now_omega, b.alpha, w.acc_lim_theta
        elif axis == 2:
            k, now, limit, weight = _SIDEWAYS, b.now_sideways, b.acceleration_y, w.acc_lim_y
        if first:
            before, value = (now, after[k]) if i == 0 else (step[k], ZERO * step[k])
            rate, by_before, by_value, by_dt = edges.start(before, value, dt)
        else:
            rate, by_before, by_value, by_dt = edges.acceleration(step[k], after[k], dt, next_dt)
        e, slope = edges.range_violation(rate, -limit, limit, _soft_margin(w.epsilon, limit))
        if slope == ZERO:
            continue
        row[:] = ZERO
        if i > 0:
            if axis == 1:
                _turn_row(row, 0, step, dt, slope * by_before)
            else:
                _step_row(row, 0, step, k, slope * by_before)
        if i < n - 1:
            at = 4 if i > 0 else 0
            if axis == 1:
                _turn_row(row, at, after, next_dt, slope * by_value)
            else:
                _step_row(row, at, after, k, slope * by_value)
        row[3] += slope * by_dt
        if not first:
            row[7] += slope * by_dt
        _add(m, work.side, base, row, 7 if first else WIDTH + 1, weight, e)


@hidden
def _add_step(band, i, weights, bounds, work):
    """Add the residuals of the step from pose ``i`` to the next pose: speeds, time, length, kinematics, preferred turning
    direction.
    """
    w, b, m, side, row, step = weights, bounds, work.matrix, work.side, work.row, work.steps[i]
    base, dt, turn = 4 * i, band[i, 3], step[_TURN]
    dx, dy = band[i + 1, 0] - band[i, 0], band[i + 1, 1] - band[i, 1]
    cosine, sine, next_cosine, next_sine = work.trig[i, 0], work.trig[i, 1], work.trig[i + 1, 0], work.trig[i + 1, 1]
    e, slope = edges.range_violation(
        step[_SPEED], _soft_margin(w.epsilon, b.backward) - b.backward, b.forward - _soft_margin(w.epsilon, b.forward), ZERO
    )
    if slope != ZERO:
        row[:] = ZERO
        _step_row(row, 0, step, _SPEED, slope)
        _add(m, side, base, row, 6, w.max_vel_x, e)
    if b.sideways > ZERO:
        e, slope = edges.range_violation(step[_SIDEWAYS], -b.sideways, b.sideways, ZERO)
        if slope != ZERO:
            row[:] = ZERO
            _step_row(row, 0, step, _SIDEWAYS, slope)
            _add(m, side, base, row, 6, w.max_vel_y, e)
    e, slope = edges.range_violation(step[_OMEGA], -b.omega, b.omega, _soft_margin(w.epsilon, b.omega))
    if slope != ZERO:
        row[:] = ZERO
        _turn_row(row, 0, step, dt, slope)
        _add(m, side, base, row, 7, w.max_vel_theta, e)
    m[base + 3, WIDTH] += w.optimaltime
    side[base + 3] -= w.optimaltime * dt
    e, by_x, by_y, by_first, by_second = edges.arc_deviation(dx, dy, cosine, sine, next_cosine, next_sine)
    row[0], row[1], row[2], row[3], row[4], row[5], row[6] = -by_x, -by_y, by_first, ZERO, by_x, by_y, by_second
    _add(m, side, base, row, 7, w.kinematics_nh, e)
    if w.shortest_path > ZERO:
        e, by_x, by_y = edges.length(dx, dy)
        row[0], row[1], row[2], row[3], row[4], row[5] = -by_x, -by_y, ZERO, ZERO, by_x, by_y
        _add(m, side, base, row, 6, w.shortest_path, e)
    if b.turning_radius > ZERO:
        if turn != ZERO:
            value, by_x, by_y, by_turn = edges.radius(dx, dy, turn)
            e, slope = edges.shortfall(value, b.turning_radius)
            if slope != ZERO:
                row[0], row[1], row[2], row[3] = -slope * by_x, -slope * by_y, -slope * by_turn, ZERO
                row[4], row[5], row[6] = slope * by_x, slope * by_y, slope * by_turn
                _add(m, side, base, row, 7, w.kinematics_turning_radius, e)
    else:
        value, by_x, by_y, by_first = edges.forward_step(dx, dy, cosine, sine)
        e, slope = edges.shortfall(value, ZERO)
        if slope != ZERO:
            row[0], row[1], row[2], row[3] = -slope * by_x, -slope * by_y, slope * by_first, ZERO
            row[4], row[5] = slope * by_x, slope * by_y
            _add(m, side, base, row, 6, w.kinematics_forward_drive, e)
    if i < _TURNING and b.turn != ZERO:
        e, slope = edges.shortfall(b.turn * turn, ZERO)
        if slope != ZERO:
            row[:] = ZERO
            row[2], row[6] = -slope * b.turn, slope * b.turn
            _add(m, side, base, row, 7, w.prefer_rotdir, e)


@hidden
def _add_disc(band, i, shape, disc, weight, inflation_weight, least, inflated, work):
    """Add the two residuals of one disc near pose ``i``, which have the same derivatives."""
    far, by_x, by_y, by_heading = shapes.gap(
        shape, band[i, 0], band[i, 1], work.trig[i, 0], work.trig[i, 1], disc[0], disc[1], disc[2]
    )
    e, slope = edges.shortfall(far, least)
    f, other = edges.shortfall(far, inflated)
    stiff = weight * slope * slope + inflation_weight * other * other
    if stiff != ZERO:
        pull = weight * slope * e + inflation_weight * other * f
        base, m = 4 * i, work.matrix
        m[base, WIDTH] += stiff * by_x * by_x
        m[base + 1, WIDTH] += stiff * by_y * by_y
        m[base + 1, WIDTH - 1] += stiff * by_x * by_y
        work.side[base] -= pull * by_x
        work.side[base + 1] -= pull * by_y
        if shape.kind != shapes.ROUND:
            m[base + 2, WIDTH] += stiff * by_heading * by_heading
            m[base + 2, WIDTH - 1] += stiff * by_heading * by_y
            m[base + 2, WIDTH - 2] += stiff * by_heading * by_x
            work.side[base + 2] -= pull * by_heading


@lean
def linearise(band, n, weights, bounds, shape, near, more, work):
    """Write the normal equations of a measured band."""
    w = weights
    work.matrix[: 4 * n] = ZERO
    work.side[: 4 * n] = ZERO
    for i in range(n - 1):
        _add_step(band, i, w, bounds, work)
    for i in range(n - 1 if bounds.free > ZERO else n):
        _add_acceleration(band, i, n, w, bounds, work)
    for k in range(near.via_pose.size):
        i = near.via_pose[k]
        if i < 0:
            break
        far, work.row[0], work.row[1] = edges.length(band[i, 0] - near.via[k, 0], band[i, 1] - near.via[k, 1])
        _add(work.matrix, work.side, 4 * i, work.row, 2, w.viapoint, far)
    least = w.min_obstacle_dist + w.epsilon
    for i in range(1, n - 1):
        for k in range(near.still_begin[i], near.still_begin[i + 1]):
            disc = near.still[k]
            _add_disc(band, i, shape, disc, more * w.obstacle, w.inflation, disc[3], w.inflation_dist, work)
        for k in range(near.moving_begin[i], near.moving_begin[i + 1]):
            inflated, weight = w.dynamic_obstacle_inflation_dist, w.dynamic_obstacle_inflation
            _add_disc(band, i, shape, near.moving[k], w.dynamic_obstacle, weight, least, inflated, work)
