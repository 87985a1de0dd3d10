"""The contract for global planners."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from agora.core.state import Floats
from agora.interfaces import GlobalPlanner, PathRequest
from agora.maps.grid import Map
from agora.testing.crowds import hall
from agora.testing.errors import ContractError
from agora.testing.guard import pure
from agora.testing.scenes import Move

_RADIUS = 0.35
_ENDS = (
    ((-2.9, 4.3, 0.4), (7.9, 9.4, math.nan)),
    ((-3.1, 9.7, -1.9), (-2.6, 3.1, -2.3)),
    ((8.6, 3.3, math.nan), (3.3, 9.8, math.nan)),
    ((2.0, 4.0, 0.7), (2.04, 4.03, math.nan)),
)


_MOVES = {
    "moved by whole cells": Move(32.0, -16.0),
    "moved by a kilometre and 24 m": Move(1024.0, -1024.0),
    "turned by a quarter": Move(turn=0.5 * math.pi),
    "mirrored": Move(mirror=True),
}
"""Rigid motions of the whole map that preserve its distance field."""


def check_global_planner(planner: GlobalPlanner, *, oriented: bool = False) -> None:
    """Check a global planner against the contract of `agora.interfaces`.

    Paths are finite, of shape (K, 2) or (K, 3), and lead from the start to the goal. They keep a distance of at least the robot's
    radius from walls, to within half a cell, and keep the whole disc on the map, to within one cell. If the goal is in a wall, off
    the map, behind walls without a door, or behind a gap between a wall and the border that is too narrow, the planner returns no
    path and raises no error. The same call gives bit-identical results; inputs are not written, and no global random generator is
    used. If the map is shifted by whole cells, rotated by a quarter turn or mirrored, the path has the same length.

    Args:
        planner: planner to check.
        oriented: whether the length of the path may differ if the map is rotated or mirrored, as for planners that sample random
            positions or keep one pose per cell, such as hybrid A*.

    Raises:
        ContractError: the planner breaks a clause.
    """
    check = _Check(planner, type(planner).__name__)
    here = hall()
    moves = {words: move for words, move in _MOVES.items() if not (oriented and (move.turn or move.mirror))}
    halls = {words: hall(move) for words, move in moves.items()}
    for start, goal in _ENDS:
        where = f"{start} to {goal}"
        path = check.finds(here, start, goal, where)
        again = check.finds(here, start, goal, where)
        if not np.array_equal(path, again):
            raise check.fail(f"{where}: not deterministic: different paths for the same request")
        for words, move in moves.items():
            begin, end = (move.poses(np.array(pose)) for pose in (start, goal))
            moved = check.ask(halls[words], begin, end, f"{where}, {words}")
            if moved is None or abs(_length(moved) - _length(path)) > 0.01 * _length(path) + 0.01:
                raise check.fail(f"{where}: on the map {words}, the path differs")
    check.finds(here, (-3.6, 7.1, 0.9), (8.4, 7.0, math.nan), "a start nearer to the wall than the radius", begins_close=True)
    yard = _yard(1.2)
    check.finds(yard, (-3.3, 4.0, 0.4), (8.8, 9.9, math.nan), "by a gap between a wall and the border")
    check.finds(yard, (-3.6, 4.0, 0.4), (3.5, 3.5, math.nan), "a start nearer to the border than the radius", begins_close=True)
    check.finds_none(here)


def _yard(gap: float) -> Map:
    """Return a map without walls along its border that is divided by a wall, with a gap of ``gap`` metres between the wall's end
    and the border.
    """
    return Map.from_shapes(segments=[[2.0, 2.3 + gap, 2.0, 12.0]], bounds=(-3.7, 2.3, 9.2, 10.4), name="yard")


def _length(path: Floats) -> float:
    return float(np.hypot(*np.diff(path, axis=0).T).sum())


@dataclass(frozen=True)
class _Check:
    """The clauses of the contract."""

    planner: GlobalPlanner
    name: str

    def fail(self, clause: str) -> ContractError:
        """Return the error for a violated clause."""
        return ContractError(f"{self.name}: {clause}")

    def ask(self, map: Map, start: ArrayLike, goal: ArrayLike, where: str) -> Floats | None:
        """Return the path, after the checks that apply to every call."""
        request = PathRequest(map, np.array(start, np.float64), np.array(goal, np.float64), _RADIUS)
        with pure(f"{self.name}: {where}", clearance=map.clearance, cells=map.cells, start=request.start, goal=request.goal):
            path = self.planner.path(request)
        if path is None:
            return None
        if not isinstance(path, np.ndarray) or path.ndim != 2 or path.shape[1] not in (2, 3) or not len(path):
            raise self.fail(f"{where}: the path has shape {np.shape(path)}, expected (K, 2) or (K, 3)")
        if not np.isfinite(path).all():
            raise self.fail(f"{where}: the path contains non-finite points")
        return path

    def finds(self, map: Map, start: ArrayLike, goal: ArrayLike, where: str, begins_close: bool = False) -> Floats:
        """Check the path from start to goal and its clearance."""
        found = self.ask(map, start, goal, where)
        if found is None:
            raise self.fail(f"{where}: no path was returned, although one exists")
        path = found[:, :2]
        for what, point, end in (("start at", start, path[0]), ("end at", goal, path[-1])):
            if np.hypot(*(end - np.asarray(point)[:2])) > 0.5 * map.resolution:
                raise self.fail(f"{where}: the path does not {what} {point!r} but at {end.tolist()}")
        share = np.linspace(0.0, 1.0, 9)[:, None, None]
        along = ((1.0 - share) * path[:-1] + share * path[1:]).reshape(-1, 2) if len(path) > 1 else path
        if begins_close:
            along = along[np.hypot(*(along - np.asarray(start)[:2]).T) > 2.0 * _RADIUS]
        margin, gap = map.margin(along), map.clearance_at(along)
        if margin.min() < _RADIUS - map.resolution:
            point = along[np.argmin(margin)]
            raise self.fail(f"{where}: at {point.tolist()} the border is {margin.min():.3f} m away, but the radius is {_RADIUS} m")
        if gap.min() < _RADIUS - 0.5 * map.resolution:
            point = along[np.argmin(gap)]
            raise self.fail(f"{where}: at {point.tolist()} the wall is {gap.min():.3f} m away, but the radius is {_RADIUS} m")
        return path

    def finds_none(self, map: Map) -> None:
        """Check that the planner returns no path if none exists."""
        closed = Map.from_shapes(segments=[[2.0, 2.3, 2.0, 10.4]], bounds=(-3.7, 2.3, 9.2, 10.4), name="closed")
        for where, place, goal in (
            ("a goal in a pillar", map, (6.3, 4.2, math.nan)),
            ("a goal off the map", map, (20.0, 4.2, math.nan)),
            ("a goal behind a wall without a door", closed, (7.0, 4.0, math.nan)),
            ("a goal behind a gap between a wall and the border, wider than the radius", _yard(0.6), (7.0, 4.0, math.nan)),
        ):
            path = self.ask(place, (-2.9, 4.3, 0.4), goal, where)
            if path is not None:
                raise self.fail(f"{where}: expected None, got a path that ends at {path[-1].tolist()}")
