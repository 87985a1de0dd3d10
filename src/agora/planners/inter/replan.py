"""The interplanner that replans the path on the local costmap."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated

import numpy as np
from scipy.ndimage import label

from agora.core.recording import Reason
from agora.core.state import Array, Bools, Doubles, Floats
from agora.costmap.inflation import INSCRIBED, LETHAL, NO_INFORMATION
from agora.costmap.window import Window
from agora.interfaces import SEEN, Costmap, Declaration, Guidance, Memory, Observation
from agora.planners.global_.astar import AStar
from agora.planners.global_.search import resample
from agora.planners.inter.surroundings import unchanged
from agora.ranges import Checked, Length, NotNegative, Positive, Within

_FAR = 50.0  # m
_MORE = 2.0  # m beyond the target point within which a reachable point is searched for
_RIM = 1.0  # m
_ROOM = 0.5  # m: a path that ends this far before its target point counts as no path for a robot within this distance of its end
_SAME = 1e-3  # m, distance below which two points are the same
_OBSTACLE, _NEAR, _OPEN = np.float32(0.0), np.float32(0.51), np.float32(1.0)
_LEAST = 0.8775  # fraction of the interpolated value, because a point inside a cell near an obstacle may be below that value


@dataclass(frozen=True)
class Replan(Checked):
    """At every step, leads the robot along the cheapest path over the local costmap to a point on the global path, and from there
    along the global path.

    This is what move_base does with a rolling global costmap (Marder-Eppstein et al., ICRA 2010; ROS navigation, noetic-devel
    9ad6441, with ``planner_frequency`` equal to the controller's). Cells that the costmap has not yet covered count as free, cells
    have the same costs as in navfn, and unknown cells and cells within the inscribed radius of an obstacle are blocked. With a
    costmap built from the scan only, and a ``lookahead`` beyond the goal, the robot does not know the map, and detects a dead end
    only when it sees the closed end.

    Cells that the window has covered are remembered within a square of side ``memory`` around the robot. This includes the
    outermost metre of the window, where obstacles outside the window do not contribute costs. People in the remembered area stay at
    their last positions; if that leaves no path, everything except the window is forgotten. A completely unknown window, which
    results from a scan without valid beams, is not remembered.

    Differences from the source: the path is pulled taut, as in `AStar`, while navfn descends its potential. A robot that is too
    close to an obstacle is first led away from it, unless all cells around it are obstacles. If the target point on the path cannot
    be reached, the next reachable path point within 2 m is used, or else the path ends at the last reachable point before it. If a
    robot is more than 50 m from its path, the path is unchanged.

    If there is no path, or the robot is within 0.5 m of the end of a path that ends more than 0.5 m before its target point, the
    robot stops with the reason ``no_path``.

    Attributes:
        window: local costmap to use if the local planner reads none; otherwise the local planner's costmap is used. With the scan
            as a source, beams that hit something between ``obstacle_range`` and a longer ``raytrace_range`` clear the cells along
            their length, as in costmap_2d, so the robot may re-enter a dead end whose closed end has been cleared.
        memory: side length of the square around the robot in which cells are remembered, m; nothing outside the window is
            remembered unless the square is larger than the window.
        lookahead: distance along the path to the target point, measured from the path point nearest to the robot, m; at most 50.
        neutral: cost of crossing one cell when no obstacle is near.
        factor: weight of cell costs.
        spacing: distance between points of the new path, m.
    """

    window: Window = field(default_factory=Window)
    memory: Annotated[float, Within(0.0, 2.0 * _FAR)] = 30.0
    lookahead: Annotated[float, Within(0.0, _FAR, above=True)] = 4.0
    neutral: Positive = 50.0
    factor: NotNegative = 0.8
    spacing: Length = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self._search

    @cached_property
    def declares(self) -> Declaration:
        """The properties of the interplanner."""
        return Declaration(needs=("path", self.window), concurrent=True)

    @property
    def _search(self) -> AStar:
        """Return the search, set up for cells of length 1 and using only their costs; this also checks the shared parameters."""
        return AStar(neutral=self.neutral, factor=self.factor, inflation_radius=0.0, spacing=self.spacing)

    def guide(self, observation: Observation, memory: Memory) -> tuple[Guidance, Memory]:
        """Return the new paths, and the robots' memory: costs (N, G, G), and the positions of their windows."""
        o = observation
        assert o.path is not None and o.path_count is not None and o.costmap is not None
        shown, blind, remembered = remember(o.costmap, self.memory, memory)
        paths = []
        for n, count in enumerate(o.path_count):
            given = o.path[n, :count]
            made = given[:0] if blind[n] else self._path(given, shown, n, o.pose[n])
            if remembered and len(given) and not (len(made) or blind[n]):
                made = self._path(given, o.costmap, n, o.pose[n])
                if len(made):
                    _forget(remembered, n, o.costmap)
            paths.append(made)
        count = np.array([len(path) for path in paths], np.int32)
        path = np.zeros((len(paths), max(1, o.path.shape[1], *count), 2), np.float32)
        for n, points in enumerate(paths):
            path[n, : len(points)] = points
            path[n, len(points) :] = points[-1] if len(points) else o.pose[n, :2]
        goal = o.goal.copy()
        goal[count > 0, :2] = path[count > 0, -1]
        reason = np.where((count == 0) & (o.path_count > 0), np.int8(Reason.NO_PATH), np.int8(Reason.NONE))
        return replace(unchanged(o), path=path, path_count=count, goal=goal, reason=reason), remembered

    def _path(self, path: Floats, shown: Costmap, row: int, pose: Floats) -> Floats:
        """Return the new path (K, 2) of one robot, m; (0, 2) if there is no path, or the old path if the robot is too far from
        it.
        """
        if not len(path):
            return path
        here = pose[:2].astype(np.float64)
        along = resample(path.astype(np.float64), self.spacing)
        away = np.linalg.norm(along - here, axis=1)
        near = int(np.argmin(away))
        if away[near] > _FAR:
            return path
        walked = _lengths(along)
        last = min(int(np.searchsorted(walked, walked[near] + self.lookahead)), len(along) - 1) - near
        ahead = along[near : max(int(np.searchsorted(walked, walked[near] + self.lookahead + _MORE)), near + last + 1)]
        corner = shown.origin[row].astype(np.float64) + 0.5 * shown.resolution
        start, ends = ((place - corner) / shown.resolution for place in (here, ahead))
        cost, shift = _crop_costmap(shown.cost[row], np.vstack((start, ends)))
        clearance = np.where(cost >= LETHAL, _OBSTACLE, np.where(cost >= INSCRIBED, _NEAR, _OPEN)).astype(np.float32)
        place, points = self._find_path(clearance, cost, start + shift, ends + shift, last)
        if points is None:
            return path[:0]
        way = resample((points - shift) * shown.resolution + corner, self.spacing)
        if np.linalg.norm(ahead[place] - here) < _ROOM < walked[near + last] - walked[near + place]:
            return path[:0]
        rest = path[_lengths(path) > walked[near + place] + _SAME] if place >= last else path[:0]
        return np.concatenate((way[:-1], ahead[place : place + 1], rest)).astype(np.float32)

    def _find_path(self, clearance: Floats, cost: Array, start: Doubles, ends: Doubles, last: int) -> tuple[int, Doubles | None]:
        """Return the path, in cells, to the first of the ``ends`` (K, 2), from index ``last`` on, that is free and reachable."""
        column, row = np.floor(ends + 0.5).astype(np.int64).T
        good = clearance[row, column] == _OPEN
        for _ in range(2):
            places = np.flatnonzero(good)
            if not len(places):
                break
            place = int(places[min(int(np.searchsorted(places, last)), len(places) - 1)])
            points = self._search.cells(clearance, 1.0, np.stack((start, ends[place])), _LEAST, cost)
            if points is not None:
                return place, points
            good &= _reachable_cells(clearance, start)[row, column]
        return 0, None


def _lengths(path: Array) -> Doubles:
    """Return the distance (K,) along the path to each of its points, m."""
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path.astype(np.float64), axis=0), axis=1))])


