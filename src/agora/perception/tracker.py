"""Multi-target tracker: updates tracks of pedestrians with the detections of each scan.

Each coordinate of a track is estimated by a constant-velocity Kalman filter with white-noise acceleration (Y. Bar-Shalom, X. R. Li
and T. Kirubarajan, Estimation with Applications to Tracking and Navigation, 2001, section 6.2.2): with spectral density q, the
process noise is Q = q [[dt^3/3, dt^2/2], [dt^2/2, dt]]. Noise is isotropic, so both coordinates share one covariance of position
and velocity (three numbers). Detections are assigned to tracks so that the sum of squared distances is minimal (`assignment`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from agora.core.jit import hidden, kernel, lean_kernel, spliced
from agora.core.kernel_record import kernel_record
from agora.core.scalar import HALF, TWO_PI, ZERO, F, atan2, sincos
from agora.core.state import Array, Bools, Floats, Ints
from agora.perception.assignment import assign
from agora.perception.groups import GroupDetector
from agora.ranges import Checked, Natural, NotNegative, Positive
from agora.world.tracks import Tracks

__all__ = ["Tracker"]

_THIRD = F(1 / 3)
_BEYOND = F(0.1)  # distance behind a person's disc that a beam must reach for the position to count as empty, m


@dataclass(frozen=True)
class Tracker(Checked):
    """Tracks pedestrians.

    Attributes:
        deviation: standard deviation of a detection from the true position, m, in addition to the detector's own estimate.
        acceleration: spectral density q of the acceleration, m2/s3.
        speed: standard deviation of the velocity of a new track, m/s.
        gate: maximum squared Mahalanobis distance between a detection and a track (9.21: 99 % quantile in two dimensions).
        farthest: maximum distance between a detection and a track, m.
        confirm: number of consecutive scans with a detection after which a new track is confirmed.
        misses: number of consecutive scans showing the position to be empty after which a track is dropped.
        keep: time for which a track that is hidden or outside the sensor's view is kept, s.
        radius: radius of a body, m.
        most: maximum number of tracks per robot.
        groups: detector of groups; two members must both be present in at least ``groups.overlap`` of the last ``window`` scans.
        window: number of scans over which groups are detected.
    """

    deviation: Positive = 0.03
    acceleration: Positive = 0.5
    speed: Positive = 1.0
    gate: Positive = 9.21
    farthest: Positive = 1.0
    confirm: Natural = 2
    misses: Natural = 3
    keep: NotNegative = 1.0
    radius: Positive = 0.3
    most: Natural = 64
    groups: GroupDetector = field(default_factory=GroupDetector)
    window: Natural = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.window < self.groups.overlap:
            raise ValueError(f"window: must be at least groups.overlap = {self.groups.overlap} scans, got {self.window}")

    def record(self) -> Any:
        """Return the parameters of `track`."""
        groups, variance = self.groups, self.deviation**2
        return TrackerParameters.of(
            self, variance=variance, group_distance=groups.distance, group_speed=groups.speed, overlap=groups.overlap
        )


TrackerParameters = kernel_record(
    "TrackerParameters", Tracker, computed=("variance", "group_distance", "group_speed"), others=("overlap",)
)
"""The tracker's parameters; ``variance`` is the square of ``deviation``, m2."""


