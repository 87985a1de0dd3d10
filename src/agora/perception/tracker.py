"""Tracks of pedestrians from detections, scan by scan.

Each coordinate of a track is a Kalman filter of constant velocity whose acceleration is white noise (Y. Bar-Shalom, X. R. Li and T.
Kirubarajan, Estimation with Applications to Tracking and Navigation, 2001, section 6.2.2): with spectral density q, Q = q [[dt^3/3,
dt^2/2], [dt^2/2, dt]]. Noise is the same in all directions, so one covariance of place and velocity, three numbers, is that of both
coordinates. Detections are assigned to tracks such that the sum of squared distances is the least (`assignment`).
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
_BEYOND = F(0.1)  # m behind somebody's place that a beam must end for the place to be empty


@dataclass(frozen=True)
class Tracker(Checked):
    """Follows pedestrians.

    Attributes:
        deviation: deviation of a detection from the true place, beyond the detector's own, m.
        acceleration: spectral density q of the acceleration, m2/s3.
        speed: deviation of the velocity of a new track, m/s.
        gate: largest squared Mahalanobis distance of a detection from a track (9.21: 99 % of a plane's).
        farthest: largest distance of the two, m.
        confirm: number of consecutive scans after which a new track is confirmed.
        misses: number of consecutive scans with an empty place after which a track is dropped.
        keep: time for which a track is kept that is hidden or outside the sensor's view, s.
        radius: radius of a body, m.
        most: largest number of tracks of a robot.
        groups: detector of groups; its ``overlap`` samples of the last ``window`` scans must be there.
        window: number of scans.
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
            raise ValueError(f"window: must be at least groups.overlap = {self.groups.overlap} scans, is {self.window}")

    def record(self) -> Any:
        """Return the parameters of `track`."""
        groups, variance = self.groups, self.deviation**2
        return TrackerParameters.of(
            self, variance=variance, group_distance=groups.distance, group_speed=groups.speed, overlap=groups.overlap
        )


TrackerParameters = kernel_record(
    "TrackerParameters", Tracker, computed=("variance", "group_distance", "group_speed"), others=("overlap",)
)
"""The variance is the square of the deviation, m2."""


class Filters(NamedTuple):
    """The state of N trackers of T slots at the time of their last scan.

    Attributes:
        x: (N, T) place, x, m, map frame.
        y: (N, T) place, y, m, map frame.
        vx: (N, T) velocity, x, m/s, map frame.
        vy: (N, T) velocity, y, m/s, map frame.
        place: (N, T) variance of either coordinate, m2.
        cross: (N, T) covariance of either coordinate with its velocity, m2/s.
        motion: (N, T) variance of that velocity, m2/s2.
        hits: (N, T) consecutive scans in which a new track was detected, until it is confirmed.
        misses: (N, T) consecutive scans in which the place was empty.
        unseen: (N, T) time since the last detection, s.
        used: (N, T) whether the slot holds a track.
        believed: (N, T) whether the track is confirmed.
        id: (N, T) identity, from 1; never a slot.
        group: (N, T) number of the group, -1 for none.
        born: (N,) number of ids given away.
        past: (N, K, T, 4) x, y, vx, vy after the last K scans.
        there: (N, K, T) whether the track was believed then.
        scans: (N,) number of scans.
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
        """Trackers that know of nobody."""
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
        """Make rows know of nobody, as at the start."""
        for array in self:
            array[rows] = 0


@spliced
def _predict(f, n, i, dt, q):
    """Continue a track for ``dt`` s."""
    f.x[n, i] += dt * f.vx[n, i]
    f.y[n, i] += dt * f.vy[n, i]
    place, cross, motion = f.place[n, i], f.cross[n, i], f.motion[n, i]
    f.place[n, i] = place + dt * (cross + cross + dt * motion) + q * dt * dt * dt * _THIRD
    f.cross[n, i] = cross + dt * motion + HALF * q * dt * dt
    f.motion[n, i] = motion + q * dt


@spliced
def _correct(f, n, i, x, y, variance):
    """Take somebody's place, seen with a variance, into a track."""
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
    """Return whether a place is seen to be empty: three beams about it end behind it."""
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
    """Number the groups of a row: tracks near each other at the same velocity, in the mean over the window; see `GroupDetector`."""
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
    """Write the squared distances between detections and tracks; all distances beyond the gate get the same value."""
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
    """Delete a track that was not seen if that is enough."""
    if not f.believed[n, i] or f.misses[n, i] >= rules.misses or f.unseen[n, i] > rules.keep:
        f.used[n, i] = f.believed[n, i] = False
        f.there[n, :, i] = False


@hidden
def _begin_tracks(rules, f, n, seen, taken):
    """Begin tracks of detections that no track explains."""
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
                free = slots  # two bodies cannot be so near
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
    """Put the tracks among those of the last scans."""
    k = f.scans[n] % f.there.shape[1]
    f.scans[n] += 1
    for i in range(f.used.shape[1]):
        f.there[n, k, i] = f.believed[n, i]
        f.past[n, k, i, 0], f.past[n, k, i, 1] = f.x[n, i], f.y[n, i]
        f.past[n, k, i, 2], f.past[n, k, i, 3] = f.vx[n, i], f.vy[n, i]


@kernel
def track(rules, dt, due, seen, beams, ranges, reach, pose, f, first, last):
    """Take detections into the tracks of rows ``first <= n < last``.

    Args:
        rules: `TrackerParameters`.
        dt: (N,) time since the scan before, s; 0 for the first.
        due: (N,) whether a row has a new scan; the others are left as they are.
        seen: detections, `agora.perception.detector.Detections`.
        beams: `agora.optics.lidar.Beams`.
        ranges: (N, B) ranges of the scan, by which places are seen to be empty, m; (N, 0) if there is none, and unseen people are
            hidden.
        reach: largest distance of detections, m.
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
        count, known = seen.count[n], np.int64(0)  # for Numba 0 is a type of its own, compiled once more
        for i in range(slots):
            if f.used[n, i]:
                _predict(f, n, i, dt[n], rules.acceleration)
                own[known] = i
                known += 1
        for j in range(count):
            taken[j] = False
        turned = known > count  # there must not be more rows than columns
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
    """Write the tracks of believed pedestrians, ``age`` (N,) s after the last scan, as `agora.interfaces.Tracks`."""
    for n in range(first, last):
        for i in range(present.shape[1]):
            here = f.believed[n, i]
            present[n, i], sizes[n, i] = here, radius
            position[n, i, 0] = f.x[n, i] + age[n] * f.vx[n, i] if here else ZERO
            position[n, i, 1] = f.y[n, i] + age[n] * f.vy[n, i] if here else ZERO
            velocity[n, i, 0], velocity[n, i, 1] = (f.vx[n, i], f.vy[n, i]) if here else (ZERO, ZERO)
            identity[n, i], group[n, i] = (f.id[n, i], f.group[n, i]) if here else (np.int32(-1), np.int32(-1))


def empty_tracks(rows: int, slots: int) -> Tracks:
    """Tracks of nobody."""
    shape = (rows, slots)
    return Tracks(
        position=np.zeros((*shape, 2), np.float32),
        velocity=np.zeros((*shape, 2), np.float32),
        radius=np.zeros(shape, np.float32),
        present=np.zeros(shape, np.bool_),
        id=np.full(shape, -1, np.int32),
        group=np.full(shape, -1, np.int32),
    )
