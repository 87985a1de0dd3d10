"""The last step of those who yield in plain float64 Python: the twin of `agora.engine.collision_resolution.keep_apart`."""

from __future__ import annotations

import numpy as np
from tests.engine.plain_published_collision_resolution import ALL, NOTHING, World


def _allowed(gap, h):
    """Fastest closing speed, m/s: gaps are closed within 0.15 s, and open at 0.3 m/s at most."""
    return gap / max(h, 0.15) if gap > 0.0 else max(gap / h, -0.3)


class Yielding(World):
    """The velocities of one world's pedestrians, reduced by yielding; ``gait`` as the kernel reads it."""

    def __init__(self, crowd, w, minds, h, v, sees, gait):
        n = int(crowd.traits.count[w])
        self.way = np.stack([gait.way_x[w], gait.way_y[w]], -1)[:n].astype(float)
        self.held, self.door = gait.held[w, :n].astype(float), gait.door[w, :n]
        self.horizon = 1.5 * h
        super().__init__(crowd, w, minds, h, v, sees)

    def _pairs(self):
        h, self.h = self.h, self.horizon
        yield from super()._pairs()
        self.h = h

    def goes(self, i):
        return self.way[i].any()

    def pass_by(self):
        for first, second, normal, gap in self.pairs:
            for i, j, n in ((first, second, normal), (second, first, -normal)):
                opposed = self.way[i] @ self.way[j] <= -0.2
                if gap >= 0.1 or self.minds[i] != ALL or not (opposed or not self.goes(j)):
                    continue
                wish = self.wish[i]
                speed, ahead = np.hypot(*wish), wish @ n
                if ahead <= 0.5 * speed or self.walking[i] @ wish >= 0.3 * speed**2:
                    continue
                right = np.array([n[1], -n[0]])
                self.v[i] += max(0.25 * ahead - self.v[i] @ right, 0.0) * right
                if self.ids[j] < self.ids[i]:
                    self.v[i] -= max(self.v[i] @ n + 0.1 * ahead, 0.0) * n
        self.pairs = list(self._pairs())

    def turn_shoulders(self):
        """Pairs stand farther apart by what their shoulders turn."""
        turned = np.zeros(self.n)
        for i in range(self.n):
            few = 4.0 - 2.0 * self.door[i]
            if self.held[i] == 0.0 or sum(i in pair[:2] for pair in self.pairs) < few or self.radius[i] <= 0.18:
                continue
            away = [np.hypot(*(self.place[j] - self.place[i])) for j in self.used if j != i and self.way[i] @ self.way[j] > 0.5]
            crowd = sum(min(2.5 * (1.2 - d), 1.0) for d in away if d < 1.2)
            share = np.clip((crowd - few) / 3.0, 0.0, 1.0) * min(2.0 * self.held[i], 1.0)
            turned[i] = share * (self.radius[i] - 0.18)
        self.pairs = [(i, j, n, gap + turned[i] + turned[j]) for i, j, n, gap in self.pairs]
        return turned

    def ahead(self, i, j):
        """1 where j is ahead of i on the same way, -1 behind it, 0 on another."""
        if self.way[i] @ self.way[j] <= -0.2:
            return 0
        along = (self.way[i] + self.way[j]) @ (self.place[j] - self.place[i])
        if abs(along) < 1e-3:
            return 1 if self.ids[j] < self.ids[i] else -1
        return 1 if along > 0.0 else -1

    def contacts(self, shared=False):
        worst = [(0.0, np.zeros(2))] * self.n

        def note(i, take, normal):
            if take > worst[i][0]:
                worst[i] = take, normal

        for i, j, n, gap in self.pairs:
            mine, theirs = self.minds[i] == ALL, self.minds[j] == ALL
            a, b = self.v[i] @ n, -self.v[j] @ n
            much = a + b - _allowed(gap, self.h)
            if much <= 0.0 or not (mine or theirs):
                continue
            order = self.ahead(i, j)
            if mine and theirs and order and not shared:
                behind, closing = (i, a) if order > 0 else (j, b)
                take = min(much, max(closing + (0.1 if self.goes(behind) else 0.0), 0.0))
                note(i, take if behind == i else much - take, n)
                note(j, take if behind == j else much - take, -n)
                continue
            a, b = max(a, 0.0), max(b, 0.0)
            closing = min(much, a + b)
            apart = 0.5 * (much - closing)
            if mine:
                note(i, closing * a / max(a + b, 1e-12) + apart if theirs else min(closing, a) + 2.0 * apart, n)
            if theirs:
                note(j, closing * b / max(a + b, 1e-12) + apart if mine else min(closing, b) + 2.0 * apart, -n)
        for i in range(self.n):
            self.note_wall(i, note)
            for place, velocity, size in self.robots if self.by_robot[i] else []:
                distance = np.hypot(*(place - self.place[i]))
                n = (place - self.place[i]) / distance
                gap = distance - self.radius[i] - size - 0.02
                note(i, self.v[i] @ n - max(_allowed(gap, self.h) - max(-velocity @ n, 0.0), -0.3), n)
        return worst

    def settle(self):
        for turn in range(1, 9):
            taken = [(i, take, n) for i, (take, n) in enumerate(self.contacts(turn > 4)) if take > 0.0]
            for i, take, n in taken:
                self.v[i] -= take * n
            if not taken:
                break
        for i in range(self.n):
            self.note_wall(i, self._take)


def held_apart(crowd, minds, h, v, sees, gait):
    """The velocities (W, P, 2) that the last step makes of ``v``, and by how much shoulders are turned at most, m."""
    v, turned = v.astype(float), 0.0
    for w in range(len(v)):
        world = Yielding(crowd, w, minds[w], h, v[w], sees, gait)
        if world.pairs or any(world.by_wall) or any(world.by_robot):
            kept = v[w].copy()
            world.pass_by()
            turned = max(turned, world.turn_shoulders().max(initial=0.0))
            world.settle()
            world.stop()
            for i in range(world.n):
                if world.minds[i] == NOTHING:
                    v[w, i] = kept[i]
    return v, turned