class Filters(NamedTuple):
    """The state of N trackers with T slots each, at the time of their last scan.

    Attributes:
        x: (N, T) position, x, m, map frame.
        y: (N, T) position, y, m, map frame.
        vx: (N, T) velocity, x, m/s, map frame.
        vy: (N, T) velocity, y, m/s, map frame.
        place: (N, T) variance of each coordinate of the position, m2.
        cross: (N, T) covariance of each coordinate with its velocity, m2/s.
        motion: (N, T) variance of each component of the velocity, m2/s2.
        hits: (N, T) number of consecutive scans in which a new track was detected, until it is confirmed.
        misses: (N, T) number of consecutive scans that showed the track's position to be empty.
        unseen: (N, T) time since the last detection, s.
        used: (N, T) whether the slot holds a track.
        believed: (N, T) whether the track is confirmed.
        id: (N, T) identity of the track, counted from 1; independent of its slot.
        group: (N, T) group number, -1 if none.
        born: (N,) number of ids assigned so far.
        past: (N, K, T, 4) x, y, vx, vy after each of the last K scans.
        there: (N, K, T) whether the track was confirmed after each of these scans.
        scans: (N,) number of scans so far.
    """

    x: Floats
    y: Floats
    vx: Floats
    vy: Floats
    place: Floats
    cross: Floats
    motion: Floats
    hits: Ints
    misses: Ints
    unseen: Floats
    used: Bools
    believed: Bools
    id: Ints
    group: Ints
    born: Ints
    past: Floats
    there: Bools
    scans: Ints

    @staticmethod
    def of(rows: int, tracker: Tracker) -> Filters:
        """Return the state of trackers without tracks."""
        shape, window = (rows, tracker.most), (rows, tracker.window, tracker.most)

        def real() -> Floats:
            return np.zeros(shape, np.float32)

        def whole() -> Ints:
            return np.zeros(shape, np.int32)

        def said() -> Bools:
            return np.zeros(shape, np.bool_)

        return Filters(
            *(real(), real(), real(), real(), real(), real(), real()),
            *(whole(), whole(), real(), said(), said(), whole(), whole()),
            born=np.zeros(rows, np.int32),
            past=np.zeros((*window, 4), np.float32),
            there=np.zeros(window, np.bool_),
            scans=np.zeros(rows, np.int32),
        )

    def forget(self, rows: Array | slice) -> None:
        """Reset rows to the initial state, without tracks."""
        for array in self:
            array[rows] = 0


@spliced
def _predict(f, n, i, dt, q):
    """Predict the state of a track ``dt`` s ahead."""
    f.x[n, i] += dt * f.vx[n, i]
    f.y[n, i] += dt * f.vy[n, i]
    place, cross, motion = f.place[n, i], f.cross[n, i], f.motion[n, i]
    f.place[n, i] = place + dt * (cross + cross + dt * motion) + q * dt * dt * dt * _THIRD
    f.cross[n, i] = cross + dt * motion + HALF * q * dt * dt
    f.motion[n, i] = motion + q * dt


@spliced
def _correct(f, n, i, x, y, variance):
    """Update a track with a measured position and its variance."""
    place, cross = f.place[n, i], f.cross[n, i]
    all_of_it = place + variance
    gain, gain_motion = place / all_of_it, cross / all_of_it
    dx, dy = x - f.x[n, i], y - f.y[n, i]
    f.x[n, i] += gain * dx
    f.y[n, i] += gain * dy
    f.vx[n, i] += gain_motion * dx
    f.vy[n, i] += gain_motion * dy
    f.place[n, i] = gain * variance
    f.cross[n, i] = gain_motion * variance
    f.motion[n, i] -= gain_motion * cross


@hidden
def _is_empty(x, y, radius, beams, ranges, reach, x0, y0, heading):
    """Return whether the scan shows that a position is empty: the three beams nearest to its direction all end behind it."""
    total = ranges.size
    dx, dy = x - x0, y - y0
    away = math.sqrt(dx * dx + dy * dy)
    if away + radius > reach or total == 0:
        return False
    steps = (atan2(dy, dx) - heading - beams.angle) / beams.increment
    turn = TWO_PI / beams.increment
    steps -= turn * np.floor(steps / turn)
    middle = np.int64(steps + HALF)
    for b in range(middle - 1, middle + 2):
        k = b % total if beams.increment * F(total) > F(6.282) else b
        if not 0 <= k < total or ranges[k] <= away + radius + _BEYOND:
            return False
    return True


