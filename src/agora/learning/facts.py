"""What rewards may ask about a control period, beside the outcome, the progress and the clearance."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from agora.core.jit import kernel
from agora.core.path import point_ahead
from agora.core.scalar import ONE, ZERO
from agora.core.state import TYPES, Array, Bools, Floats, frozen
from agora.errors import UnknownNameError
from agora.learning.rewards import Transition
from agora.world.records import RUNNING

if TYPE_CHECKING:
    from agora.episode import Batch

FACTS = {
    "command": "(N, 3) twist that the action asked for, m/s and rad/s",
    "command_before": "(N, 3) that of the control period before; 0 in the first",
    "nearest": "(N,) shortest range of the scan at the end, m",
    "radius": "(N,) of the disc about the robot's footprint, m",
    "robots": "(N,) smallest clearance to another robot of the world at the end, m; infinite where there is none",
    "elder": "(N,) smallest clearance to an elder at the end, m; infinite where there is none",
    "foreseen": "(N,) in how many control periods, at most 5, somebody who walks straight on is where the robot is; else infinite",
    "path_distance": "(N,) distance to the global path at the end, m; 0 without a path",
    "path_approach": "(N,) how much nearer the robot came to its path, m",
    "way": "(N,) how much of the path it left behind, m",
    "detour": "(N,) least turn to a heading that is free for the next seconds and near to the goal's, rad",
}
"""Names of facts, with what they are."""

_CHANNELS = {"nearest": "scan", "path_distance": "path", "path_approach": "path", "way": "path"}
_WIDE = {"command", "command_before"}
_FAR = np.float32(3e38)
_ELDER = TYPES.index("elder")
_PERIODS = 5
_HEADINGS, _ROOM, _SEEN = 60, 0.9, 8.0  # of the velocity obstacles: how many; m; m


def channels_of(facts: Collection[str]) -> set[str]:
    """Return the channels that facts are read from.

    Raises:
        UnknownNameError: no such fact.
    """
    for name in facts:
        if name not in FACTS:
            raise UnknownNameError("fact", name, FACTS)
    return {_CHANNELS[name] for name in facts if name in _CHANNELS}


def empty(robots: int, dt: float, facts: Collection[str]) -> Transition:
    """Return a transition of so many robots that goes on and brought nothing, to be filled in."""
    held = {name: np.zeros((robots, 3) if name in _WIDE else robots, np.float32) for name in facts}
    progress, clearance = np.zeros((2, robots), np.float32)
    return Transition(np.full(robots, RUNNING, np.int32), progress, clearance, dt, held)


class Facts:
    """Takes down facts of the robots of a batch.

    Args:
        batch: the worlds.
        names: facts that are wanted.
    """

    def __init__(self, batch: Batch, names: Collection[str]) -> None:
        self._batch, self._names = batch, frozenset(names)
        layout = batch.world.layout
        rows = layout.worlds * layout.robots
        self._command = np.zeros((2, rows, 3), np.float32)
        self._paths = np.zeros((2, rows, 2), np.float32)  # before and after: distance to the path, and the way left
        self._on_paths = bool(self._names & {"path_distance", "path_approach", "way"})

    def begin(self, twists: Floats) -> None:
        """Begin a control period with the twists (N, 3) that are asked for."""
        if not self._names:
            return
        world = self._batch.world
        fresh = np.repeat(world.status.clock.step == 0, world.layout.robots)
        self._command[0] = np.where(fresh[:, None], ZERO, self._command[1])
        self._command[1] = twists
        if self._on_paths:
            self._look_at_paths(0)

    def end(self) -> None:
        """End the control period, before the robots get new goals and paths."""
        if self._on_paths:
            self._look_at_paths(1)

    def _look_at_paths(self, side: int) -> None:
        o = self._batch.observer.observe()
        if o.path is not None and o.path_count is not None:
            out = self._paths[side]
            _on_path(frozen(o.path), frozen(o.path_count), frozen(o.pose), out, 0, len(out))

    def read(self) -> dict[str, Floats]:
        """Return the facts of the control period by name."""
        return {name: getattr(self, f"_{name}_")() for name in self._names}

    def _command_(self) -> Floats:
        command: Floats = self._command[1]
        return command

    def _command_before_(self) -> Floats:
        before: Floats = self._command[0]
        return before

    def _nearest_(self) -> Floats:
        scan = self._batch.observer.observe().scan
        if scan is None:
            return np.full(len(self._paths[0]), np.inf, np.float32)
        nearest: Floats = np.fmin.reduce(scan, axis=1)
        return np.where(np.isnan(nearest), np.float32(np.inf), nearest)

    def _radius_(self) -> Floats:
        radius: Floats = self._batch.world.robot_traits.radius.reshape(-1)
        return radius

    def _robots_(self) -> Floats:
        world = self._batch.world
        robots, radius = world.robots, world.robot_traits.radius
        dx, dy = robots.x[:, :, None] - robots.x[:, None], robots.y[:, :, None] - robots.y[:, None]
        gap = np.sqrt(dx * dx + dy * dy) - radius[:, :, None] - radius[:, None]
        others = robots.active[:, None] & ~np.eye(robots.x.shape[1], dtype=np.bool_)
        nearest: Floats = np.where(others, gap, np.float32(np.inf)).min(2).astype(np.float32)
        return nearest.reshape(-1)

    def _elder_(self) -> Floats:
        world = self._batch.world
        people, robots = world.pedestrians, world.robots
        gap = (
            np.hypot(people.x[:, None] - robots.x[..., None], people.y[:, None] - robots.y[..., None])
            - world.traits.radius[:, None]
            - world.robot_traits.radius[..., None]
        )
        elders = (people.active & (world.minds.type == _ELDER))[:, None]
        nearest: Floats = np.where(elders, gap, np.float32(np.inf)).min(2, initial=np.float32(np.inf)).astype(np.float32)
        return nearest.reshape(-1)

    def _foreseen_(self) -> Floats:
        world, dt = self._batch.world, self._batch.conditions.periods.control
        people, robots = world.pedestrians, world.robots
        dx, dy = (one[:, None] - own[..., None] for one, own in ((people.x, robots.x), (people.y, robots.y)))
        reach = (world.traits.radius[:, None] + world.robot_traits.radius[..., None]) ** 2
        soonest = np.full(robots.x.shape, np.inf, np.float32)
        for k in range(_PERIODS, 0, -1):
            ahead = np.float32(k * dt)
            there = (dx + ahead * people.vx[:, None]) ** 2 + (dy + ahead * people.vy[:, None]) ** 2 < reach
            soonest[(there & people.active[:, None]).any(2)] = k
        return soonest.reshape(-1)

    def _path_distance_(self) -> Floats:
        distance: Floats = self._paths[1, :, 0]
        return distance

    def _path_approach_(self) -> Floats:
        nearer: Floats = self._paths[0, :, 0] - self._paths[1, :, 0]
        return nearer

    def _way_(self) -> Floats:
        behind: Floats = self._paths[0, :, 1] - self._paths[1, :, 1]
        return behind

    def _detour_(self) -> Floats:
        world = self._batch.world
        people, robots, goals = world.pedestrians, world.robots, world.status.goals
        x, y, heading, vx, vy = (part.reshape(-1) for part in (robots.x, robots.y, robots.heading, robots.vx, robots.vy))
        px, py, pvx, pvy = (np.repeat(part, world.layout.robots, 0) for part in (people.x, people.y, people.vx, people.vy))
        there: Bools = np.repeat(people.active, world.layout.robots, 0)
        c, s = np.cos(heading)[:, None], np.sin(heading)[:, None]
        dx, dy = px - x[:, None], py - y[:, None]
        place = np.stack([c * dx + s * dy, c * dy - s * dx], -1)
        velocity = np.stack([c * pvx + s * pvy, c * pvy - s * pvx], -1)
        gx, gy = goals.x.reshape(-1) - x, goals.y.reshape(-1) - y
        goal = np.arctan2(c[:, 0] * gy - s[:, 0] * gx, c[:, 0] * gx + s[:, 0] * gy)
        return free_heading(place, velocity, there, np.hypot(vx, vy), goal)


def free_heading(place: Array, velocity: Array, present: Bools, speed: Array, goal: Array) -> Floats:
    """Return the free heading (N,) that is nearest to the goal's, as the size of the turn to it, rad (Xie and Dames 2023).

    A heading is taken where the relative velocity points into the disc of 0.9 m about a pedestrian within 8 m. Where all are taken,
    the turn is pi.

    Args:
        place: (N, P, 2) of pedestrians in the robot's frame, m.
        velocity: (N, P, 2) over ground in the robot's frame, m/s.
        present: (N, P) bool.
        speed: (N,) of the robot, m/s.
        goal: (N,) bearing of the goal, rad.
    """
    headings = np.linspace(-np.pi, np.pi, _HEADINGS, endpoint=False)
    away = np.hypot(place[..., 0], place[..., 1])
    near = present & (away < _SEEN)
    half = np.arcsin(np.minimum(1.0, _ROOM / np.maximum(away, _ROOM)))[..., None]
    u = speed[:, None, None] * np.cos(headings) - velocity[..., :1], speed[:, None, None] * np.sin(headings) - velocity[..., 1:]
    along = u[0] * place[..., :1] + u[1] * place[..., 1:]
    angle = np.arctan2(np.abs(u[0] * place[..., 1:] - u[1] * place[..., :1]), along)
    taken: Bools = (near[..., None] & (((angle < half) & (along > 0)) | (away[..., None] <= _ROOM))).any(1)
    off = np.abs((headings - goal[:, None] + np.pi) % (2 * np.pi) - np.pi)
    best = np.argmin(np.where(taken, np.inf, off), 1)
    return np.where(taken.all(1), np.pi, np.abs(headings[best])).astype(np.float32)


@kernel
def _on_path(path, path_count, pose, out, first, last):
    """Write each row's distance to its path, and the way from the path's nearest point to its end; 0 without a path."""
    for n in range(first, last):
        x, y, best = pose[n, 0], pose[n, 1], _FAR
        for k in range(path_count[n] - 1):
            ax, ay = path[n, k, 0], path[n, k, 1]
            dx, dy = path[n, k + 1, 0] - ax, path[n, k + 1, 1] - ay
            length2 = dx * dx + dy * dy
            t = min(max(((x - ax) * dx + (y - ay) * dy) / length2, ZERO), ONE) if length2 > ZERO else ZERO
            ox, oy = ax + t * dx - x, ay + t * dy - y
            best = min(best, ox * ox + oy * oy)
        _, _, _, way = point_ahead(path[n], path_count[n], x, y, ZERO)
        out[n, 0] = math.sqrt(best) if best < _FAR else ZERO
        out[n, 1] = way
