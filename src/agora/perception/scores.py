"""Scores of tracks, and of boxes in images, against the ground truth.

Tracks are scored by the CLEAR MOT metrics: K. Bernardin and R. Stiefelhagen, "Evaluating multiple object tracking performance: the
CLEAR MOT metrics", EURASIP Journal on Image and Video Processing, 2008. A track that was matched to a person in the previous time
step stays matched to that person while the two are close enough; the remaining tracks are assigned so that the sum of distances is
minimal. Missing a hidden person does not count as a miss, and a track of a hidden person does not count as an error.

Boxes are scored as in M. Everingham et al., "The PASCAL visual object classes (VOC) challenge", International Journal of Computer
Vision 88, 2010. Boxes are processed in order of decreasing confidence; a box is matched to an unmatched person if their
intersection over union is at least one half.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from agora.core.state import Array, Bools, Doubles, Ints

_FAR = 1e6


@dataclass
class Scores:
    """Counts accumulated over time steps by calls of `add`.

    Attributes:
        distance: maximum distance between a track and the person it is matched to, m.
        people: number of people in sight, summed over time steps.
        found: number of people in sight that are matched to a track, summed over time steps.
        tracks: number of tracks, summed over time steps.
        false: number of tracks not matched to any person, summed over time steps.
        switches: number of times that the track matched to a person changed.
        place_errors: position errors of matched tracks, m.
        velocity_errors: velocity errors of matched tracks, m/s.
    """

    distance: float = 0.5
    people: int = 0
    found: int = 0
    tracks: int = 0
    false: int = 0
    switches: int = 0
    place_errors: list[float] = field(default_factory=list)
    velocity_errors: list[float] = field(default_factory=list)
    _track_of: dict[int, int] = field(default_factory=dict)

    def add(
        self,
        person: Array,
        place: Array,
        velocity: Array,
        in_sight: Bools,
        track: Array,
        track_place: Array,
        track_velocity: Array,
    ) -> None:
        """Add one time step.

        Args:
            person: (n,) ids of the people present.
            place: (n, 2) true positions, m.
            velocity: (n, 2) true velocities, m/s.
            in_sight: (n,) whether each person is in sight, so that a missing track counts as a miss.
            track: (k,) ids of the tracks.
            track_place: (k, 2) positions of the tracks, m.
            track_velocity: (k, 2) velocities of the tracks, m/s.
        """
        from scipy.optimize import linear_sum_assignment

        apart = np.hypot(*(np.asarray(place)[:, None] - np.asarray(track_place)[None]).transpose(2, 0, 1))
        cost = np.where(apart <= self.distance, apart, _FAR)
        for i, j in np.argwhere(apart <= self.distance):
            if self._track_of.get(int(person[i])) == int(track[j]):
                kept = cost[i, j]
                cost[i], cost[:, j] = _FAR, _FAR
                cost[i, j] = kept - _FAR
        pairs = [(i, j) for i, j in zip(*linear_sum_assignment(cost), strict=True) if apart[i, j] <= self.distance]
        for i, j in pairs:
            who, now = int(person[i]), int(track[j])
            self.switches += self._track_of.get(who, now) != now
            self._track_of[who] = now
            self.found += bool(in_sight[i])
            self.place_errors.append(float(apart[i, j]))
            self.velocity_errors.append(float(np.hypot(*(np.asarray(velocity)[i] - np.asarray(track_velocity)[j]))))
        self.people += int(np.sum(in_sight))
        self.tracks += len(track)
        self.false += len(track) - len(pairs)

    @property
    def precision(self) -> float:
        """Fraction of the tracks that are matched to a person; 1 if there are no tracks."""
        return 1.0 - self.false / self.tracks if self.tracks else 1.0

    @property
    def recall(self) -> float:
        """Fraction of the people in sight that are found; 1 if no one is in sight."""
        return self.found / self.people if self.people else 1.0

    @property
    def accuracy(self) -> float:
        """MOTA: 1 - (misses + false tracks + switches) / people in sight; 1 if there are neither people nor tracks."""
        wrong = self.people - self.found + self.false + self.switches
        return 1.0 - wrong / self.people if self.people else 1.0 - wrong


def true_boxes(instance: Array, is_person: Bools) -> tuple[Ints, Doubles, Ints]:
    """Return the people in a segmentation: ids (K,), corners (K, 4) of their visible parts, px, and numbers of visible pixels (K,).

    Args:
        instance: (rows, columns) id of the person shown by each pixel.
        is_person: (rows, columns) whether the pixel shows a person.
    """
    people = np.unique(instance[is_person])
    corners, pixels = np.zeros((len(people), 4)), np.zeros(len(people), np.int32)
    for k, person in enumerate(people):
        rows, columns = np.nonzero(is_person & (instance == person))
        corners[k], pixels[k] = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1), len(rows)
    return people.astype(np.int32), corners, pixels


def shares(a: Array, b: Array) -> Doubles:
    """Return the intersection over union (K, M) of boxes (K, 4) and boxes (M, 4)."""
    a, b = np.asarray(a, float)[:, None], np.asarray(b, float)[None]
    sides = np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2])
    both = sides.clip(0.0).prod(-1)
    union = (a[..., 2:] - a[..., :2]).prod(-1) + (b[..., 2:] - b[..., :2]).prod(-1) - both
    return np.asarray(np.divide(both, union, out=np.zeros_like(both), where=union > 0.0))


def whose(corners: Array, truth: Array, overlap: float = 0.5) -> Ints:
    """Return the index (K,) of the true box (M, 4) that each box (K, 4), most confident first, is matched to; -1 if none."""
    shared, found = shares(corners, truth), np.full(len(corners), -1, np.int32)
    for k in range(len(corners)):
        if shared.shape[1] and shared[k].max() >= overlap:
            found[k] = shared[k].argmax()
            shared[:, found[k]] = -1.0
    return found
