"""The cheapest curves that a car can drive between two poses: Reeds-Shepp curves, or Dubins curves if the car never reverses.

Reeds and Shepp, "Optimal paths for a car that goes both forwards and backwards", Pacific Journal of Mathematics 145, 1990; Dubins,
"On curves of minimal length with a constraint on average curvature", American Journal of Mathematics 79, 1957.

A curve is a word of at most five segments: arcs of the minimum radius to the left (L) or right (R), and straight lines (S). Lengths
are in units of the minimum radius, and are negative for segments driven in reverse. Words are solved for only one side of the first
arc and one direction of travel. The others follow by symmetry: by mirroring the pose (arcs change sides), by reversing time
(lengths change signs), or by driving from the goal back to the start (the word is read in reverse order). A solution is valid
whatever the signs of its lengths, because it ends at the goal pose. The words tried include the 48 words that are proven to contain
a shortest one.

Curves are compared by cost rather than by length, because driving in reverse, driving on an arc and changing direction may cost
extra.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.jit import hidden, lean

LEFT, RIGHT = 1, -1
_PI, _TWO_PI, _HALF_PI = math.pi, 2.0 * math.pi, 0.5 * math.pi
_NOTHING = 1e-9
SEGMENTS = 5
"""Maximum number of segments of a curve."""


class Price(NamedTuple):
    """The cost terms of a curve.

    Attributes:
        backward: cost of a metre driven in reverse, in equivalent metres driven forwards; infinite for a car that never reverses.
        change: cost of a change of direction, m.
        turn: cost of a metre on an arc of the minimum radius, in equivalent metres driven straight.
    """

    backward: float = 1.0
    change: float = 0.0
    turn: float = 1.0


@hidden
def _wrap(angle):
    """Return an angle wrapped to (-pi, pi]."""
    return angle - _TWO_PI * math.ceil((angle - _PI) / _TWO_PI)


@hidden
def _wrap_positive(angle):
    """Return an angle wrapped to [0, 2 pi); an angle that is just below a full turn, within rounding, becomes 0."""
    angle -= _TWO_PI * math.floor(angle / _TWO_PI)
    return 0.0 if angle > _TWO_PI - _NOTHING else angle


@hidden
def _offer(lengths, turns, terms, backwards, best, out):
    """Write a word into ``out`` if it costs less than ``best``; return the lower of the two costs."""
    price, way = terms
    cost = 0.0
    for i in range(SEGMENTS):
        k = SEGMENTS - 1 - i if backwards else i
        long = lengths[k]
        if abs(long) <= _NOTHING:
            continue
        forward = long > 0.0
        if (way > 0 and not forward) or (way < 0 and forward):
            cost += price.change
        way = 1 if forward else -1
        cost += abs(long) * (1.0 if forward else price.backward) * (price.turn if turns[k] != 0 else 1.0)
    if cost >= best:
        return best
    for i in range(SEGMENTS):
        k = SEGMENTS - 1 - i if backwards else i
        out[i, 0], out[i, 1] = lengths[k], turns[k]
    return cost


@hidden
def _words(x, y, turn, time, side, backwards, terms, best, out):
    """Try the words that start with an arc to ``side``, driven in the direction ``time``; with ``backwards``, read them in reverse
    order.
    """
    sine, cosine = math.sin(turn), math.cos(turn)
    if backwards:
        x, y = x * cosine + y * sine, x * sine - y * cosine
    same_x, same_y = x - sine, y - 1.0 + cosine  # from the first circle's centre to the centre of a last circle on the same side
    other_x, other_y = x + sine, y - 1.0 - cosine  # to the centre of a last circle on the other side
    squared, angle = same_x * same_x + same_y * same_y, math.atan2(same_y, same_x)
    other_squared, other_angle = other_x * other_x + other_y * other_y, math.atan2(other_y, other_x)
    far, other_far = math.sqrt(squared), math.sqrt(other_squared)
    quarter, own, other = -_HALF_PI * time, side, -side
    if not backwards:
        t = _wrap(angle)
        best = _offer((time * t, time * far, time * _wrap(turn - t), 0.0, 0.0), (own, 0, own, 0, 0), terms, False, best, out)
        if other_squared >= 4.0:
            u = math.sqrt(other_squared - 4.0)
            t = _wrap(other_angle + math.atan2(2.0, u))
            best = _offer((time * t, time * u, time * _wrap(t - turn), 0.0, 0.0), (own, 0, other, 0, 0), terms, False, best, out)
        if other_far <= 6.0:  # C C_u | C_u C: the two middle arcs have equal length
            middle = math.atan2(other_x, -other_y)
            for inner in range(2):
                share = (2.0 + (other_far if inner == 0 else -other_far)) / 4.0
                if abs(share) > 1.0:
                    continue
                u = math.acos(share)
                m = middle if inner == 0 else middle + _PI
                t, v = _wrap(m + u), _wrap(m - u - turn)
                best = _offer((time * t, time * u, -time * u, time * v, 0.0), (own, other, own, other, 0), terms, False, best, out)
        share = (20.0 - other_squared) / 16.0
        if 0.0 <= share <= 1.0:  # C | C_u C_u | C
            u = -math.acos(share)
            t = _wrap(other_angle - math.atan2(2.0 * math.cos(u) - 4.0, 2.0 * math.sin(u)))
            best = _offer(
                (time * t, time * u, time * u, time * _wrap(t - turn), 0.0), (own, other, own, other, 0), terms, False, best, out
            )
        if other_squared >= 20.0:  # C | C S C | C, the inner arcs are quarter turns
            u = 4.0 - math.sqrt(other_squared - 4.0)
            t = _wrap(other_angle - math.atan2(u - 4.0, -2.0))
            v = time * _wrap(t - turn)
            best = _offer((time * t, quarter, time * u, quarter, v), (own, other, 0, own, other), terms, False, best, out)
    if squared <= 16.0:  # C | C C and C | C | C
        u = -2.0 * math.asin(0.25 * far)
        t = _wrap(angle + 0.5 * u + _PI)
        best = _offer(
            (time * t, time * u, time * _wrap(turn - t + u), 0.0, 0.0), (own, other, own, 0, 0), terms, backwards, best, out
        )
    if squared >= 4.0:  # C | C S C, the inner arc is a quarter turn
        u = 2.0 - math.sqrt(squared - 4.0)
        t = _wrap(angle - math.atan2(u - 2.0, -2.0))
        v = time * _wrap(turn - t - _HALF_PI)
        best = _offer((time * t, quarter, time * u, v, 0.0), (own, other, 0, own, 0), terms, backwards, best, out)
    if other_squared >= 4.0:
        t = math.atan2(other_x, -other_y)
        v = time * _wrap(t + _HALF_PI - turn)
        best = _offer((time * t, quarter, time * (2.0 - other_far), v, 0.0), (own, other, 0, other, 0), terms, backwards, best, out)
    return best


@hidden
def _forward_words(x, y, turn, side, terms, best, out):
    """Try the three Dubins words that start with an arc to ``side``."""
    sine, cosine = math.sin(turn), math.cos(turn)
    same_x, same_y, other_x, other_y = x - sine, y - 1.0 + cosine, x + sine, y - 1.0 - cosine
    squared, angle = same_x * same_x + same_y * same_y, math.atan2(same_y, same_x)
    t = _wrap_positive(angle) if squared > _NOTHING * _NOTHING else 0.0
    best = _offer((t, math.sqrt(squared), _wrap_positive(turn - t), 0.0, 0.0), (side, 0, side, 0, 0), terms, False, best, out)
    other = other_x * other_x + other_y * other_y
    if other >= 4.0:
        u = math.sqrt(other - 4.0)
        t = _wrap_positive(math.atan2(other_y, other_x) + math.atan2(2.0, u))
        best = _offer((t, u, _wrap_positive(t - turn), 0.0, 0.0), (side, 0, -side, 0, 0), terms, False, best, out)
    if squared <= 16.0:
        u = _TWO_PI - 2.0 * math.asin(0.25 * math.sqrt(squared))
        t = _wrap_positive(angle + 0.5 * u)
        best = _offer((t, u, _wrap_positive(turn - t + u), 0.0, 0.0), (side, -side, side, 0, 0), terms, False, best, out)
    return best


@hidden
def _to_point(x, y, time, side, terms, best, out):
    """Try an arc followed by a straight line to a point."""
    y -= 1.0
    squared = x * x + y * y
    if squared < 1.0:
        return best
    u = math.sqrt(squared - 1.0)
    t = _wrap_positive(math.atan2(y, x) + math.atan2(1.0, u))
    return _offer((time * t, time * u, 0.0, 0.0, 0.0), (side, 0, 0, 0, 0), terms, False, best, out)


@lean
def cheapest_curve(x, y, turn, radius, price, before, out):
    """Return the cost, in metres, of the cheapest curve from the origin (with heading 0) to a pose; infinite if there is no curve.

    Args:
        x: x of the pose, m.
        y: y of the pose, m.
        turn: heading at the end, rad. NaN allows any heading: the curve is then an arc followed by a straight line, which is long
            if the point is nearby and to the side.
        radius: minimum radius, m.
        price: `Price`.
        before: previous direction of motion, 1 for forwards, -1 for backwards, 0 for neither.
        out: (5, 2) float64, out: length (m, negative if driven in reverse) and curvature (1/m) of each segment.
    """
    x, y = x / radius, y / radius
    terms = Price(price.backward, price.change / radius, price.turn), before
    reverses = price.backward < np.inf
    best = np.inf
    out[:] = 0.0
    for mirrored in range(2):
        side = RIGHT if mirrored else LEFT
        across, rotation = (-y, -turn) if mirrored else (y, turn)
        if rotation != rotation:
            best = _to_point(x, across, 1.0, side, terms, best, out)
            if reverses:
                best = _to_point(-x, across, -1.0, side, terms, best, out)
        elif reverses:
            for flipped in range(2):
                for backwards in range(2):
                    time = -1.0 if flipped else 1.0
                    best = _words(time * x, across, time * rotation, time, side, backwards == 1, terms, best, out)
        else:
            best = _forward_words(x, across, rotation, side, terms, best, out)
    for i in range(SEGMENTS):
        out[i, 0], out[i, 1] = out[i, 0] * radius, out[i, 1] / radius
    return best * radius


@hidden
def copy_curve(curve, out):
    """Copy a curve (5, 2) into another."""
    for i in range(SEGMENTS):
        out[i, 0], out[i, 1] = curve[i, 0], curve[i, 1]


@lean
def advance(x, y, heading, length, curvature):
    """Return the pose at the end of a curve segment, computed in closed form."""
    turn = length * curvature
    half = 0.5 * turn
    chord = length * (math.sin(half) / half if abs(half) > 1e-9 else 1.0)
    return x + chord * math.cos(heading + half), y + chord * math.sin(heading + half), heading + turn
