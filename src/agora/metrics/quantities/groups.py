"""The groups of people in a recording: their members, their circles, and whether the robot is inside a circle.

A group consists of two or more present pedestrians with the same group number. The group's circle is defined as in TAGA: the centre
is the mean of the members' positions, and the radius is the distance to the farthest member plus 0.1 m. The robot counts as inside
if its centre is inside the circle or less than 0.05 m outside it. Both margins are taken from TAGA's code.
"""

from __future__ import annotations

import functools

import numpy as np

from agora.core.recording import Recording
from agora.core.state import Bools, Doubles
from agora.metrics.quantities.arithmetic import norm
from agora.metrics.quantities.samples import compute_once
from agora.perception import spaces

_MARGIN = 0.1 + 0.05


@functools.lru_cache(maxsize=4)
def slots_of_groups(recording: Recording) -> list[tuple[Bools, Bools]]:
    """Return two masks for each group: the slots (P,) that are ever in the group, and the samples (T, n) at which each of these n
    slots is in the group. A single pedestrian does not count as a group.
    """
    number = np.where(recording.pedestrian_present, recording.pedestrian_group, -1)
    groups = []
    for group in np.unique(number[number >= 0]):
        member = number == group
        member &= member.sum(1, keepdims=True) > 1
        ever = member.any(0)
        if ever.any():
            groups.append((ever, member[:, ever]))
    return groups


@functools.lru_cache(maxsize=4)
def members(recording: Recording) -> list[tuple[Doubles, Bools]]:
    """Return the positions (T, n, 2), m, and the presence (T, n) of the members of each group; a member that is alone counts as
    absent.
    """
    return [(recording.pedestrian_position[:, ever], member) for ever, member in slots_of_groups(recording)]


@functools.lru_cache(maxsize=4)
def circles(recording: Recording) -> list[tuple[Doubles, Doubles, Bools]]:
    """Return the centre (T, 2), m, the radius (T,), m, and the presence of the members (T, n) for each group; the radius extends to
    the farthest member, without margins.
    """
    return [(*spaces.circle(position, present), present) for position, present in members(recording)]


@compute_once
def inside_groups(recording: Recording) -> Bools:
    """(T,) whether the robot is in the circle of a group."""
    inside = np.zeros(len(recording.time), np.bool_)
    for centre, radius, _ in circles(recording):
        inside |= norm(recording.pose[:, :2] - centre) < radius + _MARGIN
    return inside
