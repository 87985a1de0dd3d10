"""A plain twin of `agora.planners.local.dragon`, for one robot, in float64."""

from __future__ import annotations

import math

import numpy as np


def points_of(scan, angles, mount, farthest, pose, at):
    """The ends (B, 2) of the beams relative to the robot at ``at``, angles, ranges and whether they hit something."""
    angles = np.asarray(angles, float) + mount[2]
    span = angles[-1] - angles[0]
    if span + span / (len(angles) - 1) >= 2 * math.pi - 1e-3:
        first = int(np.argmin(np.cos(angles.astype(np.float32))))
        scan, angles = np.roll(scan, -first), np.concatenate([angles[first:], angles[:first] + 2 * math.pi])
    said = np.asarray(scan) >= 0
    scan, angles = np.asarray(scan, float)[said], angles[said]
    reach = np.minimum(scan, farthest)
    local = np.array(mount[:2]) + reach[:, None] * np.stack([np.cos(angles), np.sin(angles)], -1)
    c, s = math.cos(pose[2]), math.sin(pose[2])
    ends = local @ np.array([[c, s], [-s, c]]) + np.array(pose[:2]) - at
    return ends, angles, reach, scan < farthest


def gaps_of(ends, angles, reach, least):
    """Pairs of sides of the gaps."""
    found = []
    for step in (1, -1):
        i = 0 if step == 1 else len(ends) - 1
        while 0 <= i + step < len(ends):
            jump = np.hypot(*(ends[i + step] - ends[i]))
            if math.cos(angles[i]) < 0 or reach[i + step] <= reach[i] or jump < least:
                i += step
                continue
            beyond = range(i + step, len(ends) if step == 1 else -1, step)
            beyond = [j for j in beyond if abs(angles[j] - angles[i]) <= math.pi]
            other = min(beyond, key=lambda j: np.hypot(*(ends[j] - ends[i])))
            if np.hypot(*(ends[other] - ends[i])) >= least:
                found.append((ends[i], ends[other]))
            i = other
    return found


