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


def along(a, b, turned=0.0):
    """Speed of the step between two poses along the first heading, or along one turned from it."""
    return ((b[0] - a[0]) * math.cos(a[2] + turned) + (b[1] - a[1]) * math.sin(a[2] + turned)) / a[3]


def clearance(pose, shape, x, y):
    """Distance of a robot at a pose to a point; its shape is (model, points)."""
    model, points = shape
    c, s = math.cos(pose[2]), math.sin(pose[2])
    corners = [(pose[0] + c * u - s * v, pose[1] + s * u + c * v) for u, v in points]
    if model in ("point", "two_circles"):
        return min(math.hypot(x - u, y - v) for u, v in corners)
    sides = list(zip(corners, corners[1:] + corners[:1], strict=True))
    far, turns = math.inf, 0.0
    for (ax, ay), (bx, by) in sides:
        t = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / math.hypot(bx - ax, by - ay) ** 2
        t = min(max(t, 0.0), 1.0)
        far = min(far, math.hypot(x - ax - t * (bx - ax), y - ay - t * (by - ay)))
        turns += wrapped(math.atan2(by - y, bx - x) - math.atan2(ay - y, ax - x)) / (2.0 * math.pi)
    return -far if len(points) > 2 and abs(turns) > 0.5 else far


def residuals(band, weights, bounds, near, more, via=(), shape=("point", [(0.0, 0.0)])):
    """Pairs of weight and value, in a fixed order.

    ``near`` is (pose, x, y, radius, moves) for each disc that a pose heeds, ``via`` (pose, x, y) for each point of the path.
    """
    w, b, last = weights, bounds, len(band) - 1
    soft = {
        name: min(w.epsilon, 0.5 * getattr(b, name))
        for name in ("forward", "backward", "omega", "acceleration", "acceleration_y", "alpha")
    }
    forward, out = along if b.sideways else speed, []
    for i in range(last):
        a, c = band[i], band[i + 1]
        dx, dy, turn = c[0] - a[0], c[1] - a[1], wrapped(c[2] - a[2])
        slow, fast = soft["backward"] - b.backward, b.forward - soft["forward"]
        out.append((w.max_vel_x, inside(forward(a, c), slow, fast, 0.0)))
        out.append((w.max_vel_y, inside(along(a, c, 0.5 * math.pi), -b.sideways, b.sideways, 0.0) if b.sideways else 0.0))
        out.append((w.max_vel_theta, inside(omega(a, c), -b.omega, b.omega, soft["omega"])))
        out.append((w.optimaltime, a[3]))
        out.append((w.shortest_path, math.hypot(dx, dy)))
        arc = (math.cos(a[2]) + math.cos(c[2])) * dy - (math.sin(a[2]) + math.sin(c[2])) * dx
        out.append((w.kinematics_nh, arc))
        if b.turning_radius > 0.0:
            out.append((w.kinematics_turning_radius, below(math.hypot(dx, dy) / abs(turn), b.turning_radius)))
        else:
            out.append((w.kinematics_forward_drive, below(dx * math.cos(a[2]) + dy * math.sin(a[2]), 0.0)))
        if i < 3 and b.turn:
            out.append((w.prefer_rotdir, below(b.turn * turn, 0.0)))
    speeds = [b.now, *(forward(*pair) for pair in zip(band, band[1:], strict=False)), 0.0]
    asides = [b.now_sideways, *(along(*pair, 0.5 * math.pi) for pair in zip(band, band[1:], strict=False)), 0.0]
    omegas = [b.now_omega, *(omega(*pair) for pair in zip(band, band[1:], strict=False)), 0.0]
    for i in range(last if b.free else last + 1):
        time = band[0][3] if i == 0 else band[last - 1][3] if i == last else 0.5 * (band[i - 1][3] + band[i][3])
        out.append((w.acc_lim_x, inside((speeds[i + 1] - speeds[i]) / time, -b.acceleration, b.acceleration, soft["acceleration"])))
        out.append((w.acc_lim_theta, inside((omegas[i + 1] - omegas[i]) / time, -b.alpha, b.alpha, soft["alpha"])))
        gain = (asides[i + 1] - asides[i]) / time if b.sideways else 0.0
        out.append((w.acc_lim_y, inside(gain, -b.acceleration_y, b.acceleration_y, soft["acceleration_y"])))
    for i, x, y in via:
        out.append((w.viapoint, math.hypot(band[i][0] - x, band[i][1] - y)))
    for i, x, y, radius, moves in near:
        gap = clearance(band[i], shape, x, y) - radius
        weight, other = (w.dynamic_obstacle, w.dynamic_obstacle_inflation) if moves else (more * w.obstacle, w.inflation)
        out.append((weight, below(gap, w.min_obstacle_dist + w.epsilon)))
        out.append((other, below(gap, w.dynamic_obstacle_inflation_dist if moves else w.inflation_dist)))
    return np.array(out)
