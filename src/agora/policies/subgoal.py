"""Sub-goals: points ahead on the global path that policies and planners drive towards."""

from __future__ import annotations

import numpy as np

from agora.core.jit import kernel
from agora.core.path import point_ahead
from agora.core.state import Floats, freeze
from agora.interfaces import Observation


def subgoals(observation: Observation, lookahead: float, first: int = 0, last: int | None = None) -> Floats:
    """Return the goals (N, 3), with each row's goal replaced by the point ``lookahead`` metres ahead on the row's path.

    A row keeps its original goal if it has no path or if the path ends earlier.

    Args:
        observation: observation of N robots, with their paths.
        lookahead: distance along the path, measured from the path's nearest point to the robot, m.
        first: first row to process.
        last: one more than the last row; N if not given.
    """
    o, goal = observation, observation.goal.copy()
    if o.path is not None and o.path_count is not None:
        path = (freeze(o.path), freeze(o.path_count), freeze(o.pose))
        _aim(*path, np.float32(lookahead), goal, first, len(goal) if last is None else last)
    return goal


@kernel
def _aim(path, path_count, pose, lookahead, goal, first, last):
    """Move each goal to the point at the look-ahead distance, in rows whose path extends beyond it."""
    for n in range(first, last):
        leads, x, y, _ = point_ahead(path[n], path_count[n], pose[n, 0], pose[n, 1], lookahead)
        if leads:
            goal[n, 0], goal[n, 1] = x, y
