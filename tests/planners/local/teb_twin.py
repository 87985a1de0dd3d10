"""The residuals of a timed elastic band, plainly, in float64: the table of the upstream package, one line for one edge."""

from __future__ import annotations

import math

import numpy as np


def wrapped(angle):
    return math.remainder(angle, 2 * math.pi)


def inside(value, low, high, epsilon):
    return max(low + epsilon - value, value - (high - epsilon), 0.0)


def below(value, least):
    return max(least - value, 0.0)


def speed(a, b):
    """Speed of the step between two poses (x, y, heading, dt)."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    q = 100.0 * (dx * math.cos(a[2]) + dy * math.sin(a[2]))
    return math.hypot(dx, dy) / a[3] * q / (1.0 + abs(q))


def omega(a, b):
    return wrapped(b[2] - a[2]) / a[3]


def residuals(band, weights, bounds, near, more):
    """Pairs of weight and value, in a fixed order; ``near`` is (pose, x, y, radius, moves) for each disc that a pose heeds."""
    w, b, last = weights, bounds, len(band) - 1
    soft = {name: min(w.epsilon, 0.5 * getattr(b, name)) for name in ("forward", "backward", "omega", "acceleration", "alpha")}
    out = []
    for i in range(last):
        a, c = band[i], band[i + 1]
        dx, dy, turn = c[0] - a[0], c[1] - a[1], wrapped(c[2] - a[2])
        slow, fast = soft["backward"] - b.backward, b.forward - soft["forward"]
        out.append((w.max_vel_x, inside(speed(a, c), slow, fast, 0.0)))
        out.append((w.max_vel_theta, inside(omega(a, c), -b.omega, b.omega, soft["omega"])))
        out.append((b.hurry * w.optimaltime, a[3]))
        out.append((w.shortest_path, math.hypot(dx, dy)))
        arc = (math.cos(a[2]) + math.cos(c[2])) * dy - (math.sin(a[2]) + math.sin(c[2])) * dx
        out.append((w.kinematics_nh, arc))
        if b.turning_radius > 0.0:
            out.append((w.kinematics_turning_radius, below(math.hypot(dx, dy) / abs(turn), b.turning_radius)))
        else:
            only = 0.0 if b.backward > 0.0 else 1000.0
            out.append((max(w.kinematics_forward_drive, only), below(dx * math.cos(a[2]) + dy * math.sin(a[2]), 0.0)))
        if i < 3 and b.turn:
            out.append((w.prefer_rotdir, below(b.turn * turn, 0.0)))
    speeds = [b.now, *(speed(*pair) for pair in zip(band, band[1:], strict=False)), 0.0]
    omegas = [b.now_omega, *(omega(*pair) for pair in zip(band, band[1:], strict=False)), 0.0]
    for i in range(last + 1):
        time = band[0][3] if i == 0 else band[last - 1][3] if i == last else 0.5 * (band[i - 1][3] + band[i][3])
        out.append((w.acc_lim_x, inside((speeds[i + 1] - speeds[i]) / time, -b.acceleration, b.acceleration, soft["acceleration"])))
        out.append((w.acc_lim_theta, inside((omegas[i + 1] - omegas[i]) / time, -b.alpha, b.alpha, soft["alpha"])))
    for i, x, y, radius, moves in near:
        gap = math.hypot(band[i][0] - x, band[i][1] - y) - radius
        weight, other = (w.dynamic_obstacle, w.dynamic_obstacle_inflation) if moves else (more * w.obstacle, w.inflation)
        out.append((weight, below(gap, w.min_obstacle_dist + w.epsilon)))
        out.append((other, below(gap, w.dynamic_obstacle_inflation_dist if moves else w.inflation_dist)))
    return np.array(out)
