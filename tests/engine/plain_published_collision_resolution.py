"""The twin of `agora.engine.published_collision_resolution.keep_apart_as_published` in plain float64 Python."""

from __future__ import annotations

import numpy as np
from tests.pedestrians.twins import clearance

ALL, ROBOTS, NOTHING = range(3)


def _allowed(gap, h):
    """Fastest closing speed that keeps a gap open, m/s; those who overlap are parted at 0.3 m/s at most."""
    return max(gap / h, -0.3 if gap <= 0 else 0.0)


class World:
    """The velocities ``v`` (P, 2) of one world's pedestrians, reduced within a substep of ``h`` s."""

    def __init__(self, crowd, w, minds, h, v, sees):
        people, traits, robots = crowd.pedestrians, crowd.traits, crowd.robots
        self.crowd, self.w, self.h, self.minds = crowd, w, h, minds
        n = int(traits.count[w])
        self.n, self.v, self.radius, self.ids = n, v[:n], traits.radius[w, :n].astype(float), traits.id[w, :n]
        self.minds = [minds[i] if people.active[w, i] else NOTHING for i in range(n)]
        self.place = np.stack([people.x[w], people.y[w]], -1)[:n].astype(float)
        self.walking = np.stack([people.vx[w], people.vy[w]], -1)[:n].astype(float)
        goal = np.stack([crowd.waypoints.x[w], crowd.waypoints.y[w]], -1)[:n].astype(float)
        way = goal - self.place
        length = np.hypot(*way.T)
        self.wish = np.where(length > self.radius, traits.speed[w, :n] / np.maximum(length, 1e-12), 0.0)[:, None] * way
        seen = np.flatnonzero(robots.active[w]) if sees & 2 else []
        self.robots = [
            (
                np.array([robots.x[w, r], robots.y[w, r]], float),
                np.array([robots.world_vx[w, r], robots.world_vy[w, r]], float),
                float(crowd.robot_traits.radius[w, r]),
            )
            for r in seen
        ]
        self.used = np.flatnonzero(people.active[w, :n]) if sees & 1 else []
        self.pairs = list(self._pairs())
        step = (np.hypot(*self.v.T) + 0.3 + 0.6 * traits.speed[w, :n]) * h
        self.by_wall = [self.minds[i] != NOTHING and self.wall(i)[0] < self.radius[i] + step[i] for i in range(n)]
        self.by_robot = [
            self.minds[i] != NOTHING
            and any(np.hypot(*(p - self.place[i])) < self.radius[i] + size + 0.02 + step[i] for p, _, size in self.robots)
            for i in range(n)
        ]

    def wall(self, i):
        return clearance(self.crowd.maps, self.crowd.maps.index[self.w], *self.place[i])

    def _pairs(self):
        used = self.used
        if not len(used):
            return
        reach = 2.0 * (self.radius[used].max() + np.hypot(*self.v[used].T).max() * self.h)
        for a, i in enumerate(used):
            for j in used[a + 1 :]:
                distance = np.hypot(*(self.place[j] - self.place[i]))
                if distance < reach:
                    yield i, j, (self.place[j] - self.place[i]) / distance, distance - self.radius[i] - self.radius[j] - 0.001

    def give_way(self):
        for first, second, normal, gap in self.pairs:
            for i, j, n in ((first, second, normal), (second, first, -normal)):
                wish = self.wish[i]
                speed, ahead = np.hypot(*wish), wish @ n
                if gap >= 0.1 or self.minds[i] != ALL or ahead <= 0.5 * speed or wish @ self.wish[j] > 0.0:
                    continue
                if self.walking[i] @ wish < 0.3 * speed**2:
                    back = 0.2 if self.ids[j] < self.ids[i] else 0.0
                    self.v[i] += ahead * (0.4 * np.array([n[1], -n[0]]) - back * n)
        self.pairs = list(self._pairs())

    def contacts(self):
        """For each pedestrian the speed that its worst contact takes, m/s, and the direction."""
        worst = [(0.0, np.zeros(2))] * self.n

        def note(i, take, normal):
            if take > worst[i][0]:
                worst[i] = take, normal

        for i, j, n, gap in self.pairs:
            mine, theirs = self.minds[i] == ALL, self.minds[j] == ALL
            a, b = self.v[i] @ n, -self.v[j] @ n
            much = a + b - _allowed(gap, self.h)
            if much <= 0.0:
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
                n = (place - self.place[i]) / np.hypot(*(place - self.place[i]))
                gap = np.hypot(*(place - self.place[i])) - self.radius[i] - size - 0.02
                note(i, self.v[i] @ n - max(_allowed(gap, self.h) - max(-velocity @ n, 0.0), -0.3), n)
        return worst

    def note_wall(self, i, note):
        if self.by_wall[i]:
            distance, away = self.wall(i)
            note(i, -self.v[i] @ away - max(distance - self.radius[i], 0.0) / self.h, -away)

    def settle(self):
        for _ in range(4):
            taken = [(i, take, n) for i, (take, n) in enumerate(self.contacts()) if take > 0.0]
            for i, take, n in taken:
                self.v[i] -= take * n
            if not taken:
                break
        for i in range(self.n):
            self.note_wall(i, self._take)

    def _take(self, i, take, normal):
        if take > 0.0:
            self.v[i] -= take * normal

    def stop(self):
        turn, stopped = 0, True
        while stopped:
            stopped, keep = False, 1.0 if turn < 4 else 0.0
            turn += 1
            for i, j, n, gap in self.pairs:
                a, b = self.v[i] @ n, -self.v[j] @ n
                slow = 0.01 if gap > -0.001 else 0.0005
                if a + b <= max(gap, 0.0) / self.h + slow:
                    continue
                for k, ahead, normal in ((i, a, n), (j, b, -n)):
                    if ahead > 0.4 * slow and self.minds[k] == ALL:
                        self.v[k], stopped = keep * (self.v[k] - ahead * normal), True


def held_back(crowd, minds, h, v, sees):
    """The velocities (W, P, 2) that the last step makes of ``v``; ``minds`` (W, P) whom a pedestrian's model minds."""
    v = v.astype(float)
    for w in range(len(v)):
        world = World(crowd, w, minds[w], h, v[w], sees)
        if world.pairs or any(world.by_wall) or any(world.by_robot):
            kept = v[w].copy()
            world.give_way()
            world.settle()
            world.stop()
            for i in range(world.n):
                if world.minds[i] == NOTHING:
                    v[w, i] = kept[i]
    return v