def remember(costmap: Costmap, side: float, memory: Memory) -> tuple[Costmap, Bools, Memory]:
    """Return the windows extended by remembered cells, which rows (N,) have a completely unknown window, and the new memory.

    Args:
        costmap: windows.
        side: side length of the squares in which cells are remembered, m.
        memory: memory of the previous call.
    """
    rows, high, wide = costmap.cost.shape
    blind: Bools = (costmap.cost == NO_INFORMATION).all(axis=(1, 2))
    cells = round(side / costmap.resolution)
    above, beside = max(cells - high, 0) // 2, max(cells - wide, 0) // 2
    if not (above or beside):
        return costmap, blind, {}
    cost = np.zeros((rows, high + 2 * above, wide + 2 * beside), np.uint8)
    origin = costmap.origin.astype(np.float64)
    rim = round(_RIM / costmap.resolution)
    for n in range(rows):
        if memory and memory["begun"][n]:
            right, up = np.rint((origin[n] - memory["origin"][n]) / costmap.resolution).astype(np.int64)
            _roll(memory[SEEN]["cost"][n], cost[n], int(right), int(up))
        if not blind[n]:
            inside, window = cost[n, above : above + high, beside : beside + wide], costmap.cost[n]
            np.maximum(inside, window, out=inside)
            inside[rim : high - rim, rim : wide - rim] = window[rim : high - rim, rim : wide - rim]
    corner = (origin - np.array([beside, above]) * costmap.resolution).astype(np.float32)
    after = {SEEN: {"cost": cost}, "origin": costmap.origin.copy(), "begun": np.ones(rows, np.bool_)}
    return Costmap(cost, corner, costmap.resolution), blind, after


