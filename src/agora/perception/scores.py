"""The scores of tracks and of boxes in images against the truth.

Tracks: the CLEAR MOT measures.

K. Bernardin and R. Stiefelhagen, "Evaluating multiple object tracking performance: the CLEAR MOT metrics", EURASIP Journal on Image
and Video Processing, 2008: a track that was somebody's a moment ago stays theirs while it is near enough; the others are assigned
such that the sum of distances is the least. Hidden people do not have to be found: that is not a miss, and finding them is not
an error.

Boxes: M. Everingham et al., "The PASCAL visual object classes (VOC) challenge", International Journal of Computer Vision 88, 2010:
the most certain box comes first, and is that of a person whom it shares half of their union with and who has no box yet.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from agora.core.state import Array, Bools, Doubles, Ints

_FAR = 1e6


@dataclass
class Scores:
    """Counts over time steps, which `add` adds one after another.

    Attributes:
        distance: largest distance of a track from the person that it follows, m.
        people: number of persons to be found, summed over time steps.
        found: number of persons found.
        tracks: number of tracks, summed over time steps.
        false: number of tracks without a person.
        switches: number of times at which a person's track changed.
        place_errors: distances from the truth of the places of tracks that follow somebody, m.
        velocity_errors: distances from the truth of the velocities of tracks that follow somebody, m/s.
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
        """Count one moment.

        Args:
            person: (n,) ids of the present persons.
            place: (n, 2) m.
            velocity: (n, 2) m/s.
            in_sight: (n,) whether a person should be found.
            track: (k,) ids of the tracks.
            track_place: (k, 2) m.
            track_velocity: (k, 2) m/s.
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
        """Share of the tracks that follow somebody; 1 if there are none."""
        return 1.0 - self.false / self.tracks if self.tracks else 1.0

    @property
    def recall(self) -> float:
        """The share of the pedestrians in sight who are found; 1 where there is nobody."""
        return self.found / self.people if self.people else 1.0

    @property
    def accuracy(self) -> float:
        """MOTA: 1 - (misses + false tracks + switches) / persons to be found; 1 if there is nobody and no track."""
        wrong = self.people - self.found + self.false + self.switches
        return 1.0 - wrong / self.people if self.people else 1.0 - wrong


def true_boxes(instance: Array, is_person: Bools) -> tuple[Ints, Doubles, Ints]:
    """Return the people that a segmentation shows: ids (K,), corners (K, 4) of what is seen of them, px, and pixels (K,) seen.

    Args:
        instance: (rows, columns) id of the person that each pixel shows.
        is_person: (rows, columns) whether it shows a person.
    """
    people = np.unique(instance[is_person])
    corners, pixels = np.zeros((len(people), 4)), np.zeros(len(people), np.int32)
    for k, person in enumerate(people):
        rows, columns = np.nonzero(is_person & (instance == person))
        corners[k], pixels[k] = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1), len(rows)
    return people.astype(np.int32), corners, pixels


def shares(a: Array, b: Array) -> Doubles:
    """Return the shares (K, M) of their union that boxes (K, 4) and boxes (M, 4) have in common."""
    a, b = np.asarray(a, float)[:, None], np.asarray(b, float)[None]
    sides = np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2])
    both = sides.clip(0.0).prod(-1)
    union = (a[..., 2:] - a[..., :2]).prod(-1) + (b[..., 2:] - b[..., :2]).prod(-1) - both
    return np.asarray(np.divide(both, union, out=np.zeros_like(both), where=union > 0.0))


def whose(corners: Array, truth: Array, overlap: float = 0.5) -> Ints:
    """Return the index (K,) of the true box (M, 4) that each box (K, 4), the most certain first, has found; -1 for none."""
    shared, found = shares(corners, truth), np.full(len(corners), -1, np.int32)
    for k in range(len(corners)):
        if shared.shape[1] and shared[k].max() >= overlap:
            found[k] = shared[k].argmax()
            shared[:, found[k]] = -1.0
    return found
