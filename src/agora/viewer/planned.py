"""The path that a robot was supposed to follow, taken from a recording."""

from __future__ import annotations

import numpy as np

from agora.core.recording import Recording
from agora.core.state import Doubles
from agora.metrics.quantities.arithmetic import norm

__all__ = ["path_at"]


def paths(recording: Recording) -> list[tuple[float, Doubles]]:
    """Return all paths that the robot followed, each with its start time, s, and its points (K, 2), m; the points are (0, 2) if
    there was no path.
    """
    planned = recording.planned_path
    if planned is None or not len(planned):
        return []
    cuts = np.flatnonzero(np.diff(planned[:, 0]) != 0.0) + 1
    parts = np.split(planned, cuts)
    return [(float(part[0, 0]), part[:, 1:] if len(part) > 1 else part[:0, 1:]) for part in parts]


def path_at(recording: Recording, time: float) -> Doubles | None:
    """Return the path (K, 2) that the robot followed at the given time, m; (0, 2) if there was no path, None if it was not
    recorded.
    """
    given = [path for since, path in paths(recording) if since <= time + 1e-9]
    return given[-1] if given else None


def corners(path: Doubles, tolerance: float) -> Doubles:
    """Return a subset of the points of a path (K, 2) such that straight lines between them stay within ``tolerance`` m of the path.

    Algorithm: D. H. Douglas and T. K. Peucker, Cartographica 10(2), 1973.
    """
    kept, parts = {0, len(path) - 1}, [(0, len(path) - 1)]
    while parts:
        first, last = parts.pop()
        if last - first < 2:
            continue
        leg, between = path[last] - path[first], path[first + 1 : last] - path[first]
        share = np.clip((between @ leg) / max(float(leg @ leg), 1e-12), 0.0, 1.0)
        away = norm(between - share[:, None] * leg)
        if away.max() > tolerance:
            middle = first + 1 + int(away.argmax())
            kept.add(middle)
            parts += [(first, middle), (middle, last)]
    return path[sorted(kept)] if len(path) else path
