"""The costs of a timed elastic band: quantities and their derivatives, and the hinge functions that turn them into residuals.

Rösmann, Feiten, Wösch, Hoffmann, Bertram, "Trajectory modification considering dynamic constraints of autonomous robots", ROBOTIK
2012; the quantities are those of the teb_local_planner package (melodic-devel b68c328, edge_*.h, penalties.h). Derivatives are
ours. A pose has x, y and heading; the step to the next pose has (dx, dy), the change of heading ``turn`` in (-pi, pi], and the time
``dt``.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import hidden
from agora.core.scalar import ONE, TWO, ZERO

_STEEP = np.float32(100.0)
_TINY = np.float32(1e-12)


@hidden
def range_violation(value, low, high, epsilon):
    """Return how far a value lies outside [low + epsilon, high - epsilon], and its derivative with respect to the value."""
    if value < low + epsilon:
        return low + epsilon - value, -ONE
    if value > high - epsilon:
        return value - (high - epsilon), ONE
    return ZERO * value, ZERO


@hidden
def shortfall(value, least):
    """Return how far a value lies below ``least``, and its derivative with respect to the value."""
    if value < least:
        return least - value, -ONE
    return ZERO * value, ZERO


@hidden
def length(dx, dy):
    """Return the length of a step, and its derivatives with respect to dx and dy."""
    long = math.sqrt(dx * dx + dy * dy + _TINY)
    return long, dx / long, dy / long


@hidden
def speed(dx, dy, cosine, sine, dt):
    """Return the speed, which is negative when reversing, and its derivatives with respect to dx, dy, the first heading and dt.

    The speed is |(dx, dy)| / dt times a soft sign of the step along the heading: q / (1 + |q|) with q = 100 (dx cos + dy sin).
    """
    long, long_x, long_y = length(dx, dy)
    rate = ONE / dt
    along = _STEEP * (dx * cosine + dy * sine)
    fold = ONE / (ONE + abs(along))
    sign, slope = along * fold, _STEEP * fold * fold
    value = long * sign * rate
    by_x = (long_x * sign + long * slope * cosine) * rate
    by_y = (long_y * sign + long * slope * sine) * rate
    return value, by_x, by_y, long * slope * (dy * cosine - dx * sine) * rate, -value * rate


@hidden
def component(dx, dy, cosine, sine, dt):
    """Return the speed along a direction, with the same derivatives as `speed`; the direction turns with the first heading."""
    rate = ONE / dt
    value = (dx * cosine + dy * sine) * rate
    return value, cosine * rate, sine * rate, (dy * cosine - dx * sine) * rate, -value * rate


@hidden
def arc_deviation(dx, dy, cosine, sine, next_cosine, next_sine):
    """Return by how much two poses deviate from lying on a common arc, and its derivatives with respect to dx, dy, the first and
    the second heading.
    """
    value = (cosine + next_cosine) * dy - (sine + next_sine) * dx
    by_first, by_second = -sine * dy - cosine * dx, -next_sine * dy - next_cosine * dx
    return value, -(sine + next_sine), cosine + next_cosine, by_first, by_second


@hidden
def forward_step(dx, dy, cosine, sine):
    """Return the component of a step along the first heading, and its derivatives with respect to dx, dy and that heading."""
    return dx * cosine + dy * sine, cosine, sine, dy * cosine - dx * sine


@hidden
def radius(dx, dy, turn):
    """Return the curve radius of a step, and its derivatives with respect to dx, dy and the second heading. The turn of the step
    must not be 0.
    """
    long, long_x, long_y = length(dx, dy)
    rate = ONE / abs(turn)
    return long * rate, long_x * rate, long_y * rate, -long * rate / turn


@hidden
def acceleration(before, after, dt, next_dt):
    """Return the rate of change between two speeds, and its derivatives with respect to both speeds and, at constant speeds, both
    times.
    """
    rate = TWO / (dt + next_dt)
    value = (after - before) * rate
    return value, -rate, rate, -value * rate / TWO


@hidden
def start(before, after, dt):
    """Return the rate of change from a given speed to the first speed, or from the last speed to a given speed, with derivatives as
    in `acceleration`.
    """
    rate = ONE / dt
    value = (after - before) * rate
    return value, -rate, rate, -value * rate
