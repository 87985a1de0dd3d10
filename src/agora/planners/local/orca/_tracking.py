"""The velocities that a differential-drive robot can track: what NH-ORCA adds to ORCA.

Alonso-Mora, Breitenmoser, Rufli, Beardsley, Siegwart, "Optimal reciprocal collision avoidance for multiple non-holonomic robots",
DARS 2010 (Springer 2013). The robot drives an arc at constant speed and turning rate for a time T, until it faces in the direction
of the desired velocity, and then drives at that velocity. Consider a point that moves at that velocity from the start (speed V,
angle a to the robot's heading). It is then never farther from the robot than

    V T sin(|a| / 2),    if the arc is driven at the speed    V (a / 2) / tan(a / 2),

which is optimal. These are the paper's equations, written in half angles; the set of velocities for a given error is convex. The
paper has additional cases in which a robot's maximum speed falls with its turning rate. In this module, speed and turning rate have
independent limits, and the arc is never driven faster than V. If a robot cannot turn by a in T, it turns as fast as it can, and T
is extended accordingly; the arc is still driven at the optimal speed, whereas in the paper the robot turns on the spot. Neither the
paper nor this module considers acceleration limits.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import hidden, lean_kernel
from agora.core.scalar import HALF, ONE, ZERO, atan2, sincos
from agora.core.state import Bools, Floats, freeze
from agora.interfaces import Limits, Observation

SIDES = 17
"""Number of half-planes of the trackable velocities: eight on each side, and one behind."""

_EACH = SIDES // 2
_BEHIND = np.float32(0.9 * math.pi)
_TINY = np.float32(1e-9)
_STILL = np.float32(1e-3)


def trackers(limits: Limits) -> Bools:
    """Return which robots (N,) turn on the spot and drive forwards, i.e. are neither car-like nor holonomic."""
    return (limits.turning_radius <= 0.0) & ~(limits.holonomic & (limits.min_vx < 0.0))


@hidden
def trackable_lines(lines, made, cosine, sine, error, turning_time, max_omega, fastest):
    """Append the half-planes of a polygon of velocities that a robot can track, and return the new number of half-planes.

    The polygon's corners lie on the boundary of the set of trackable velocities, and are denser near the heading, where the
    boundary's curvature is largest. No corner is directly behind: a robot that has to turn round would alternate between the two
    sides.

    Args:
        lines: (L, 4) half-planes as in `agora.core.halfplanes`.
        made: number of half-planes written so far.
        cosine: cosine of the robot's heading.
        sine: sine of the robot's heading.
        error: maximum tracking error, m, above 0.
        turning_time: time T for the turn, s.
        max_omega: maximum turning rate, rad/s.
        fastest: maximum speed, m/s.
    """
    ahead, aside = fastest, ZERO
    for k in range(1, _EACH + 1):
        share = np.float32(k) / np.float32(_EACH)
        angle = _BEHIND * share * share
        turned, _ = sincos(HALF * angle)
        speed = min(fastest, error / (max(turning_time, angle / max_omega) * turned))
        s, c = sincos(angle)
        x, y = speed * c, speed * s
        length = max(math.sqrt((x - ahead) * (x - ahead) + (y - aside) * (y - aside)), _TINY)
        ex, ey = (x - ahead) / length, (y - aside) / length
        lines[made, 0], lines[made, 1] = cosine * ahead - sine * aside, sine * ahead + cosine * aside
        lines[made, 2], lines[made, 3] = cosine * ex - sine * ey, sine * ex + cosine * ey
        lines[made + 1, 0], lines[made + 1, 1] = cosine * x + sine * y, sine * x - cosine * y
        lines[made + 1, 2], lines[made + 1, 3] = -cosine * ex - sine * ey, cosine * ey - sine * ex
        ahead, aside, made = x, y, made + 2
    lines[made, 0], lines[made, 1], lines[made, 2], lines[made, 3] = cosine * ahead, sine * ahead, sine, -cosine
    return made + 1


@lean_kernel
def _track(velocity, pose, chosen, max_omega, turning_time, twists, first, last):
    for i in range(first, last):
        if not chosen[i]:
            continue
        sine, cosine = sincos(pose[i, 2])
        forward = cosine * velocity[i, 0] + sine * velocity[i, 1]
        left = cosine * velocity[i, 1] - sine * velocity[i, 0]
        wanted = math.sqrt(forward * forward + left * left)
        if wanted < _STILL:
            twists[i, 0], twists[i, 2] = ZERO, ZERO
            continue
        half = HALF * atan2(left, forward)
        turned, kept = sincos(half)
        twists[i, 0] = wanted * (half * kept / turned if abs(turned) > _TINY else ONE)
        twists[i, 2] = (half + half) / max(turning_time, abs(half + half) / max_omega[i])


def track(velocity: Floats, observation: Observation, turning_time: float, twists: Floats) -> None:
    """Write the twists (N, 3) of the robots selected by `trackers`: the arcs along which they track velocities (N, 2).

    Args:
        velocity: velocities, m/s, map frame.
        observation: observation of the N robots, with pose, limits and dt.
        turning_time: time in which a robot turns to the direction of the velocity, s; not less than dt.
        twists: (N, 3) twists, m/s and rad/s, written.
    """
    limits = observation.limits
    given = (freeze(velocity), freeze(observation.pose), freeze(trackers(limits)), freeze(limits.max_omega))
    _track(*given, np.float32(max(turning_time, observation.dt)), twists, 0, len(velocity))
