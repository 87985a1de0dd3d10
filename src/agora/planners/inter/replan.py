"""The interplanner that makes the path anew, on what the local costmap shows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from agora.core.recording import Reason
from agora.core.state import Array, Doubles, Floats
from agora.costmap.inflation import INSCRIBED, LETHAL
from agora.costmap.window import Window
from agora.errors import InputError
from agora.interfaces import Costmap, Guidance, Memory, Observation
from agora.planners.global_.astar import AStar
from agora.planners.global_.search import resample
from agora.planners.inter.surroundings import unchanged

_FAR = 50.0  # m
_MORE = 2.0  # m beyond the place in which an open one is looked for
_OBSTACLE, _NEAR, _OPEN = np.float32(0.0), np.float32(0.51), np.float32(1.0)
_LEAST = 0.8775  # of the interpolated: what is inside a cell near an obstacle is below it


@dataclass(frozen=True)
class Replan:
    """At every step lead the robot on the cheapest way over the local costmap to a place on its path, and from there along it.

    This is what move_base does with a rolling global costmap (Marder-Eppstein et al., ICRA 2010; ROS navigation, noetic-devel
    9ad6441, with ``planner_frequency`` that of the controller): what the costmap has not shown counts as free, cells cost as
    navfn's, unknown ones and those within the inscribed radius of an obstacle are closed. With a costmap of the scan alone and a
    ``lookahead`` beyond the goal the robot knows nothing of the map, and learns of a dead end when it sees its end.

    Where it differs: the way is pulled taut, as `AStar`'s is, where navfn descends its potential; a robot that stands too near to
    an obstacle is first led away from it; instead of a place that is closed it takes the next open one on the path within 2 m, or
    else the way ends at the one before.

    The window's ``obstacle_range`` should be longer than its ``raytrace_range``, against costmap_2d's defaults: beams that hit
    something beyond the first clear it on their way, and a dead end whose end vanishes is entered again and again.

    Where there is no way the robot stands, for the reason ``no_path``.

    Attributes:
        window: local costmap where the local planner reads none; else its own is used.
        memory: side of the square about where it began in which it remembers what the window has shown, m; nothing outside the
            window where it is not larger.
        lookahead: how far along the path the place is, from the point of the path nearest to the robot, m; at most 50.
        neutral: cost of a cell length far from obstacles. factor: weight of the costs of cells.
        spacing: of the points of the new path, m.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"path", "costmap"})

    window: Window = field(default_factory=lambda: Window(obstacle_range=3.5))
    memory: float = 30.0
    lookahead: float = 4.0
    neutral: float = 50.0
    factor: float = 0.8
    spacing: float = 0.1

    def __post_init__(self) -> None:
        if not 0.0 <= self.memory <= 2.0 * _FAR:
            raise InputError(f"memory: must be at least 0 m and at most {2.0 * _FAR:g} m, is {self.memory}")
        if not 0.0 < self.lookahead <= _FAR:
            raise InputError(f"lookahead: must be above 0 m and at most {_FAR:g} m, is {self.lookahead}")
        _ = self._search

    @property
    def _search(self) -> AStar:
        """Over cells of length 1 and their costs alone; checks the parameters that are its too."""
        return AStar(neutral=self.neutral, factor=self.factor, inflation_radius=0.0, spacing=self.spacing)

    def guide(self, observation: Observation, memory: Memory) -> tuple[Guidance, Memory]:
        """Return the new paths, and what the robots remember: costs (N, G, G), the corner (N, 2) of the first cell, m."""
        o = observation
        assert o.path is not None and o.path_count is not None and o.costmap is not None
        shown, remembered = _remembered(o.costmap, round(self.memory / o.costmap.resolution), memory)
        paths = [self._path(o.path[n, : o.path_count[n]], shown, n, o.pose[n]) for n in range(len(o.pose))]
        count = np.array([len(path) for path in paths], np.int32)
        path = np.zeros((len(paths), max(1, o.path.shape[1], *count), 2), np.float32)
        for n, points in enumerate(paths):
            path[n, : len(points)] = points
            path[n, len(points) :] = points[-1] if len(points) else o.pose[n, :2]
        goal = o.goal.copy()
        goal[count > 0, :2] = path[count > 0, -1]
        lost = (count == 0) & (o.path_count > 0)
        reason = np.where(lost, np.int8(Reason.NO_PATH), np.int8(Reason.NONE))
        found = replace(unchanged(o), path=path, path_count=count, goal=goal, reason=reason)
        return replace(found, twist=np.zeros_like(o.twist), overrules=lost) if lost.any() else found, remembered

    def _path(self, path: Floats, shown: Costmap, row: int, pose: Floats) -> Floats:
        """The new path of one robot (K, 2), m; (0, 2) where there is none, the old one where it is too far away."""
        if not len(path):
            return path
        here = pose[:2].astype(np.float64)
        near = int(np.argmin(np.square(path - pose[:2]).sum(axis=1)))
        ahead = path[near:].astype(np.float64)
        walked = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(ahead, axis=0), axis=1))])
        last = min(int(np.searchsorted(walked, self.lookahead)), len(ahead) - 1)
        ahead = ahead[: max(int(np.searchsorted(walked, self.lookahead + _MORE)), last + 1)]
        if np.abs(ahead - here).max() > 2.0 * _FAR:
            return path
        corner = shown.origin[row].astype(np.float64) + 0.5 * shown.resolution
        here, ahead = ((place - corner) / shown.resolution for place in (here, ahead))
        cost, shift = _about(shown.cost[row], np.vstack((here, ahead)))
        clearance = np.where(cost >= LETHAL, _OBSTACLE, np.where(cost >= INSCRIBED, _NEAR, _OPEN)).astype(np.float32)
        column, line = np.floor(ahead + shift + 0.5).astype(np.int64).T
        free = np.flatnonzero(clearance[line, column] == _OPEN)
        if not len(free):
            return path[:0]
        place = int(free[min(int(np.searchsorted(free, last)), len(free) - 1)])
        points = self._search.cells(clearance, 1.0, np.stack((here, ahead[place])) + shift, _LEAST, cost)
        if points is None:
            return path[:0]
        way = resample((points - shift) * shown.resolution + corner, self.spacing).astype(np.float32)
        way[-1] = path[near + place]
        return np.concatenate((way, path[near + place + 1 :])) if place >= last else way


