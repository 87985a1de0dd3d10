"""Facts about a control period that rewards can use in addition to outcome, progress and clearance.

`agora.interfaces.reward.Fact` explains how a reward defines its own facts.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agora.core.jit import kernel
from agora.core.path import point_ahead
from agora.core.scalar import ONE, ZERO
from agora.core.state import TYPES, Bools, Floats, Ints, freeze
from agora.errors import UnknownNameError
from agora.interfaces import Fact, Observation, Passed, Transition
from agora.learning.headings import free_heading
from agora.world.records import RUNNING

if TYPE_CHECKING:
    from agora.interfaces import Channel
    from agora.world.world import World

_FAR = np.float32(3e38)
_NOBODY = np.float32(np.inf)
_ADULT, _ELDER = TYPES.index("adult"), TYPES.index("elder")
_PERIODS = 5


def facts_of(asks: Collection[str | Fact]) -> dict[str, Fact]:
    """Return the facts that a reward requests, by name.

    Raises:
        UnknownNameError: there is no fact with this name.
    """
    for one in asks:
        if isinstance(one, str) and one not in FACTS:
            raise UnknownNameError("fact", one, FACTS)
    facts = [FACTS[one] if isinstance(one, str) else one for one in asks]
    return {fact.name: fact for fact in facts}


def channels_of(asks: Collection[str | Fact]) -> set[str | Channel]:
    """Return the channels from which the facts are computed; raises the same errors as `facts_of`."""
    return {channel for fact in facts_of(asks).values() for channel in fact.needs}


def empty(robots: int, dt: float, facts: Mapping[str, Floats]) -> Transition:
    """Return a transition that has neutral values and the given ``facts``; the caller fills in the values."""
    progress, clearance = np.zeros((2, robots), np.float32)
    return Transition(np.full(robots, RUNNING, np.int32), progress, clearance, dt, facts)


class Facts:
    """Computes facts about the robots in a batch.

    Args:
        world: the worlds.
        asks: the requested facts.
    """

    def __init__(self, world: World, asks: Collection[str | Fact]) -> None:
        self._world, self._facts = world, facts_of(asks)
        layout = world.layout
        self._command = np.zeros((2, layout.worlds * layout.robots, 3), np.float32)
        self._kept: dict[str, object] = {}

    def begin(self, twists: Floats, seen: Observation) -> None:
        """Begin a control period with the commanded twists (N, 3) and the observation on which the commands are based."""
        if not self._facts:
            return
        fresh = np.repeat(self._world.status.clock.step == 0, self._world.layout.robots)
        self._command[0] = np.where(fresh[:, None], ZERO, self._command[1])
        self._command[1] = twists
        self._kept = {name: fact.begin(seen) for name, fact in self._facts.items()}

    def read(self, seen: Observation) -> dict[str, Floats]:
        """Return the facts of the control period by name, given the observation at its end."""
        passed = Passed(seen, self._world, self._command[1], self._command[0])
        return {name: fact.read(passed, self._kept[name]) for name, fact in self._facts.items()}


def _nearest(passed: Passed, kept: None) -> Floats:
    scan = passed.observation.scan
    if scan is None:
        return np.full(len(passed.command), np.inf, np.float32)
    nearest: Floats = np.fmin.reduce(scan, axis=1)
    return np.where(np.isnan(nearest), _NOBODY, nearest)


def _robots(passed: Passed, kept: None) -> Floats:
    robots, radius = passed.world.robots, passed.world.robot_traits.radius
    dx, dy = robots.x[:, :, None] - robots.x[:, None], robots.y[:, :, None] - robots.y[:, None]
    gap = np.sqrt(dx * dx + dy * dy) - radius[:, :, None] - radius[:, None]
    others = robots.active[:, None] & ~np.eye(robots.x.shape[1], dtype=np.bool_)
    nearest: Floats = np.where(others, gap, _NOBODY).min(2).astype(np.float32)
    return nearest.reshape(-1)


def _elder(passed: Passed, kept: None) -> Floats:
    return _gap_to(passed, _ELDER)


def _adult(passed: Passed, kept: None) -> Floats:
    return _gap_to(passed, _ADULT)


def _gap_to(passed: Passed, kind: int) -> Floats:
    """Return the minimum clearance (N,) to pedestrians of one type, m; infinite if there are none."""
    world = passed.world
    people, robots = world.pedestrians, world.robots
    gap = (
        np.hypot(people.x[:, None] - robots.x[..., None], people.y[:, None] - robots.y[..., None])
        - world.traits.radius[:, None]
        - world.robot_traits.radius[..., None]
    )
    of_type = (people.active & (world.minds.type == kind))[:, None]
    nearest: Floats = np.where(of_type, gap, _NOBODY).min(2, initial=_NOBODY).astype(np.float32)
    return nearest.reshape(-1)


def _foreseen(passed: Passed, kept: None) -> Floats:
    world, dt = passed.world, passed.observation.dt
    people, robots = world.pedestrians, world.robots
    dx, dy = (one[:, None] - own[..., None] for one, own in ((people.x, robots.x), (people.y, robots.y)))
    reach = (world.traits.radius[:, None] + world.robot_traits.radius[..., None]) ** 2
    soonest = np.full(robots.x.shape, np.inf, np.float32)
    for k in range(_PERIODS, 0, -1):
        ahead = np.float32(k * dt)
        there = (dx + ahead * people.vx[:, None]) ** 2 + (dy + ahead * people.vy[:, None]) ** 2 < reach
        soonest[(there & people.active[:, None]).any(2)] = k
    return soonest.reshape(-1)


class _Route(NamedTuple):
    """The paths of N robots at the beginning of a control period, each robot's distance to its path, and the remaining length of
    the path.
    """

    path: Floats
    path_count: Ints
    before: Floats

    @staticmethod
    def of(seen: Observation) -> _Route | None:
        """Return the paths from an observation, as copies; None if the observation has no paths."""
        if seen.path is None or seen.path_count is None:
            return None
        path, count = seen.path.copy(), seen.path_count.copy()
        return _Route(path, count, _on_paths(path, count, seen.pose))

    def after(self, passed: Passed) -> Floats:
        """Return each robot's distance to its path and the remaining length of the path, (N, 2) m. The pose is taken at the end of
        the control period, the path at its beginning.
        """
        return _on_paths(self.path, self.path_count, passed.observation.pose)


def _path_distance(passed: Passed, kept: _Route | None) -> Floats:
    return np.zeros(len(passed.command), np.float32) if kept is None else kept.after(passed)[:, 0]


def _path_approach(passed: Passed, kept: _Route | None) -> Floats:
    return np.zeros(len(passed.command), np.float32) if kept is None else kept.before[:, 0] - kept.after(passed)[:, 0]


def _way(passed: Passed, kept: _Route | None) -> Floats:
    return np.zeros(len(passed.command), np.float32) if kept is None else kept.before[:, 1] - kept.after(passed)[:, 1]


def _detour(passed: Passed, kept: None) -> Floats:
    world = passed.world
    goals = world.status.goals
    x, y, heading, vx, vy, gx, gy = (
        part.reshape(-1)
        for part in (*(getattr(world.robots, name) for name in ("x", "y", "heading", "vx", "vy")), goals.x, goals.y)
    )
    place, velocity, there = people_seen(world)
    bearing = np.arctan2(gy - y, gx - x) - heading
    return np.abs(free_heading(place, velocity, there, np.hypot(vx, vy), bearing))


def people_seen(world: World) -> tuple[Floats, Floats, Bools]:
    """Return people's positions (N, P, 2) in metres and ground velocities (N, P, 2) in m/s, both in the robots' frames, and their
    presence (N, P).
    """
    people, robots, count = world.pedestrians, world.robots, world.layout.robots
    x, y, heading = (part.reshape(-1, 1) for part in (robots.x, robots.y, robots.heading))
    px, py, vx, vy = (np.repeat(part, count, 0) for part in (people.x, people.y, people.vx, people.vy))
    c, s, dx, dy = np.cos(heading), np.sin(heading), px - x, py - y
    place = np.stack([c * dx + s * dy, c * dy - s * dx], -1)
    return place, np.stack([c * vx + s * vy, c * vy - s * vx], -1), np.repeat(people.active, count, 0)


FACTS: dict[str, Fact] = {
    fact.name: fact
    for fact in (
        Fact("command", lambda passed, _: passed.command, says="(N, 3) twist requested by the action, m/s and rad/s"),
        Fact(
            "command_before",
            lambda passed, _: passed.command_before,
            says="(N, 3) twist requested in the previous control period, m/s and rad/s; 0 in the first",
        ),
        Fact("nearest", _nearest, frozenset({"scan"}), says="(N,) shortest range of the scan at the end, m"),
        Fact(
            "radius",
            lambda passed, _: passed.world.robot_traits.radius.reshape(-1),
            says="(N,) radius of the disc around the robot's footprint, m",
        ),
        Fact(
            "robots",
            _robots,
            says="(N,) smallest clearance to another robot in the world at the end, m; infinite if there is none",
        ),
        Fact("elder", _elder, says="(N,) smallest clearance to an elder at the end, m; infinite if there is none"),
        Fact("adult", _adult, says="(N,) smallest clearance to an adult at the end, m; infinite if there is none"),
        Fact(
            "foreseen",
            _foreseen,
            says="(N,) number of control periods, at most 5, until a person who continues straight ahead reaches the robot's "
            "position; otherwise infinite",
        ),
        Fact(
            "path_distance",
            _path_distance,
            frozenset({"path"}),
            _Route.of,
            "(N,) distance to the global path at the end, m; 0 without a path",
        ),
        Fact("path_approach", _path_approach, frozenset({"path"}), _Route.of, "(N,) decrease of the distance to the path, m"),
        Fact("way", _way, frozenset({"path"}), _Route.of, "(N,) distance advanced along the path, m"),
        Fact(
            "detour",
            _detour,
            says="(N,) smallest turn to a heading that is free for the next few seconds and close to the goal direction, rad",
        ),
    )
}
"""The library's facts by name."""


def _on_paths(path: Floats, path_count: Ints, pose: Floats) -> Floats:
    """Return the distances of N robots to their paths (N, K, 2), and the remaining lengths of the paths, (N, 2) m."""
    out = np.zeros((len(pose), 2), np.float32)
    _on_path(freeze(path), freeze(path_count), freeze(pose), out, 0, len(out))
    return out


@kernel
def _on_path(path, path_count, pose, out, first, last):
    """Write each row's distance to its path, and the path length from the nearest point to the end; 0 and 0 without a path."""
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
