"""The kernel of commands in a plain form: NumPy in float64, one command at a time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from agora.interfaces import Observation
from agora.policies.command_rollouts import FEATURES
from agora.policies.commands import COMMANDS, Commands, commands_of

State = tuple[float, ...]
"""x, y, heading, vx, vy and omega in the robot's frame."""

_WALLS, _LEAST_WALL, _LEAST_GAP = (6, 7, 10, 11, 15, 16), -0.2, -0.3


class Twin:
    """What one robot sees of its commands.

    Args:
        seen: by robots.
        n: row of the robot.
        see: the encoding.
    """

    def __init__(self, seen: Observation, n: int, see: Commands) -> None:
        self.m, self.n, self.radius, self.margin = seen.limits, n, float(seen.radius[n]), see.margin
        self.here, heading = seen.pose[n, :2].astype(np.float64), float(seen.pose[n, 2])
        self.turn = np.array([[math.cos(heading), math.sin(heading)], [-math.sin(heading), math.cos(heading)]])
        self.start: State = (0.0, 0.0, 0.0, *seen.twist[n].astype(np.float64))
        self.choices = commands_of(self.m)
        self.changes = np.array([self.m.max_ax[n], self.m.max_ay[n], self.m.max_alpha[n]], np.float64)
        self.others = self._others(seen, see)
        self.walls = self._walls(seen, see)
        self.points = self._points(seen)
        self.room = [self._room(k) for k in range(len(COMMANDS))]

    def _others(self, seen: Observation, see: Commands) -> list[tuple[Any, ...]]:
        """Distance, place, velocity, radius and group of the nearest."""
        found = []
        for tracks, have_groups in ((seen.pedestrians, True), (seen.robots, False)):
            for i in np.flatnonzero(tracks.present[self.n]):
                place = self.turn @ (tracks.position[self.n, i] - self.here)
                velocity = self.turn @ tracks.velocity[self.n, i]
                group = tracks.group[self.n, i] if have_groups else -1
                found.append((np.hypot(*place), place, velocity, tracks.radius[self.n, i], group))
        return sorted((one for one in found if one[0] <= see.reach), key=lambda one: one[0])[: see.people]

    def _walls(self, seen: Observation, see: Commands) -> list[Any]:
        found, beams, (sx, sy, st) = [], seen.scan.shape[1], seen.scan_pose
        for part in range(see.sectors):
            ends = []
            for b in range(part * beams // see.sectors, (part + 1) * beams // see.sectors):
                reach, angle = float(seen.scan[self.n, b]), seen.scan_angles[b] + st
                end = np.array([sx + reach * math.cos(angle), sy + reach * math.sin(angle)])
                free = all(np.hypot(*(end - place)) >= size + 0.15 for _, place, _, size, _ in self.others)
                ends += [(reach, *end)] if free and reach < 6.0 else []
            found += [min(ends)[1:]] if ends else []
        return found + self._hidden(seen)

    def _hidden(self, seen: Observation) -> list[Any]:
        """The map's walls outside the view of the lidar, and its edge; in each of 48 directions the nearest."""
        sensor, angles, found = seen.scan_pose, seen.scan_angles, dict[int, tuple[float, ...]]()
        middle, half = sensor[2] + (angles[0] + angles[-1]) / 2, (angles[-1] - angles[0]) / 2
        for i, j in np.argwhere(seen.costmap.cost[self.n] >= 254):
            low = seen.costmap.origin[self.n] + np.array([j, i]) * seen.costmap.resolution
            point = self.turn @ (np.clip(self.here, low, low + seen.costmap.resolution) - self.here)
            dx, dy = point - sensor[:2]
            aside = math.remainder(math.atan2(dy, dx) - middle, math.tau)
            if np.hypot(*point) > 3.0 or (seen.costmap.cost[self.n, i, j] == 254 and (abs(aside) <= half or half > 3.0)):
                continue
            share = point[1] / max(abs(point[0]) + abs(point[1]), 1e-6)
            part = int(((share if point[0] >= 0 else math.copysign(2.0, share) - share) + 2.0) * 12.0)
            found[part] = min(found.get(part, (1e9,)), (np.hypot(*point), *point))
        return [one[1:] for one in found.values()]

    def _points(self, seen: Observation) -> np.ndarray:
        path = (seen.path[self.n, : seen.path_count[self.n]] - self.here) @ self.turn.T
        legs = np.diff(path, axis=0)
        lengths = np.hypot(*legs.T)
        shares = np.clip(-(path[:-1] * legs).sum(1) / np.maximum(lengths**2, 1e-6), 0.0, 1.0)
        leg = int(np.hypot(*(path[:-1] + shares[:, None] * legs).T).argmin())
        along = np.append(0.0, np.cumsum(lengths))
        stops = along[leg] + shares[leg] * lengths[leg] + np.arange(26) * 0.3
        stops = stops[stops <= along[-1]]
        points = np.stack([np.interp(stops, along, path[:, axis]) for axis in (0, 1)], 1)
        return points if len(points) == 26 else np.vstack([points, path[-1]])

    def _room(self, command: int) -> float:
        """The room that is left to walls where the robot brakes after a tenth of a second."""
        state, least = self.start, 1e9
        for step in range(9):
            state = self.onward(state, self.choices.twist[self.n, command] if step == 0 else (0.0, 0.0, 0.0), 0.1)
            least = min(least, self.wall(state))
        return least if self.choices.possible[self.n, command] else -1e9

    def onward(self, state: State, aim: Any, dt: float) -> State:
        """The state after ``dt`` s towards a twist."""
        x, y, heading, *twist = state
        vx, vy, omega = twist + np.clip(np.asarray(aim) - twist, -self.changes * dt, self.changes * dt)
        middle = heading + 0.5 * dt * omega
        x += dt * (math.cos(middle) * vx - math.sin(middle) * vy)
        y += dt * (math.sin(middle) * vx + math.cos(middle) * vy)
        return x, y, heading + dt * omega, vx, vy, omega

    def wall(self, state: State) -> float:
        """The clearance to walls, m."""
        return min((math.hypot(state[0] - x, state[1] - y) for x, y in self.walls), default=1e9) - self.radius

    def gap(self, state: State, time: float) -> float:
        """The clearance to others, m."""
        away = [np.hypot(*(place + time * v - state[:2])) - size for _, place, v, size, _ in self.others]
        return min(away, default=1e9) - self.radius

    def between(self, state: State, time: float) -> float:
        """The clearance to the lines between members of groups, m."""
        least = 1e9
        for a, one in enumerate(self.others):
            for other in self.others[:a]:
                if one[4] >= 0 and one[4] == other[4]:
                    begin, end = (each[1] + time * each[2] for each in (one, other))
                    line = end - begin
                    t = np.clip((state[:2] - begin) @ line / max(line @ line, 1e-6), 0.0, 1.0)
                    least = min(least, float(np.hypot(*(state[:2] - begin - t * line))) - self.radius)
        return least

    def nearest(self, state: State) -> int:
        """The nearest point of the path."""
        return int(np.hypot(*(self.points - state[:2]).T).argmin())

    def aim(self, state: State, number: int) -> tuple[float, float, float]:
        """Where a point of the path lies, ahead and aside, and its distance, m."""
        dx, dy = self.points[min(number, len(self.points) - 1)] - state[:2]
        c, s = math.cos(state[2]), math.sin(state[2])
        return c * dx + s * dy, c * dy - s * dx, math.hypot(dx, dy)

    def pursuit(self, state: State, speed: float) -> float:
        """The turning rate along the path."""
        if speed == 0.0:
            return 0.0
        points = int(np.clip(0.5 + 0.5 * abs(speed), 0.6, 1.5) / 0.3 + 0.5)
        forward, aside, away = self.aim(state, self.nearest(state) + points)
        top, radius = min(float(self.m.max_omega[self.n]), 2.0), float(self.m.turning_radius[self.n])
        omega = 2.0 * speed * aside / max(away**2, 0.04)
        if forward < 0.0 and speed > 0.0:
            omega = math.copysign(top, aside)
        most = min(top, abs(speed) / radius) if radius > 0 else top
        return float(np.clip(omega, -most, most))

    def values(self, command: int) -> np.ndarray:
        """The values of a command."""
        out, wanted = np.zeros(FEATURES), self.choices.twist[self.n, command].astype(np.float64)
        out[0] = self.room[command] >= min(self.margin, max(self.room) - 0.01)
        out[1:4] = wanted * [0.5, 1.0, 0.5]
        out[4:6] = (wanted - self.start[3:])[[0, 2]] / 2.0
        spans: dict[int, list[float]] = {}
        state = self.start
        for step in range(1, 5):
            state, half = self.onward(state, wanted, 0.2), (step - 1) // 2
            spans.setdefault(6 + half, []).append(self.wall(state))
            spans.setdefault(8 + half, []).append(self.gap(state, 0.2 * step))
            spans.setdefault(31, []).append(self.between(state, 0.2 * step))
        ends = [state, self.after(state, wanted, 1, spans), self.after(state, wanted, 2, spans)]
        self.after(state, wanted, 3, spans)
        for feature, found in spans.items():
            is_wall = feature in _WALLS
            out[feature] = np.clip(min(found), _LEAST_WALL, 1.0) if is_wall else np.clip(min(found), _LEAST_GAP, 1.5) / 1.5
        for kind, end in enumerate(ends):
            out[23 + kind] = self.way(end, 1.6 if kind == 0 else 6.0)
        out[26] = min(self.beside(ends[0]), 1.0)
        out[27] = min(self.beside(ends[2]), 2.0) / 2.0
        ahead, aside, away = self.aim(ends[0], self.nearest(ends[0]) + 3)
        out[28:30] = np.array([ahead, aside]) / max(away, 0.05)
        out[30] = min(self.aim(ends[0], len(self.points))[2], 2.0) / 2.0
        return out

    def after(self, state: State, wanted: Any, kind: int, spans: dict[int, list[float]]) -> State:
        """Follow the path (1), go on (2) or brake (3) until 3 s, note what is met, and return the last state."""
        for step in range(5, 16):
            turn = self.pursuit(state, wanted[0]) if kind == 1 else wanted[2]
            state = self.onward(state, (0.0, 0.0, 0.0) if kind == 3 else (wanted[0], wanted[1], turn), 0.2)
            if kind < 3:
                spans.setdefault((10 if kind == 1 else 15) + (step > 9), []).append(self.wall(state))
            first = {1: 12, 2: 17, 3: 20}[kind]
            spans.setdefault(first + (step > 7) + (step > 10), []).append(self.gap(state, 0.2 * step))
            if kind == 1 and step <= 10:
                spans.setdefault(32, []).append(self.between(state, 0.2 * step))
        return state

    def way(self, state: State, scale: float) -> float:
        """How far along the path, in ``scale`` m."""
        j = self.nearest(state)
        a, b = (j, j + 1) if j < len(self.points) - 1 else (max(j - 1, 0), j)
        line = self.points[b] - self.points[a]
        way = 0.3 * a + (state[:2] - self.points[a]) @ line / max(float(np.hypot(*line)), 1e-3)
        return float(np.clip(way, -scale, scale) / scale)

    def beside(self, state: State) -> float:
        """How far from the nearest point of the path, m."""
        return self.aim(state, self.nearest(state))[2]
