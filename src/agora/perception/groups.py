"""Detection of groups of people from positions, velocities and headings.

Walking groups: pairs of people who stay close to each other at the same velocity, after K. Yamaguchi et al., "Who are you with and
where are you going?", CVPR 2011 (distance, velocity difference, overlap in time). Pairs with a common member are merged, as in the
clustering of TAGA (2025). Standing groups: each person votes for the centre of the o-space in front of them, and people whose votes
are close together form a group, after M. Cristani et al., "Social interaction discovery by statistical analysis of F-formations",
BMVC 2011, but with a single vote per person instead of sampled votes. Scores: F. Setti et al., "F-formation detection:
individuating free-standing conversational groups in images", PLoS ONE 10(5), 2015.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from agora.core.state import Array, Bools, Doubles, Ints
from agora.ranges import Checked, Natural, Positive

__all__ = ["GroupDetector"]


@dataclass(frozen=True)
class GroupDetector(Checked):
    """Detects walking and standing groups.

    Attributes:
        distance: maximum mean distance between two people who walk together, m.
        speed: maximum mean difference between the velocities of two people who walk together, m/s.
        overlap: minimum number of samples in which both people must be present.
        standing: mean speed up to which a person counts as stationary, m/s.
        stride: distance from a standing person to the centre of its o-space, m.
        meeting: maximum distance between the votes of two people in one group, m.
    """

    distance: Positive = 1.2
    speed: Positive = 0.5
    overlap: Natural = 5
    standing: Positive = 0.3
    stride: Positive = 0.75
    meeting: Positive = 0.6

    def detect(self, position: Doubles, velocity: Doubles, heading: Doubles | None, present: Bools) -> Ints:
        """Return each pedestrian's group number (n,), counted from 0 in the order of the first members; -1 for pedestrians without
        a group.

        Args:
            position: (T, n, 2) positions over a time window, m.
            velocity: (T, n, 2) velocities, m/s.
            heading: (T, n) headings, rad; for each pedestrian, the last sample in which it is present is used. None if headings are
                unknown; standing people are then grouped by the same rule as walking people.
            present: (T, n) whether each pedestrian is present.
        """
        moving = np.hypot(velocity[..., 0], velocity[..., 1])
        count = present.sum(0)
        if heading is None:
            return _labels(self.walk_together(position, velocity, present))
        stands = np.where(present, moving, 0.0).sum(0) <= self.standing * count
        last = len(present) - 1 - np.argmax(present[::-1], 0) if len(present) else np.zeros(present.shape[1], int)
        walk = self.walk_together(position, velocity, present & ~stands)
        link = walk | self.talk(position, heading, last, stands & (count > 0))
        return _labels(link)

    def walk_together(self, position: Doubles, velocity: Doubles, present: Bools) -> Bools:
        """Return which pairs (n, n) walk together."""
        n = position.shape[1]
        apart, faster, both = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
        for place, motion, here in zip(position, velocity, present, strict=True):
            who = np.flatnonzero(here)
            pairs = np.ix_(who, who)
            apart[pairs] += _distances(place[who])
            faster[pairs] += _distances(motion[who])
            both[pairs] += 1.0
        near = (apart <= self.distance * both) & (faster <= self.speed * both)
        return np.asarray(near & (both >= self.overlap))

    def talk(self, position: Doubles, heading: Doubles, last: Array, stands: Bools) -> Bools:
        """Return which pairs (n, n) of standing pedestrians look at the same o-space."""
        who = np.arange(len(stands))
        place, look = position[last, who], heading[last, who]
        votes = place + self.stride * np.stack((np.cos(look), np.sin(look)), -1)
        return np.asarray((_distances(votes) <= self.meeting) & stands[:, None] & stands)


def _distances(points: Doubles) -> Doubles:
    """Return the distances (k, k) between points (k, 2)."""
    return np.asarray(np.hypot(*(points[:, None] - points).transpose(2, 0, 1)))


def _labels(link: Bools) -> Ints:
    """Return the component number (n,) of each node of a graph (n, n); -1 for isolated nodes."""
    from scipy.sparse.csgraph import connected_components

    _, part = connected_components(link, directed=False)
    size = np.bincount(part, minlength=1)
    label = np.full(len(part), -1, np.int32)
    together = np.flatnonzero(size[part] > 1) if len(part) else np.zeros(0, int)
    _, first, number = np.unique(part[together], return_index=True, return_inverse=True)
    label[together] = np.argsort(np.argsort(first))[number]
    return label


def pair_scores(found: Ints, truth: Ints) -> tuple[float, float]:
    """Return precision and recall over pairs of people in the same group.

    Precision is 1 if no pair was detected; recall is 1 if there is no true pair.

    Args:
        found: (n,) detected group numbers, -1 if none.
        truth: (n,) true group numbers, -1 if none.
    """
    upper = np.triu_indices(len(truth), 1)
    pairs = [((g[:, None] == g) & (g >= 0)[:, None])[upper] for g in (found, truth)]
    right = float((pairs[0] & pairs[1]).sum())
    said, are = float(pairs[0].sum()), float(pairs[1].sum())
    return (right / said if said else 1.0), (right / are if are else 1.0)


def group_scores(found: Ints, truth: Ints, share: float = 2 / 3) -> tuple[float, float]:
    """Return precision and recall over whole groups.

    A group of n people counts as found if some detected group contains at least k = ceil(share n) of its members and at most n - k
    other people.

    Args:
        found: (n,) detected group numbers, -1 if none.
        truth: (n,) true group numbers, -1 if none.
        share: fraction of a group that must be found: 2/3 as in Setti et al., or 1 to require exact groups.
    """
    groups = [np.unique(g[g >= 0]) for g in (found, truth)]
    right = 0
    for number in groups[1]:
        members = truth == number
        size = int(members.sum())
        enough = math.ceil(share * size - 1e-9)
        hits = np.bincount(found[members & (found >= 0)], minlength=1)
        best = int(np.argmax(hits))
        right += hits[best] >= enough and int((found == best).sum()) - hits[best] <= size - enough
    return (right / len(groups[0]) if len(groups[0]) else 1.0), (right / len(groups[1]) if len(groups[1]) else 1.0)
