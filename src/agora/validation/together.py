"""Detects pedestrians who walk together in a recording without group labels.

Two people walk together if both are present for at least 3 s and walk, the distance between them is at most 1.25 m for half of the
time and at most 2.5 m for nine tenths of the time, and the difference between their velocities is at most 0.5 m/s for half of the
time and at most 0.2 m/s on average, which excludes overtaking. A person who walks with a member of a group belongs to the group.
The thresholds are Agora's own. In the scenes with annotated groups, 82 to 100 % of the detected pairs are annotated (eth 85, hotel
87, zara01 100, zara02 95, students003 82), and 59 to 97 % of the annotated walking pairs within 2 m are detected (59, 97, 84, 94,
84).
"""

from __future__ import annotations

import numpy as np

from agora.core.state import Bools, Doubles, Ints
from agora.metrics.encounters import WALKS

_LONG = 8  # minimum number of samples at which both people are present
_NEAR, _FAR = 1.25, 2.5  # m, maximum median and 90 % quantile of the distance
_ALIKE, _DRIFT = 0.5, 0.2  # m/s, maximum median and mean difference between velocities


def together(position: Doubles, velocity: Doubles, present: Bools) -> Ints:
    """Return the number (P,) of each person's group; -1 for people without a group.

    Args:
        position: (T, P, 2) positions every 0.4 s, m.
        velocity: (T, P, 2) velocities, m/s.
        present: (T, P) whether each person is present.
    """
    count = present.shape[1]
    group = np.arange(count)
    for i in range(count):
        seen = present[:, i]
        for j in i + 1 + np.flatnonzero((present[seen, i + 1 :]).sum(0) >= _LONG):
            both = seen & present[:, j]
            distance = np.hypot(*(position[both, i] - position[both, j]).T)
            if np.median(distance) > _NEAR or np.quantile(distance, 0.9) > _FAR:
                continue
            mine, other = velocity[both, i], velocity[both, j]
            alike = np.median(np.hypot(*(mine - other).T)) <= _ALIKE and np.hypot(*(mine - other).mean(0)) <= _DRIFT
            if alike and min(np.hypot(*v.T).mean() for v in (mine, other)) > WALKS:
                group[group == group[j]] = group[i]
    _, number, size = np.unique(group, return_inverse=True, return_counts=True)
    return np.where(size[number] > 1, number, -1).astype(np.int32)
