"""The splines of SocNavBench's sampling planner: they lead from the robot to waypoints, at several start speeds, as fast as the
limits allow.

Let s be the elapsed fraction of the final time T. The progress p(s) = a s^3 + b s^2 + c s runs from 0 to 1, and the position is
x(p), y(p); these are polynomials of third order, too (commit 2724ea85, ``Spline3rdOrder``). Splines start at the origin along the x
axis and end at rest at the waypoint, with its heading.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agora.core.jit import hidden, lean_kernel
from agora.core.scalar import TWO, ZERO, sincos
from agora.core.state import Array, Doubles, Floats, Ints
from agora.planners.local.sampling._grid import waypoints

CHECKS = 80
"""Number of places on a spline at which its speeds are compared with the limits: the original's, which are 0.05 s apart."""

_THREE, _SIX, _TINY = np.float32(3.0), np.float32(6.0), np.float32(1e-12)
_BACKWARDS = np.float32(-1e-5)
_NEVER = np.float32(np.inf)


class Catalogue(NamedTuple):
    """The settings that define a set of splines.

    Attributes:
        waypoints: as for `agora.planners.local.sampling._grid.waypoints`.
        headings: as for `agora.planners.local.sampling._grid.waypoints`.
        height: as for `agora.planners.local.sampling._grid.waypoints`.
        tilt: as for `agora.planners.local.sampling._grid.waypoints`.
        half_view: as for `agora.planners.local.sampling._grid.waypoints`.
        speeds: number of start speeds, from 0 to ``max_speed``.
        max_speed: maximum speed, m/s.
        max_omega: maximum turning rate, rad/s.
        turning_radius: turning radius, m.
        least_time: minimum duration of a spline, s.
        most_time: maximum duration of a spline, s.
    """

    waypoints: int
    headings: int
    height: float
    tilt: float
    half_view: float
    speeds: int
    max_speed: float
    max_omega: float
    turning_radius: float
    least_time: float
    most_time: float


class Splines(NamedTuple):
    """All splines that a robot can drive, by start speed.

    Attributes:
        first: (B + 1,) index of the first spline for each start speed.
        x: (S, 3) coefficients of x, of third, second and first order, m.
        y: (S, 3) coefficients of y, of third, second and first order, m.
        p: (S, 3) coefficients of the progress along the spline, of third, second and first order.
        time: (S,) final times, s.
        waypoint: (S,) indices of the waypoints.
    """

    first: NDArray[np.int64]
    x: Floats
    y: Floats
    p: Floats
    time: Floats
    waypoint: Ints


@hidden
def evaluate_cubic(a, b, c, s):
    """Return the value and the derivative of a cubic without a constant term."""
    return ((a * s + b) * s + c) * s, (_THREE * a * s + TWO * b) * s + c


@hidden
def motion_at(x, y, p, s):
    """Return the position, the direction (not normalised) and the twist multiplied by the final time, after the fraction s of the
    final time.
    """
    way, pace = evaluate_cubic(p[0], p[1], p[2], s)
    px, dx = evaluate_cubic(x[0], x[1], x[2], way)
    py, dy = evaluate_cubic(y[0], y[1], y[2], way)
    ddx, ddy = _SIX * x[0] * way + TWO * x[1], _SIX * y[0] * way + TWO * y[1]
    square = dx * dx + dy * dy
    return px, py, dx, dy, math.sqrt(square) * pace, (dx * ddy - dy * ddx) / max(square, _TINY) * pace


@hidden
def _fit(goal, speed, horizon, x, y, p):
    """Write the coefficients of the spline to ``goal`` (3,) that starts with ``speed`` and takes the time ``horizon``.

    The factors f1 = f2 = speed + distance are the original's. If the final time is changed afterwards, the start speed changes,
    too.
    """
    factor = speed + math.sqrt(goal[0] * goal[0] + goal[1] * goal[1])
    sine, cosine = sincos(goal[2])
    ahead, aside = factor * cosine, factor * sine
    # Cubics from the origin along the x axis to the goal along its heading; both tangents have the length of the factor.
    x[0], x[1], x[2] = ahead - TWO * goal[0] + factor, _THREE * goal[0] - ahead - TWO * factor, factor
    y[0], y[1], y[2] = aside - TWO * goal[1], _THREE * goal[1] - aside, ZERO
    # Progress from 0 to 1 that begins with the start speed and ends at rest
    begin = horizon * speed / factor
    p[0], p[1], p[2] = begin - TWO, _THREE - TWO * begin, begin
    return factor


