"""The motion of robots: limits on twist and acceleration, followed by exact integration of a constant twist over dt.

Supports differential, holonomic, car-like (Ackermann with a steering rate; the base is at the rear axle) and legged bases. All
functions are scalar. A legged base moves like a holonomic base, with each axis within its own limits, like Arena's go1 and CHAMP's
gait, which caps commands (``champ``: ``LegController::velocityCommand``). Footsteps are not modelled.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import hidden, lean
from agora.core.scalar import HALF, ONE, ZERO, atan2, sincos, wrap
from agora.core.state import ACKERMANN, DIFFERENTIAL

_SMALL_ANGLE = np.float32(1e-3)
_SIXTH = np.float32(1 / 6)
_TINY = np.float32(1e-6)
_SLACK = np.float32(1e-4)


@hidden
def clamp(value, low, high):
    """The value, clamped to [low, high]."""
    return min(max(value, low), high)


@lean
def approach(current, target, acceleration, deceleration, dt):
    """The value nearest to the target that can be reached within dt; speeding up and braking have separate limits."""
    if current * target < ZERO:  # brake first, then accelerate in the opposite direction, within one dt
        stop = abs(current) / deceleration
        if stop >= dt:
            return current - math.copysign(deceleration * dt, current)
        return clamp(target, -acceleration * (dt - stop), acceleration * (dt - stop))
    limit = (acceleration if abs(target) > abs(current) else deceleration) * dt
    return clamp(target, current - limit, current + limit)


@lean
def exceeds(traits, w, r, vx, vy, omega):
    """Return whether a command exceeds the limits of robot r of world w."""
    sideways = ZERO if traits.kinematics[w, r] == DIFFERENTIAL or traits.kinematics[w, r] == ACKERMANN else traits.max_vy[w, r]
    return (
        vx > traits.max_vx[w, r] + _SLACK
        or vx < traits.min_vx[w, r] - _SLACK
        or abs(vy) > sideways + _SLACK
        or abs(omega) > traits.max_omega[w, r] + _SLACK
    )


@lean
def next_twist(traits, w, r, twist, command, steering, dt):
    """Twist and steering angle over the next dt, given the current ``twist`` and the ``command`` (vx, vy, omega)."""
    kind = traits.kinematics[w, r]
    vx = clamp(command[0], traits.min_vx[w, r], traits.max_vx[w, r])
    vy = clamp(command[1], -traits.max_vy[w, r], traits.max_vy[w, r])
    omega = clamp(command[2], -traits.max_omega[w, r], traits.max_omega[w, r])
    ax, brake, alpha = traits.max_ax[w, r], traits.max_deceleration[w, r], traits.max_alpha[w, r]
    new_vx = approach(twist[0], vx, ax, brake, dt)
    if kind == ACKERMANN:
        base = traits.wheelbase[w, r]
        wanted = steering
        if abs(vx) > _TINY:
            wanted = atan2(base * omega * math.copysign(ONE, vx), abs(vx))
        turn = traits.max_steering_rate[w, r] * dt
        wanted = clamp(wanted, -traits.max_steering[w, r], traits.max_steering[w, r])
        angle = clamp(wanted, steering - turn, steering + turn)
        s, c = sincos(angle)
        return (new_vx, ZERO, new_vx * s / (c * base)), angle
    if kind == DIFFERENTIAL:
        return (new_vx, ZERO, approach(twist[2], omega, alpha, alpha, dt)), ZERO
    ay = traits.max_ay[w, r]
    return (new_vx, approach(twist[1], vy, ay, ay, dt), approach(twist[2], omega, alpha, alpha, dt)), ZERO


@lean
def move(x, y, heading, twist, dt):
    """Pose after the twist (vx, vy, omega) has been held for dt: an exact circular arc."""
    turn = twist[2] * dt
    if abs(turn) < _SMALL_ANGLE:
        along, across = dt * (ONE - turn * turn * _SIXTH), dt * turn * HALF
    else:
        s, c = sincos(turn)
        along, across = s / twist[2], (ONE - c) / twist[2]
    dx, dy = twist[0] * along - twist[1] * across, twist[0] * across + twist[1] * along
    s, c = sincos(heading)
    return x + c * dx - s * dy, y + s * dx + c * dy, wrap(heading + turn)
