"""The groups of a recording: their members, their circles, and whether the robot is inside.

A group is two or more present pedestrians with the same group number. Its circle is TAGA's: it is centred on the mean of the
members' positions, and its radius is the distance to the farthest member plus 0.1 m. The robot is inside if its centre is less than
0.05 m from the circle (both margins are from TAGA's code).
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
    """Return, for each group, a mask (P,) of the slots that are ever in it, and when each of them is, (T, n). A group of one does
    not count.
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
    """Return positions (T, n, 2) and presence (T, n) of the members of each group; the only member of a group counts as absent."""
    return [(recording.pedestrian_position[:, ever], member) for ever, member in slots_of_groups(recording)]


@functools.lru_cache(maxsize=4)
def circles(recording: Recording) -> list[tuple[Doubles, Doubles, Bools]]:
    """Return centres (T, 2), radii (T,) and presence (T, n) for each group; radii extend to the farthest member, without
    margins.
    """
    return [(*spaces.circle(position, present), present) for position, present in members(recording)]


@compute_once
def inside_groups(recording: Recording) -> Bools:
    """(T,) whether the robot is in the circle of a group."""
    inside = np.zeros(len(recording.time), np.bool_)
    for centre, radius, _ in circles(recording):
        inside |= norm(recording.pose[:, :2] - centre) < radius + _MARGIN
    return inside