def _remembered(costmap: Costmap, side: int, memory: Memory) -> tuple[Costmap, Memory]:
    """What windows show now, and outside them what they showed when they were there, within ``side`` cells; and that as memory."""
    rows, high, wide = costmap.cost.shape
    if side <= max(high, wide):
        return costmap, memory
    if memory:
        cost, corner = memory["cost"].copy(), np.where(memory["begun"][:, None], memory["corner"], costmap.origin)
        fresh = ~memory["begun"]
    else:
        cost, corner = np.zeros((rows, side, side), np.uint8), costmap.origin.copy()
        fresh = np.ones(rows, np.bool_)
    middle = np.array([(side - wide) // 2, (side - high) // 2])
    corner[fresh] -= (middle * costmap.resolution).astype(np.float32)
    for n, (right, up) in enumerate(np.rint((costmap.origin - corner) / costmap.resolution).astype(np.int64)):
        to = cost[n, max(up, 0) : max(up + high, 0), max(right, 0) : max(right + wide, 0)]
        window = costmap.cost[n, max(-up, 0) :, max(-right, 0) :]
        to[...] = window[: to.shape[0], : to.shape[1]]
    return Costmap(cost, corner, costmap.resolution), {"cost": cost, "corner": corner, "begun": np.ones(rows, np.bool_)}


def _about(cost: Array, places: Doubles) -> tuple[Array, Doubles]:
    """The part of a costmap that holds everything that costs anything and places (K, 2) in its cells, with two free cells about it.

    Returns:
        (rows, columns) uint8, and by how many cells its first lies lower (2,).
    """
    lines, columns = np.flatnonzero(cost.any(axis=1)), np.flatnonzero(cost.any(axis=0))
    found = np.array([[columns[0], lines[0]], [columns[-1], lines[-1]]]) if len(lines) else np.zeros((0, 2))
    cells = np.vstack((np.floor(places + 0.5), found)).astype(np.int64)
    (left, lower), (right, upper) = cells.min(axis=0) - 2, cells.max(axis=0) + 3
    part = np.zeros((upper - lower, right - left), np.uint8)
    inside = cost[max(lower, 0) : max(upper, 0), max(left, 0) : max(right, 0)]
    above, beside = max(-lower, 0), max(-left, 0)
    part[above : above + inside.shape[0], beside : beside + inside.shape[1]] = inside
    return part, np.array([-left, -lower], np.float64)