def _roll(old: Array, new: Array, right: int, up: int) -> None:
    """Copy the common part of two grids of equal size, where the new grid is shifted by whole cells to the right and up."""
    (high, wide), (down, left) = old.shape, (max(-up, 0), max(-right, 0))
    part = old[max(up, 0) : max(high - down, 0), max(right, 0) : max(wide - left, 0)]
    new[down : down + part.shape[0], left : left + part.shape[1]] = part


def _forget(remembered: Memory, row: int, costmap: Costmap) -> None:
    """Reduce one robot's memory to the robot's current window."""
    cost, (high, wide) = remembered[SEEN]["cost"][row], costmap.cost.shape[1:]
    above, beside = (cost.shape[0] - high) // 2, (cost.shape[1] - wide) // 2
    cost[...] = 0
    cost[above : above + high, beside : beside + wide] = costmap.cost[row]


def _crop_costmap(cost: Array, places: Doubles) -> tuple[Array, Doubles]:
    """Return the part of a costmap that contains all nonzero costs and the positions (K, 2), in cells, with a free border of one
    cell.

    Returns:
        The costs (rows, columns), uint8, and the offset (2,) of the first cell, in cells.
    """
    lines, columns = np.flatnonzero(cost.any(axis=1)), np.flatnonzero(cost.any(axis=0))
    found = np.array([[columns[0], lines[0]], [columns[-1], lines[-1]]]) if len(lines) else np.zeros((0, 2))
    cells = np.vstack((np.floor(places + 0.5), found)).astype(np.int64)
    (left, lower), (right, upper) = cells.min(axis=0) - 1, cells.max(axis=0) + 2
    part = np.zeros((upper - lower, right - left), np.uint8)
    inside = cost[max(lower, 0) : max(upper, 0), max(left, 0) : max(right, 0)]
    above, beside = max(-lower, 0), max(-left, 0)
    part[above : above + inside.shape[0], beside : beside + inside.shape[1]] = inside
    return part, np.array([-left, -lower], np.float64)


def _reachable_cells(clearance: Floats, start: Doubles) -> Bools:
    """Return the free cells that can be reached from a position (2,), or from the free cell nearest to this position."""
    part, _ = label(clearance == _OPEN)
    row, column = np.nonzero(part)
    if not len(row):
        return np.zeros(clearance.shape, np.bool_)
    nearest = int(np.argmin(np.square(column - start[0]) + np.square(row - start[1])))
    return np.asarray(part == part[row[nearest], column[nearest]])
