"""Detects pedestrians in a scan as clusters of neighbouring beams that a body or two legs can explain.

Points on obstacles in the map and on other robots, whose positions are known, are removed first. If two neighbouring beams hit the
same disc of radius R, their ranges differ by at most sqrt(2 R s - s^2), where s is the spacing of the beams, because the farther
beam hits the disc at most s from its rim. A larger difference separates two clusters. The idea of a range-dependent break is due to
G. A. Borges and M.-J. Aldon, "Line extraction in 2D range images for mobile robotics", Journal of Intelligent and Robotic Systems
40, 2004. A disc of known radius is fitted to each cluster by least squares (Gauss-Newton). If the fit is poor, the cluster is split
where two discs fit best. Legs are paired as in K. O. Arras et al., "Efficient people tracking in laser range data using a
multi-hypothesis leg-tracker with adaptive occlusion probabilities", ICRA 2008: two legs within a stride of each other belong to one
person.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from agora.core.jit import hidden, kernel, spliced
from agora.core.kernel_record import kernel_record
from agora.core.scalar import HALF, ONE, TWO, ZERO, F, sincos
from agora.core.state import Bools, Floats, Ints
from agora.optics.lidar import Lidar
from agora.ranges import Checked, NotNegative, Positive

__all__ = ["Detector"]

_POINTS = 24  # maximum number of points evaluated per cluster; they are evenly spaced
_STEPS = 5  # number of Gauss-Newton iterations
_PARTS = 16  # capacity of the stack of clusters waiting while one is split
_TINY = F(1e-9)
_TURN = F(2 * math.pi - 1e-3)
_RIM = F(0.1)  # m; a neighbouring beam that is shorter by more than this hits an object that hides part of the cluster
_FLAT = F(0.04)  # maximum deviation of a wall from its chord, m
_HALF_BODY = F(0.5)
_PER_BEAM = F(0.02)  # m


@dataclass(frozen=True)
class Detector(Checked):
    """Finds pedestrians in a scan.

    Attributes:
        radius: radius of a body, m.
        reach: maximum distance of a detection from the sensor, m.
        margin: distance from obstacles on the map within which a point is attributed to the map, m; at least two cells of the map.
        misfit: maximum root-mean-square distance of points from their disc, m; twice the lidar's noise is added to it.
        legs: whether the lidar sees legs; None uses `Lidar.legs`.
        leg_width: maximum width of one leg, m; a wider cluster, up to ``both_width``, is taken as both legs of a person.
        both_width: maximum width of both legs of a person, m.
        stride: maximum distance between the legs of one person, m.
    """

    radius: Positive = 0.3
    reach: Positive = 15.0
    margin: NotNegative = 0.15
    misfit: Positive = 0.04
    legs: bool | None = None
    leg_width: Positive = 0.2
    both_width: Positive = 0.5
    stride: Positive = 0.75

    def record(self, lidar: Lidar) -> Any:
        """Return the parameters of `detect`."""
        return Search.of(
            self,
            reach=min(self.reach, lidar.range_max),
            misfit=self.misfit + 2.0 * lidar.noise,
            noise=lidar.noise,
            legs=bool(lidar.legs if self.legs is None else self.legs),
            leg_radius=lidar.leg_radius,
        )


Search = kernel_record("Search", Detector, computed=("reach", "misfit", "noise", "leg_radius"), others=("legs",))
"""The parameters of a detector for one lidar."""


class Detections(NamedTuple):
    """The pedestrians detected in N rows, at most D per row.

    Attributes:
        x: (N, D) positions, x, m, map frame.
        y: (N, D) positions, y, m, map frame.
        variance: (N, D) variance of each coordinate, m2.
        count: (N,) number of pedestrians.
    """

    x: Floats
    y: Floats
    variance: Floats
    count: Ints  # type: ignore[assignment]

    @staticmethod
    def room(rows: int, most: int) -> Detections:
        """Return empty detections with space for ``most`` pedestrians per row."""
        x, y, variance = (np.zeros((rows, most), np.float32) for _ in range(3))
        return Detections(x, y, variance, np.zeros(rows, np.int32))


@hidden
def on_map(maps, m, x, y, margin):
    """Return whether (x, y) lies within ``margin`` (at least two cells) of an obstacle on map ``m``."""
    cell = maps.resolution[m]
    column, row = np.int64(np.floor((x - maps.origin_x[m]) / cell)), np.int64(np.floor((y - maps.origin_y[m]) / cell))
    if not (0 <= column < maps.columns[m] and 0 <= row < maps.rows[m]):
        return False
    return maps.clearance[maps.clearance_start[m] + row * maps.columns[m] + column] <= max(margin, TWO * cell)


@hidden
def _on_robot(x, y, margin, position, radius, present):
    for j in range(radius.size):
        if present[j]:
            dx, dy = x - position[j, 0], y - position[j, 1]
            reach = radius[j] + margin
            if dx * dx + dy * dy <= reach * reach:
                return True
    return False


@spliced
def _middle(points, near, start, end, radius, increment):
    """Return the expected centre, relative to the sensor, of a disc that is hit by beams start..end - 1.

    If a nearer object hides one side of the disc, the other end of the cluster is taken as the disc's rim, and the centre lies one
    radius from the rim. Otherwise, the centre lies in the middle of the cluster. The last returned value indicates whether either
    side is hidden.
    """
    left, right = end - 1, start
    far_left, far_right = points[left, 2], points[right, 2]
    ax, ay = points[left, 0] / far_left, points[left, 1] / far_left
    bx, by = points[right, 0] / far_right, points[right, 1] / far_right
    half = min(radius / (HALF * (far_left + far_right) + radius), ONE)
    sine = half - HALF * increment
    covered_left, covered_right = near[left, 1] < far_left - _RIM, near[right, 0] < far_right - _RIM
    if covered_left and not covered_right:
        cosine = math.sqrt(max(ONE - sine * sine, ZERO))
        ux, uy = cosine * bx - sine * by, sine * bx + cosine * by
    elif covered_right and not covered_left:
        cosine = math.sqrt(max(ONE - sine * sine, ZERO))
        ux, uy = cosine * ax + sine * ay, cosine * ay - sine * ax
    else:
        ux, uy = ax + bx, ay + by
        size = math.sqrt(max(ux * ux + uy * uy, _TINY))
        ux, uy = ux / size, uy / size
    away = points[(start + end) // 2, 2] + radius
    return away * ux, away * uy, covered_left or covered_right


@hidden
def _fit(points, near, start, end, radius, noise, increment):
    """Fit a disc of known radius to beams start..end - 1; return its centre, the variance, the squared misfit, and whether a side
    is hidden.
    """
    x, y, covered = _middle(points, near, start, end, radius, increment)
    expected_x, expected_y = x, y
    stride = (end - start + _POINTS - 1) // _POINTS
    scatter = noise + _PER_BEAM
    weight = (scatter / (_HALF_BODY * radius)) ** 2
    xx, yy = ONE, ONE
    for _ in range(_STEPS):
        xx, xy, yy = weight, ZERO, weight
        gx, gy = weight * (expected_x - x), weight * (expected_y - y)
        for k in range(start, end, stride):
            dx, dy = points[k, 0] - x, points[k, 1] - y
            away = math.sqrt(max(dx * dx + dy * dy, _TINY))
            dx, dy = dx / away, dy / away
            over = away - radius
            xx += dx * dx
            xy += dx * dy
            yy += dy * dy
            gx += dx * over
            gy += dy * over
        determinant = xx * yy - xy * xy
        x += (yy * gx - xy * gy) / determinant
        y += (xx * gy - xy * gx) / determinant
        xx, yy = xx / determinant, yy / determinant
    square, count = ZERO, 0
    for k in range(start, end, stride):
        dx, dy = points[k, 0] - x, points[k, 1] - y
        over = math.sqrt(dx * dx + dy * dy) - radius
        square += over * over
        count += 1
    return x, y, HALF * scatter * scatter * (xx + yy), square / F(count), covered


@spliced
def _cut(points, near, start, end, radius, noise, increment):
    """Return the beam at which a cluster is best split into two, and the combined squared misfit of the two parts."""
    stride = (end - start + _POINTS - 1) // _POINTS
    best, at = F(3e38), start
    for k in range(start + 2 * stride, end - 2 * stride + 1, stride):
        _, _, _, left, _ = _fit(points, near, start, k, radius, noise, increment)
        _, _, _, right, _ = _fit(points, near, k, end, radius, noise, increment)
        both = (F(k - start) * left + F(end - k) * right) / F(end - start)
        if both < best:
            best, at = both, k
    return at, best


@spliced
def _is_wall(points, start, end, longest):
    """Return whether a cluster is long and straight."""
    ex, ey = points[end - 1, 0] - points[start, 0], points[end - 1, 1] - points[start, 1]
    length = math.sqrt(ex * ex + ey * ey)
    if length <= longest:
        return False
    for k in range(start, end):
        aside = (points[k, 0] - points[start, 0]) * ey - (points[k, 1] - points[start, 1]) * ex
        if abs(aside) > _FLAT * length:
            return False
    return True


@hidden
def _bodies(points, near, start, end, search, increment, stack, found, count):
    """Fit discs to a cluster, splitting it if a single disc does not fit; return the number of bodies found so far."""
    top = 0
    stack[0, 0], stack[0, 1] = start, end
    while top >= 0 and count < found.shape[0]:
        a, b = np.int64(stack[top, 0]), np.int64(stack[top, 1])
        top -= 1
        ex, ey = points[b - 1, 0] - points[a, 0], points[b - 1, 1] - points[a, 1]
        width, spacing = math.sqrt(ex * ex + ey * ey), increment * points[a, 2]
        if _is_wall(points, a, b, TWO * search.radius + _RIM):
            continue
        x, y, variance, square, covered = _fit(points, near, a, b, search.radius, search.noise, increment)
        fits = square <= search.misfit * search.misfit and width <= TWO * (search.radius + search.misfit)
        if not fits and b - a >= 4:
            at, both = _cut(points, near, a, b, search.radius, search.noise, increment)
            if a < at and both < square and top + 2 < _PARTS:
                stack[top + 1, 0], stack[top + 1, 1] = at, b
                stack[top + 2, 0], stack[top + 2, 1] = a, at
                top += 2
                continue
        middle = (a + b) // 2
        behind = x * x + y * y > points[middle, 2] * points[middle, 2]
        if fits and behind and (covered or width + spacing >= HALF * search.radius):
            found[count, 0], found[count, 1], found[count, 2] = x, y, variance
            count += 1
    return count


@hidden
def _leg(points, start, end, search, increment, found, whole, count):
    """Record a narrow cluster as a leg, or a wider cluster as both legs of a person; return the number of records so far."""
    ex, ey = points[end - 1, 0] - points[start, 0], points[end - 1, 1] - points[start, 1]
    width = math.sqrt(ex * ex + ey * ey)
    if width > search.both_width or count == found.shape[0]:
        return count
    x, y = ZERO, ZERO
    for k in range(start, end):
        x += points[k, 0]
        y += points[k, 1]
    x, y = x / F(end - start), y / F(end - start)
    out = ONE + search.leg_radius / math.sqrt(max(x * x + y * y, _TINY))
    scatter = search.noise + _PER_BEAM + HALF * increment * points[start, 2]
    found[count, 0], found[count, 1], found[count, 2] = out * x, out * y, scatter * scatter
    whole[count] = width > search.leg_width
    return count + 1


@hidden
def _pair_legs(found, whole, count, stride, mate, out):
    """Combine legs into people, and return the number of people. Two legs within a stride that are each other's nearest are one
    person.
    """
    for i in range(count):
        mate[i] = -1
        best = stride * stride
        for j in range(count):
            if i == j or whole[i] or whole[j]:
                continue
            dx, dy = found[i, 0] - found[j, 0], found[i, 1] - found[j, 1]
            if dx * dx + dy * dy < best:
                best, mate[i] = dx * dx + dy * dy, j
    people = 0
    alone = F(0.25) * stride
    for i in range(count):
        j = mate[i]
        both = j >= 0 and mate[j] == i
        if both and j < i:
            continue
        x, y, variance = found[i, 0], found[i, 1], found[i, 2]
        if both:
            x, y = HALF * (x + found[j, 0]), HALF * (y + found[j, 1])
            variance = HALF * HALF * (variance + found[j, 2])
        elif not whole[i]:
            variance += alone * alone
        out[people, 0], out[people, 1], out[people, 2] = x, y, variance
        people += 1
    return people


@hidden
def _join(found, count, apart):
    """Merge detections that are closer to each other than ``apart``; return how many remain."""
    left = 0
    for i in range(count):
        x, y, variance = found[i, 0], found[i, 1], found[i, 2]
        near = -1
        for j in range(left):
            dx, dy = found[j, 0] - x, found[j, 1] - y
            if dx * dx + dy * dy < apart * apart:
                near = j
        if near < 0:
            found[left, 0], found[left, 1], found[left, 2] = x, y, variance
            left += 1
        else:
            other = found[near, 2]
            share = variance / (variance + other)
            found[near, 0] = share * found[near, 0] + (ONE - share) * x
            found[near, 1] = share * found[near, 1] + (ONE - share) * y
            found[near, 2] = share * other
    return left


@kernel
def detect(search, beams, ranges, pose, due, maps, map_index, position, radius, present, out, first, last):
    """Write the pedestrians detected in rows ``first <= n < last``.

    Args:
        search: `Search`.
        beams: `agora.optics.lidar.Beams`.
        ranges: (N, B) ranges, m.
        pose: (N, 3) poses of the robots at the moment of the scan.
        due: (N,) whether a row has a new scan; other rows are left unchanged.
        maps: `agora.core.state.Maps`.
        map_index: (N,) map of each row, -1 if none.
        position: (N, R, 2) positions of the other robots, m.
        radius: (N, R) radii of the other robots, m.
        present: (N, R) whether a slot holds a robot.
        out: `Detections`.
        first: first row.
        last: one more than the last row.
    """
    total, most = ranges.shape[1], out.x.shape[1]
    points, near = np.empty((total, 3), np.float32), np.empty((total, 2), np.float32)
    found, people = np.empty((most, 3), np.float32), np.empty((most, 3), np.float32)
    whole, mate, stack = np.empty(most, np.bool_), np.empty(most, np.int32), np.empty((_PARTS, 2), np.int32)
    beam, free = np.empty(total, np.int32), np.empty(total, np.bool_)
    body = search.leg_radius if search.legs else search.radius
    turns = beams.increment * F(total) > _TURN
    for n in range(first, last):
        if not due[n]:
            continue
        m = map_index[n]
        sine, cosine = sincos(pose[n, 2])
        x0 = pose[n, 0] + cosine * beams.x - sine * beams.y
        y0 = pose[n, 1] + sine * beams.x + cosine * beams.y
        begin = 0
        for b in range(total):
            t = ranges[n, b]
            free[b] = beams.range_min < t < search.reach
            if free[b]:
                x = x0 + t * (cosine * beams.dx[b] - sine * beams.dy[b])
                y = y0 + t * (sine * beams.dx[b] + cosine * beams.dy[b])
                known = m >= 0 and on_map(maps, m, x, y, search.margin)
                free[b] = not known and not _on_robot(x, y, search.margin, position[n], radius[n], present[n])
            if not free[b] and turns:
                begin = b  # a scan of a full circle starts at a beam that hits no one
        count = kept = start = np.int64(0)  # Numba treats a literal 0 as a separate type and would compile once more
        for i in range(total):
            b = (begin + i) % total
            if free[b]:
                t = ranges[n, b]
                points[kept, 0] = t * (cosine * beams.dx[b] - sine * beams.dy[b])
                points[kept, 1] = t * (sine * beams.dx[b] + cosine * beams.dy[b])
                points[kept, 2] = t
                near[kept, 0] = ranges[n, b - 1] if b > 0 else (ranges[n, total - 1] if turns else beams.range_max)
                near[kept, 1] = ranges[n, b + 1] if b + 1 < total else (ranges[n, 0] if turns else beams.range_max)
                beam[kept] = i
                kept += 1
        for k in range(1, kept + 1):
            if k < kept and beam[k] == beam[k - 1] + 1:
                spacing = min(beams.increment * min(points[k, 2], points[k - 1, 2]), body)
                jump = max(math.sqrt(spacing * (TWO * body - spacing)), spacing) + F(3.0) * search.noise
                if abs(points[k, 2] - points[k - 1, 2]) <= jump:
                    continue
            if k > start:
                if search.legs:
                    count = _leg(points, start, k, search, beams.increment, found, whole, count)
                else:
                    count = _bodies(points, near, start, k, search, beams.increment, stack, found, count)
            start = k
        if search.legs:
            count = _pair_legs(found, whole, count, search.stride, mate, people)
            for k in range(count):
                found[k, 0], found[k, 1], found[k, 2] = people[k, 0], people[k, 1], people[k, 2]
        count = _join(found, count, search.radius)
        for k in range(count):
            out.x[n, k], out.y[n, k], out.variance[n, k] = found[k, 0] + x0, found[k, 1] + y0, found[k, 2]
        out.count[n] = count


def no_robots(rows: int) -> tuple[Floats, Floats, Bools]:
    """Return empty arrays of positions, radii and presence, for calls of `detect` without other robots."""
    return np.zeros((rows, 0, 2), np.float32), np.zeros((rows, 0), np.float32), np.zeros((rows, 0), np.bool_)