@hidden
def _groups(rules, f, n, link):
    """Number the groups in a row: tracks that, on average over the window, are close together and have similar velocities; see
    `GroupDetector`.
    """
    slots, window = f.used.shape[1], f.there.shape[1]
    for i in range(slots):
        link[i] = i
        f.group[n, i] = -1
    for i in range(slots):
        for j in range(i):
            if not (f.believed[n, i] and f.believed[n, j]):
                continue
            apart, faster, both = ZERO, ZERO, 0
            for k in range(window):
                if f.there[n, k, i] and f.there[n, k, j]:
                    a, b = f.past[n, k, i], f.past[n, k, j]
                    apart += math.sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]))
                    faster += math.sqrt((a[2] - b[2]) * (a[2] - b[2]) + (a[3] - b[3]) * (a[3] - b[3]))
                    both += 1
                    if apart > rules.group_distance * F(window):
                        break
            if both >= rules.overlap and apart <= rules.group_distance * F(both) and faster <= rules.group_speed * F(both):
                high, low = max(link[i], link[j]), min(link[i], link[j])
                for k in range(slots):
                    if link[k] == high:
                        link[k] = low
    number = 0
    for i in range(slots):
        if f.group[n, i] >= 0:
            continue
        members = 0
        for j in range(i + 1, slots):
            if link[j] == link[i]:
                f.group[n, j] = number
                members += 1
        if members > 0:
            f.group[n, i] = number
            number += 1


@hidden
def _weigh(rules, f, n, own, known, seen, turned, cost):
    """Write the squared distances between detections and tracks; all pairs beyond the gate get the same value."""
    beyond = rules.farthest * rules.farthest
    for k in range(known):
        i = own[k]
        for j in range(seen.count[n]):
            dx, dy = seen.x[n, j] - f.x[n, i], seen.y[n, j] - f.y[n, i]
            d2 = dx * dx + dy * dy
            near = d2 < beyond and d2 <= rules.gate * (f.place[n, i] + rules.variance + seen.variance[n, j])
            row, column = (j, k) if turned else (k, j)
            cost[row, column] = d2 if near else beyond


@spliced
def _forget_lost(rules, f, n, i):
    """Delete an undetected track if it is unconfirmed, if too many scans showed its position to be empty, or if it has been unseen
    for too long.
    """
    if not f.believed[n, i] or f.misses[n, i] >= rules.misses or f.unseen[n, i] > rules.keep:
        f.used[n, i] = f.believed[n, i] = False
        f.there[n, :, i] = False


@hidden
def _begin_tracks(rules, f, n, seen, taken):
    """Start new tracks from detections that are not assigned to any track."""
    slots = f.used.shape[1]
    for j in range(seen.count[n]):
        if taken[j]:
            continue
        free = -1
        for i in range(slots):
            if not f.used[n, i] and free < 0:
                free = i
            dx, dy = seen.x[n, j] - f.x[n, i], seen.y[n, j] - f.y[n, i]
            if f.believed[n, i] and f.unseen[n, i] == ZERO and dx * dx + dy * dy < rules.radius * rules.radius:
                free = slots  # two bodies cannot be this close to each other
        if not 0 <= free < slots:
            continue
        i = free
        f.x[n, i], f.y[n, i], f.vx[n, i], f.vy[n, i] = seen.x[n, j], seen.y[n, j], ZERO, ZERO
        f.place[n, i], f.cross[n, i] = rules.variance + seen.variance[n, j], ZERO
        f.motion[n, i] = rules.speed * rules.speed
        f.hits[n, i], f.misses[n, i], f.unseen[n, i] = 1, 0, ZERO
        f.born[n] += 1
        f.used[n, i], f.believed[n, i], f.id[n, i] = True, rules.confirm <= 1, f.born[n]


@spliced
def _remember(f, n):
    """Store the current tracks in the history of the last scans."""
    k = f.scans[n] % f.there.shape[1]
    f.scans[n] += 1
    for i in range(f.used.shape[1]):
        f.there[n, k, i] = f.believed[n, i]
        f.past[n, k, i, 0], f.past[n, k, i, 1] = f.x[n, i], f.y[n, i]
        f.past[n, k, i, 2], f.past[n, k, i, 3] = f.vx[n, i], f.vy[n, i]


