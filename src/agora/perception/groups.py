"""Groups of people, found from places, velocities and headings.

Walking: pairs that stay near each other at the same velocity, after K. Yamaguchi et al., "Who are you with and where are you
going?", CVPR 2011 (distance, difference of velocity, overlap in time), joined where they share somebody, as the clustering of
TAGA (2025) does. Standing: each votes for the middle of the o-space that it looks at, and those whose votes meet belong together;
after M. Cristani et al., "Social interaction discovery by statistical analysis of F-formations", BMVC 2011, with one vote a person
in place of its sampled ones. Scores: F. Setti et al., "F-formation detection: individuating free-standing conversational groups in
images", PLoS ONE 10(5), 2015.
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
    """Finds walking and standing groups.

    Attributes:
        distance: largest mean distance of two people who walk together, m.
        speed: largest mean difference of their velocities, m/s.
        overlap: number of samples in which both must be present.
        standing: mean speed up to which a person counts as standing, m/s.
        stride: distance from a standing person to the centre of its o-space, m.
        meeting: largest distance of two votes, m.
    """

    distance: Positive = 1.2
    speed: Positive = 0.5
    overlap: Natural = 5
    standing: Positive = 0.3
    stride: Positive = 0.75
    meeting: Positive = 0.6

    def detect(self, position: Doubles, velocity: Doubles, heading: Doubles | None, present: Bools) -> Ints:
        """Return the number of each pedestrian's group (n,), from 0 in the order of the first members; -1 for one alone.

        Args:
            position: (T, n, 2) over a window of time, m.
            velocity: (T, n, 2) m/s.
            heading: (T, n) rad; that of the last sample in which somebody is present counts. None if it is not known: then who
                stands is judged like who walks.
            present: (T, n).
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
        """Return which pairs (n, n) of standing pedestrians look at one o-space."""
        who = np.arange(len(stands))
        place, look = position[last, who], heading[last, who]
        votes = place + self.stride * np.stack((np.cos(look), np.sin(look)), -1)
        return np.asarray((_distances(votes) <= self.meeting) & stands[:, None] & stands)


def _distances(points: Doubles) -> Doubles:
    """(k, k) distances between points (k, 2)."""
    return np.asarray(np.hypot(*(points[:, None] - points).transpose(2, 0, 1)))


def _labels(link: Bools) -> Ints:
    """Numbers (n,) of the connected parts of two or more of a graph (n, n)."""
    from scipy.sparse.csgraph import connected_components

    _, part = connected_components(link, directed=False)
    size = np.bincount(part, minlength=1)
    label = np.full(len(part), -1, np.int32)
    together = np.flatnonzero(size[part] > 1) if len(part) else np.zeros(0, int)
    _, first, number = np.unique(part[together], return_index=True, return_inverse=True)
    label[together] = np.argsort(np.argsort(first))[number]
    return label


def pair_scores(found: Ints, truth: Ints) -> tuple[float, float]:
    """Return precision and recall of the pairs of people in one group; 1 where there is nothing to be wrong about.

    Args:
        found: (n,) group numbers, -1 for none.
        truth: (n,).
    """
    upper = np.triu_indices(len(truth), 1)
    pairs = [((g[:, None] == g) & (g >= 0)[:, None])[upper] for g in (found, truth)]
    right = float((pairs[0] & pairs[1]).sum())
    said, are = float(pairs[0].sum()), float(pairs[1].sum())
    return (right / said if said else 1.0), (right / are if are else 1.0)


def group_scores(found: Ints, truth: Ints, share: float = 2 / 3) -> tuple[float, float]:
    """Return precision and recall of whole groups: one is found where enough of its members are in one, and few others.

    Of a group of n, at least k = ceil(share n) members must be in the found group, and at most n - k others.

    Args:
        found: (n,) group numbers, -1 for none.
        truth: (n,).
        share: 2/3 as in Setti et al., or 1 for groups without a fault.
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
