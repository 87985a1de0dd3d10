"""Rigid bodies: sets of discs at fixed distances from each other, which move along a trajectory and turn with it."""

from __future__ import annotations

import math

import numpy as np

from agora.core.state import Doubles

_SAG = 4e-5  # m, maximum deviation of the straight line between two knots from the arc of a turning disc
_SHORTEST = 1e-3  # s, minimum time between knots: float32 positions are accurate to 1e-6 m, so velocities to 1e-3 m/s


def ride(way: Doubles, centres: Doubles, window: float) -> Doubles:
    """Return the trajectories of the discs of a body that moves along a trajectory; all discs have the same knot times.

    The body's heading is the mean direction of the trajectory over a time ``window`` centred on the current time. If the path has a
    corner, the body turns at a constant rate, from half a window before the corner to half a window after it. Knots are dense
    enough that the distance between any two discs changes by less than 1e-4 m.

    Args:
        way: (N, 3) time, s, and x and y, m, of the origin of the body's frame along the trajectory, in the map frame. N is at least
            2, and times increase. Between two knots, the origin moves on a straight line at constant speed.
        centres: (D, 2) centres of the discs in the body's frame, whose x axis points ahead, m.
        window: length of the time window for the mean direction, s; at least 0.5.

    Returns:
        (D, M, 3) time, s, and x and y, m, of each disc, in the map frame.
    """
    start, end = way[0, 0], way[-1, 0]
    corners = np.unique(np.concatenate((way[:, 0], way[:, 0] - 0.5 * window, way[:, 0] + 0.5 * window)))
    corners = corners[np.append(True, np.diff(corners) > _SHORTEST)]
    corners = np.concatenate(([start], corners[(corners > start + _SHORTEST) & (corners < end - _SHORTEST)], [end]))
    turn = np.abs(np.diff(_heading(way, window, corners)))
    farthest = float(np.hypot(*centres.T).max())
    pieces = np.maximum(np.ceil(turn / math.sqrt(4.0 * _SAG / max(farthest, _SAG))), 1.0).astype(int)
    time = np.interp(np.arange(pieces.sum() + 1), np.append(0, np.cumsum(pieces)), corners)
    heading = _heading(way, window, time)
    cosine, sine = np.cos(heading), np.sin(heading)
    ahead, left = centres[:, :1], centres[:, 1:]
    x = np.interp(time, way[:, 0], way[:, 1]) + cosine * ahead - sine * left
    y = np.interp(time, way[:, 0], way[:, 2]) + sine * ahead + cosine * left
    return np.stack((np.broadcast_to(time, x.shape), x, y), -1)


def _heading(way: Doubles, window: float, time: Doubles) -> Doubles:
    """Return the mean direction of a trajectory over the window around each time, rad; the trajectory is extrapolated along
    straight lines at its ends.
    """
    step = np.diff(way, axis=0)
    direction = np.unwrap(np.arctan2(step[:, 2], step[:, 1]))
    knots = np.concatenate(([way[0, 0] - window], way[:, 0], [way[-1, 0] + window]))
    integral = np.append(0.0, np.cumsum(np.diff(knots) * np.concatenate((direction[:1], direction, direction[-1:]))))
    before, after = (np.interp(time + half, knots, integral) for half in (-0.5 * window, 0.5 * window))
    return np.asarray((after - before) / window)