class Dragon:
    """The planner with its memory, for a robot of given sizes (body, gap, passage, cone, visited)."""

    def __init__(self, sizes, outline, stop, limits, dt, speed, look=1.0, cap=10.0):
        self.body, self.gap, self.passage, self.cone, self.visited = sizes
        self.outline, self.stop, self.limits, self.dt, self.speed, self.look, self.cap = outline, stop, limits, dt, speed, look, cap
        self.known, self.current = [], None  # gaps: middle, sides, visited

    def admissible(self, a, b):
        solid = self.ends[self.solid]
        way = b - a
        length = max(np.hypot(*way), 1e-6)
        if (np.hypot(*(solid - b).T) < self.body / 2).any():
            return False
        from_a = solid - a
        along, aside = from_a @ way / length, from_a @ np.array([-way[1], way[0]]) / length
        near = (along > 0) & (np.hypot(*from_a.T) <= length) & (np.abs(aside) <= self.body)
        left, right = from_a[near & (aside >= 0)], from_a[near & (aside < 0)]
        return not (np.hypot(*np.moveaxis(left[:, None] - right[None], -1, 0)) <= self.passage).any()

    def straight(self, b):
        solid, length = self.ends[self.solid], max(np.hypot(*b), 1e-6)
        along, aside = solid @ b / length, solid @ np.array([-b[1], b[0]]) / length
        return not ((along > 0) & (along < length) & (np.abs(aside) < self.body / 2)).any()

    def remember(self, at, found):
        solid = self.ends[self.solid]
        self.known = [g for g in self.known if not (np.hypot(*(solid - (g["place"] - at)).T) < self.body / 2).any()]
        for a, b in found:
            middle = (a + b) / 2 + at
            if (np.hypot(*(solid - (middle - at)).T) < self.body / 2).any():
                continue
            away = [np.hypot(*(g["place"] - middle)) for g in self.known]
            if any(d < 0.1 for d in away):
                continue
            new = {"place": middle, "sides": (a + at, b + at), "visited": False}
            for g, d in zip(self.known, away, strict=True):
                if d <= self.body / 2:
                    new["visited"] |= g["visited"] and d < 0.14
                    self.current = new if self.current is g else self.current
            self.known = [g for g, d in zip(self.known, away, strict=True) if d > self.body / 2] + [new]
        for g in self.known:
            a, b = g["sides"][0] - at, g["sides"][1] - at
            share = np.clip(-a @ (b - a) / max((b - a) @ (b - a), 1e-6), 0, 1)
            g["visited"] |= np.hypot(*(a + share * (b - a))) < self.visited
        if not any(g is self.current and not g["visited"] for g in self.known):
            self.current = None

    def choose(self, at, goal):
        """The gap to go for, None for the goal."""
        to_goal = goal - at
        if self.admissible(np.zeros(2), to_goal):
            best, b = None, to_goal
            left = np.array([-b[1], b[0]]) / np.hypot(*b) * 0.2
            sides = (b + left, b - left)
        else:
            free = [g for g in self.known if not g["visited"] and self.admissible(np.zeros(2), g["place"] - at)]
            if not free:
                return None
            best = min(free, key=lambda g: max(np.hypot(*(g["place"] - goal)) - 0.8 * (g is self.current), 0.0))
            b, sides = best["place"] - at, [side - at for side in best["sides"]]
        if self.straight(b):
            return best

        def seen(p):
            return math.remainder(math.atan2(p[1], p[0]) - math.atan2(b[1], b[0]), 2 * math.pi)

        low, high = sorted(map(seen, sides))
        between, nearest = best, b @ b - 0.01
        for g in self.known:
            p = g["place"] - at
            if g["visited"] or g is best or p @ p >= nearest or p @ b <= 0:
                continue
            first, last = sorted(seen(side - at) for side in g["sides"])
            if max(low, first) <= min(high, last) and self.admissible(np.zeros(2), p) and self.admissible(p, b):
                between, nearest = g, p @ p
        return between

    def aside(self, sensor, target, heading):
        x, y = target - sensor
        distance = math.hypot(x, y)
        if distance <= self.cone:
            return target
        bearing = math.atan2(y, x) - heading
        ray = int(np.argmin([abs(math.remainder(a - bearing, 2 * math.pi)) for a in self.angles]))
        step, reach = (self.angles[-1] - self.angles[0]) / (len(self.angles) - 1), distance
        for _ in range(10):
            length = min(reach, self.look)
            cosine = np.clip((2 * length**2 - self.cone**2) / max(2 * length * distance, 1e-3), -1, 1)
            wide = math.ceil(math.acos(cosine) / 2 / step)
            inside = np.arange(max(ray - wide, 0), min(ray + wide, len(self.angles) - 1))
            short = inside[self.reach[inside] < length]
            votes = int((short < ray).sum() - (short >= ray).sum())
            if votes == 0 or not 0 <= ray + votes < len(self.angles):
                break
            ray, reach = ray + votes, self.reach[short].min()
            angle = heading + self.angles[ray]
            target = sensor + reach * np.array([math.cos(angle), math.sin(angle)])
        return target

    def twist(self, pose, goal, scan, angles, mount):
        """(v, omega) at a pose, m and rad, for a new scan."""
        at = np.asarray(pose[:2], float)
        self.ends, self.angles, self.reach, self.solid = points_of(scan, angles, mount, self.cap, pose, at)
        self.remember(at, gaps_of(self.ends, self.angles, self.reach, self.gap))
        self.current = self.choose(at, np.asarray(goal, float))
        left = math.dist(goal, at)
        if left < self.stop:
            return 0.0, 0.0
        target = np.asarray(goal, float) - at if self.current is None else self.current["place"] - at
        c, s = math.cos(pose[2]), math.sin(pose[2])
        tx, ty = self.aside(np.array([[c, -s], [s, c]]) @ mount[:2], target, pose[2])
        error = math.atan2(c * ty - s * tx, c * tx + s * ty)
        (_, max_ax, max_omega, max_alpha), top = self.limits, min(self.speed, self.limits[0])
        fastest = min(math.pi / 2 / 0.55 * top, max_omega)
        turn = math.copysign(min(2.0 * top * abs(error), fastest), error)
        speed = min(top * (1 - abs(turn) / fastest), self.slow(left - self.stop + 0.02, max_ax))
        x, y = (self.ends @ np.array([[c, -s], [s, c]])).T
        ahead = (x >= 0) & (np.abs(y) <= self.body / 2) & self.solid
        room = (x[ahead] - self.outline[0]).min(initial=1e9) - 0.02
        room = max(room, 0.0)
        speed = min(speed, 2 * room / (self.dt + math.sqrt(self.dt**2 + 2 * room / max_ax)))
        onto = turn * self.dt + turn * abs(turn) / 2 / max_alpha
        x, y = x * math.cos(onto) + y * math.sin(onto), y * math.cos(onto) - x * math.sin(onto)
        front, back, half = self.outline
        if back > 0 and ((-back - 0.01 < x) & (x < front + 0.01) & (np.abs(y) < half + 0.01) & self.solid).any():
            turn = 0.0
        return speed, turn

    def slow(self, distance, deceleration):
        """The speed from which it stops after a distance, braking in whole steps."""
        step = deceleration * self.dt
        n = max(math.ceil(0.5 * (math.sqrt(1 + 8 * distance / (step * self.dt)) - 1)), 1)
        return distance / (n * self.dt) + 0.5 * step * (n - 1)
