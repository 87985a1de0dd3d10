"""The twin of `agora.perception.detector` in float64 and plain NumPy, a scan at a time."""

from __future__ import annotations

import math

import numpy as np


def plain_detect(detector, lidar, ranges, pose, maps=None, robots=(), most=64):
    """Return the people (k, 2) in a scan (B,), in the map's frame, and the variances (k,).

    Args:
        maps: store of one map, None for none.
        robots: (x, y, radius) of others.
    """
    ranges = np.asarray(ranges, float)
    angles = pose[2] + lidar.heading + lidar.angle_min + lidar.increment * np.arange(lidar.beams)
    turn = np.array([[math.cos(pose[2]), -math.sin(pose[2])], [math.sin(pose[2]), math.cos(pose[2])]])
    sensor = np.asarray(pose[:2], float) + turn @ (lidar.x, lidar.y)
    points = ranges[:, None] * np.stack((np.cos(angles), np.sin(angles)), -1)
    free = (ranges > lidar.range_min) & (ranges < min(detector.reach, lidar.range_max))
    free &= [not _explained(sensor + p, detector.margin, maps, robots) for p in points]
    legs = lidar.legs if detector.legs is None else detector.legs
    found = []
    for cluster in _clusters(lidar, ranges, free, lidar.leg_radius if legs else detector.radius):
        if len(found) < most:
            found += _leg(detector, lidar, points[cluster]) if legs else _bodies(detector, lidar, ranges, points, cluster)
    found = found[:most]
    if legs:
        found = _paired(found, detector.stride)
    joined = _joined([(np.asarray(place), variance) for place, variance, *_ in found], detector.radius)
    places = np.reshape([place for place, _ in joined], (-1, 2)) + sensor
    return places, np.array([variance for _, variance in joined])


def _explained(point, margin, maps, robots):
    if any(math.dist(point, (x, y)) <= radius + margin for x, y, radius in robots):
        return True
    if maps is None:
        return False
    cell = float(maps.resolution[0])
    column, row = math.floor((point[0] - maps.origin_x[0]) / cell), math.floor((point[1] - maps.origin_y[0]) / cell)
    if not (0 <= column < maps.columns[0] and 0 <= row < maps.rows[0]):
        return False
    return maps.clearance[maps.clearance_start[0] + row * maps.columns[0] + column] <= max(margin, 2 * cell)


def _clusters(lidar, ranges, free, body):
    """Lists of neighbouring beams, of which none is much farther than the one before; a full turn is cut open where nobody is."""
    total = lidar.beams
    turns = lidar.increment * total > 2 * math.pi - 1e-3
    begin = np.flatnonzero(~free)[-1] if turns and not free.all() else 0
    clusters, before = [], None
    for b in ((begin + i) % total for i in range(total)):
        if not free[b]:
            before = None
            continue
        if before is not None:
            spacing = min(lidar.increment * min(ranges[b], ranges[before]), body)
            jump = max(math.sqrt(spacing * (2 * body - spacing)), spacing) + 3 * lidar.noise
        if before is not None and abs(ranges[b] - ranges[before]) <= jump:
            clusters[-1].append(b)
        else:
            clusters.append([b])
        before = b
    return clusters