@kernel
def track(rules, dt, due, seen, beams, ranges, reach, pose, f, first, last):
    """Update the tracks of rows ``first <= n < last`` with new detections.

    Args:
        rules: `TrackerParameters`.
        dt: (N,) time since the previous scan, s; 0 for the first scan.
        due: (N,) whether a row has a new scan; other rows are left unchanged.
        seen: detections, `agora.perception.detector.Detections`.
        beams: `agora.optics.lidar.Beams`.
        ranges: (N, B) ranges of the scan, m, which show which positions are empty; (N, 0) if there is no scan: undetected people
            then count as hidden.
        reach: maximum distance of detections, m.
        pose: (N, 3) poses of the robots.
        f: `Filters`.
        first: first row.
        last: one more than the last row.
    """
    slots, most = f.used.shape[1], seen.x.shape[1]
    size = max(slots, most)
    cost = np.empty((size, size), np.float32)
    partner, holder, way = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.int32)
    u, v, shortest = np.empty(size, np.float32), np.empty(size, np.float32), np.empty(size, np.float32)
    reached_row, reached_column = np.empty(size, np.bool_), np.empty(size, np.bool_)
    own, taken, link = np.empty(slots, np.int32), np.empty(most, np.bool_), np.empty(slots, np.int32)
    beyond = rules.farthest * rules.farthest
    for n in range(first, last):
        if not due[n]:
            continue
        sine, cosine = sincos(pose[n, 2])
        x0 = pose[n, 0] + cosine * beams.x - sine * beams.y
        y0 = pose[n, 1] + sine * beams.x + cosine * beams.y
        count, known = seen.count[n], np.int64(0)  # Numba treats a literal 0 as a separate type and would compile once more
        for i in range(slots):
            if f.used[n, i]:
                _predict(f, n, i, dt[n], rules.acceleration)
                own[known] = i
                known += 1
        for j in range(count):
            taken[j] = False
        turned = known > count  # `assign` requires at most as many rows as columns
        _weigh(rules, f, n, own, known, seen, turned, cost)
        rows, columns = min(known, count), max(known, count)
        assign(cost, rows, columns, partner, holder, u, v, shortest, way, reached_row, reached_column)
        for k in range(known):
            i = own[k]
            j = holder[k] if turned else partner[k]
            if j >= 0 and cost[j if turned else k, k if turned else j] < beyond:
                taken[j] = True
                _correct(f, n, i, seen.x[n, j], seen.y[n, j], rules.variance + seen.variance[n, j])
                f.unseen[n, i], f.misses[n, i] = ZERO, 0
                if not f.believed[n, i]:
                    f.hits[n, i] += 1
                    f.believed[n, i] = f.hits[n, i] >= rules.confirm
                continue
            f.unseen[n, i] += dt[n]
            empty = _is_empty(f.x[n, i], f.y[n, i], rules.radius, beams, ranges[n], reach, x0, y0, pose[n, 2])
            f.misses[n, i] = f.misses[n, i] + 1 if empty else 0
            _forget_lost(rules, f, n, i)
        _begin_tracks(rules, f, n, seen, taken)
        _remember(f, n)
        _groups(rules, f, n, link)


@lean_kernel
def tell(f, age, radius, position, velocity, sizes, present, identity, group, first, last):
    """Write the confirmed tracks, extrapolated by ``age`` (N,) seconds from the last scan, into the arrays of
    `agora.interfaces.Tracks`.
    """
    for n in range(first, last):
        for i in range(present.shape[1]):
            here = f.believed[n, i]
            present[n, i], sizes[n, i] = here, radius
            position[n, i, 0] = f.x[n, i] + age[n] * f.vx[n, i] if here else ZERO
            position[n, i, 1] = f.y[n, i] + age[n] * f.vy[n, i] if here else ZERO
            velocity[n, i, 0], velocity[n, i, 1] = (f.vx[n, i], f.vy[n, i]) if here else (ZERO, ZERO)
            identity[n, i], group[n, i] = (f.id[n, i], f.group[n, i]) if here else (np.int32(-1), np.int32(-1))


def empty_tracks(rows: int, slots: int) -> Tracks:
    """Return tracks with all slots empty."""
    shape = (rows, slots)
    return Tracks(
        position=np.zeros((*shape, 2), np.float32),
        velocity=np.zeros((*shape, 2), np.float32),
        radius=np.zeros(shape, np.float32),
        present=np.zeros(shape, np.bool_),
        id=np.full(shape, -1, np.int32),
        group=np.full(shape, -1, np.int32),
    )
