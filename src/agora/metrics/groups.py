"""Whether the robot went through groups of people.

A group is two or more pedestrians who are present with one group number. Its circle is TAGA's: about the mean of its members'
places, to the farthest of them and 0.1 m beyond; the robot is inside where its centre is less than 0.05 m away from that (both of
the code).
"""

from __future__ import annotations

import numpy as np

from agora.core.recording import Recording
from agora.core.state import Bools, Doubles
from agora.interfaces import metric
from agora.metrics.quantities import average, norm, once
from agora.perception import spaces

__all__ = ["inside_groups"]

_TAGA = "Sarker Roy et al. 2025, TAGA"
_MARGIN = 0.1 + 0.05


def _groups(recording: Recording) -> list[tuple[Doubles, Bools]]:
    """Places (T, n, 2) and presence (T, n) of the members of each group; nobody is present of a group of one."""
    number = np.where(recording.pedestrian_present, recording.pedestrian_group, -1)
    groups = []
    for group in np.unique(number[number >= 0]):
        member = number == group
        member &= member.sum(1, keepdims=True) > 1
        ever = member.any(0)
        if ever.any():
            groups.append((recording.pedestrian_position[:, ever], member[:, ever]))
    return groups


@once
def inside_groups(recording: Recording) -> Bools:
    """(T,) whether the robot is in the circle of a group."""
    inside = np.zeros(len(recording.time), np.bool_)
    for position, present in _groups(recording):
        centre, radius = spaces.circle(position, present)
        inside |= norm(recording.pose[:, :2] - centre) < radius + _MARGIN
    return inside


@metric(
    "group_collision_rate",
    unit="",
    direction="lower",
    formula="share of time in the circle of a group: centre to the members' mean place < farthest member + 0.15 m",
    source=f"{_TAGA}, Eq. 7; margins of its code",
)
def group_collision_rate(recording: Recording) -> float:
    """0 without groups."""
    return average(recording, inside_groups(recording))


@metric(
    "group_intrusion",
    unit="0/1",
    direction="lower",
    formula="1 where the robot ever is in the circle of a group; the mean is the rate (GCR) of TAGA's Table I",
    source=f"{_TAGA}, Table I",
)
def group_intrusion(recording: Recording) -> float:
    """0 without groups; does not end the episode, as it did in the paper's runs."""
    return float(inside_groups(recording).any())


@metric(
    "group_distance_min",
    unit="m",
    direction="higher",
    formula="min over t and groups of the distance from the robot's centre to the members' convex hull, less its radius",
    source="Katyal et al. 2022, IROS (hulls); robot_sf (distance)",
)
def group_distance_min(recording: Recording) -> float | None:
    """Undefined without groups."""
    nearest = [spaces.hull_distance(p, present, recording.pose[:, :2]).min() for p, present in _groups(recording)]
    return float(min(nearest)) - recording.radius if nearest else None