def _bodies(detector, lidar, ranges, points, cluster):
    waiting, found = [cluster], []
    while waiting:
        part = waiting.pop()
        chord = points[part[-1]] - points[part[0]]
        width = math.hypot(*chord)
        if width > 2 * detector.radius + 0.1:
            x, y = (points[part] - points[part[0]]).T
            if (np.abs(x * chord[1] - y * chord[0]) <= 0.04 * width).all():
                continue  # a wall
        place, variance, misfit, covered = _fit(detector, lidar, ranges, points, part)
        allowed = detector.misfit + 2 * lidar.noise
        fits = misfit <= allowed**2 and width <= 2 * (detector.radius + allowed)
        if not fits and len(part) >= 4:
            cut, both = _best_cut(detector, lidar, ranges, points, part)
            if cut and both < misfit and len(waiting) + 1 < 16:
                waiting += [part[cut:], part[:cut]]
                continue
        behind = math.hypot(*place) > ranges[part[len(part) // 2]]
        if fits and behind and (covered or width + lidar.increment * ranges[part[0]] >= detector.radius / 2):
            found.append((place, variance))
    return found


def _best_cut(detector, lidar, ranges, points, part):
    stride, best, cut = math.ceil(len(part) / 24), math.inf, 0
    for k in range(2 * stride, len(part) - 2 * stride + 1, stride):
        left = _fit(detector, lidar, ranges, points, part[:k])[2]
        right = _fit(detector, lidar, ranges, points, part[k:])[2]
        both = (k * left + (len(part) - k) * right) / len(part)
        if both < best:
            best, cut = both, k
    return cut, best


def _fit(detector, lidar, ranges, points, part):
    """Centre of the disc by least squares damped about the expected one, its variance, squared misfit, whether it is covered."""
    radius, scatter = detector.radius, lidar.noise + 0.02
    expected, covered = _expected(lidar, ranges, points, part, radius)
    seen = points[part][:: math.ceil(len(part) / 24)]
    weight, centre = (scatter / (radius / 2)) ** 2, expected
    for _ in range(5):
        offset = seen - centre
        away = np.hypot(*offset.T)
        out = offset / away[:, None]
        normal = out.T @ out + weight * np.eye(2)
        centre = centre + np.linalg.solve(normal, out.T @ (away - radius) + weight * (expected - centre))
    misfit = np.mean((np.hypot(*(seen - centre).T) - radius) ** 2)
    return centre, scatter**2 * np.trace(np.linalg.inv(normal)) / 2, misfit, covered


def _expected(lidar, ranges, points, part, radius):
    """Half a body from the side that nothing nearer covers, else in the middle; a body behind the middle beam."""
    total, turns = lidar.beams, lidar.increment * lidar.beams > 2 * math.pi - 1e-3

    def beside(b, step):
        return ranges[(b + step) % total] if turns or 0 <= b + step < total else lidar.range_max

    right, left = part[0], part[-1]
    covered_right, covered_left = beside(right, -1) < ranges[right] - 0.1, beside(left, 1) < ranges[left] - 0.1
    sides = [math.atan2(*points[b][::-1]) for b in (right, left)]
    half = math.asin(min(radius / ((ranges[left] + ranges[right]) / 2 + radius), 1.0) - lidar.increment / 2)
    if covered_left != covered_right:
        bearing = sides[0] + half if covered_left else sides[1] - half
    else:
        bearing = sides[0] + math.remainder(sides[1] - sides[0], math.tau) / 2
    away = ranges[part[len(part) // 2]] + radius
    return away * np.array([math.cos(bearing), math.sin(bearing)]), covered_left or covered_right


def _leg(detector, lidar, seen):
    width = math.dist(seen[0], seen[-1])
    if width > detector.both_width:
        return []
    middle = seen.mean(0)
    scatter = lidar.noise + 0.02 + 0.5 * lidar.increment * math.hypot(*seen[0])
    return [(middle * (1 + lidar.leg_radius / math.hypot(*middle)), scatter**2, width > detector.leg_width)]


def _paired(found, stride):
    single = [k for k, (_, _, whole) in enumerate(found) if not whole]
    mate = {}
    for i in single:
        near = [(math.dist(found[i][0], found[j][0]), j) for j in single if j != i]
        if near and min(near)[0] < stride:
            mate[i] = min(near)[1]
    people = []
    for i, (place, variance, whole) in enumerate(found):
        other = mate.get(i, -1)
        if other >= 0 and mate.get(other) == i:
            if i < other:
                people.append(((place + found[other][0]) / 2, (variance + found[other][1]) / 4))
        else:
            people.append((place, variance if whole else variance + (stride / 4) ** 2))
    return people


def _joined(found, apart):
    joined = []
    for place, variance in found:
        near = [k for k, (other, _) in enumerate(joined) if math.dist(place, other) < apart]
        if not near:
            joined.append((place, variance))
            continue
        other, doubt = joined[near[-1]]
        share = variance / (variance + doubt)
        joined[near[-1]] = (share * other + (1 - share) * place, share * doubt)
    return joined