@lean_kernel
def _times(goals, speeds, limits, x, y, p, time, start, first, last):
    """Write the splines from the start speeds ``first <= i < last`` to all goals: coefficients (B, K, 3), times and start speeds
    (B, K).

    The time is infinite if a spline would back up, or cannot be driven in the available time or with the turning radius.
    """
    max_speed, max_omega, bend, least, most = limits
    for i in range(first, last):
        for k in range(goals.shape[0]):
            time[i, k], start[i, k] = _NEVER, ZERO
            if math.sqrt(goals[k, 0] * goals[k, 0] + goals[k, 1] * goals[k, 1]) > most * max_speed:
                continue
            factor = _fit(goals[k], speeds[i], most, x[i, k], y[i, k], p[i, k])
            # The twists are multiplied by the final time, so their largest values give the minimum time within the limits. The
            # curvature does not depend on the time.
            fastest, slowest, turn, within = ZERO, ZERO, ZERO, True
            for j in range(CHECKS):
                _, _, _, _, v, w = motion_at(x[i, k], y[i, k], p[i, k], np.float32(j) / np.float32(CHECKS - 1))
                fastest, slowest, turn = max(fastest, v), min(slowest, v), max(turn, abs(w))
                within &= abs(w) * bend <= abs(v) + _TINY
            needed = max(max(fastest / max_speed, turn / max_omega), least)
            if within and needed <= most and slowest >= _BACKWARDS:
                time[i, k], start[i, k] = needed, factor * p[i, k, 2] / needed


@functools.lru_cache(maxsize=32)
def splines(of: Catalogue) -> Splines:
    """Return the splines of a catalogue, with one spline per waypoint and start speed, namely the spline that was fitted for the
    lowest speed.
    """
    goals = np.ascontiguousarray(waypoints(*of[:5]), np.float32)
    speeds = np.linspace(0.0, of.max_speed, of.speeds).astype(np.float32)
    shape = (of.speeds, len(goals))
    x, y, p = (np.zeros((*shape, 3), np.float32) for _ in range(3))
    time, start = (np.empty(shape, np.float32) for _ in range(2))
    limits = tuple(np.float32(v) for v in (of.max_speed, of.max_omega, of.turning_radius, of.least_time, of.most_time))
    _times(goals, speeds, limits, x, y, p, time, start, 0, of.speeds)
    # Splines that cannot be driven go into an extra bin after the last one, from which none is chosen.
    bins = np.where(np.isfinite(time), bin_of(start, of.max_speed, of.speeds), of.speeds)
    chosen = [_distinct_splines(bins, one) for one in range(of.speeds)]
    first = np.concatenate(([0], np.cumsum([len(which) for which in chosen]))).astype(np.int64)
    order = np.concatenate(chosen)
    x, y, p = (np.ascontiguousarray(part.reshape(-1, 3)[order]) for part in (x, y, p))
    return Splines(first, x, y, p, time.ravel()[order], (order % len(goals)).astype(np.int32))


def bin_of(speed: Array, max_speed: float, count: int) -> NDArray[np.int64]:
    """Return the index of the start speed nearest to each speed, m/s; the lower one in a tie."""
    spacing = max_speed / (count - 1)
    found: NDArray[np.int64] = np.clip(np.ceil(np.asarray(speed, np.float64) / spacing - 0.5), 0, count - 1).astype(np.int64)
    return found


def _distinct_splines(bins: Array, one: int) -> Array:
    """Return the flat indices of the splines in a bin, in order, keeping only the first spline to each waypoint."""
    found = np.flatnonzero(bins == one)
    _, earliest = np.unique(found % bins.shape[1], return_index=True)
    ordered: Array = found[np.sort(earliest)]
    return ordered


def end_of(x: Floats, y: Floats) -> Doubles:
    """Return the end positions and headings (..., 3) of splines with coefficients (..., 3), in the frame of their start."""
    a, b = x.astype(np.float64), y.astype(np.float64)
    dx, dy = (3.0 * one[..., 0] + 2.0 * one[..., 1] + one[..., 2] for one in (a, b))
    heading = np.reshape([math.atan2(v, u) for u, v in zip(dx.ravel(), dy.ravel(), strict=True)], dx.shape)
    return np.stack((a.sum(-1), b.sum(-1), heading), -1)
