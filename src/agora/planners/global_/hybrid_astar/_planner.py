"""Hybrid A*: paths that a car can drive.

Dolgov, Thrun, Montemerlo, Diebel, "Path planning for autonomous vehicles in unknown semi-structured environments", IJRR 29, 2010.

States are poses; each cell of a grid of positions and 72 headings holds the cheapest pose found in it, at its exact position. From
a state the robot drives an arc of its smallest curve to either side or straight on, forwards or backwards. The heuristic is the
larger of two costs: the cheapest curve to the goal's pose without obstacles (Reeds and Shepp; Dubins if the robot may not reverse),
and the cheapest path of the body's disc around obstacles over blocks of cells. If that curve is free, it completes a path.

Differences from the paper:

- The heuristic is multiplied by ``weight``, so that the search expands fewer states. It ends when no state in the queue promises a
  lower cost than the cheapest path found.
- The curve is tried from every expanded state, and is the cheapest one with all prices, not the shortest.
- Its cost is computed when a state comes first in the queue; there is no table of costs.
- The cost of obstacles is that of `AStar`, an inflated cost of costmap_2d, instead of the Voronoi field.
- The path is not smoothed by conjugate gradients. Parts of it are replaced by the cheapest curves between their ends if these
  are free and cheaper: the path stays drivable, with the required distance from walls; its curvature has steps.
- If the goal's heading is free, the last curve is an arc and a straight line; if the start's is unknown, all 72 are tried.
- By default the path only leads backwards if no path leads forwards. Planners that follow a path see its points, not its
  headings, and pass the place where it reverses: pure pursuit never reverses, and TEB does, but arrives later than without.
- A cell keeps the first pose that reaches it, so the path on a rotated or mirrored map can be a few percent longer or
  shorter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, TypeAlias

import numpy as np

from agora.core.state import Doubles, Floats, Ints
from agora.interfaces import PathRequest
from agora.planners.global_._curves import SEGMENTS, Price
from agora.planners.global_._ground import Ground, block_factors, spare_clearance
from agora.planners.global_.hybrid_astar._search import HEADINGS, Tree, grow
from agora.planners.global_.hybrid_astar._smooth import shorten
from agora.planners.global_.search import NO_LAYER, costs_from
from agora.ranges import LARGEST, Checked, Count, Distance, Length, NotNegative, Positive, Within

__all__ = ["HybridAStar"]

_Parts: TypeAlias = tuple[Doubles, Doubles, Doubles]
"""The first pose of a path, and the lengths and curvatures of its parts."""

_PIECES = (0.2, 0.3, 0.17)  # m: other places at every turn
_BLOCK = 0.1  # m


@dataclass(frozen=True)
class HybridAStar(Checked):
    """Plans poses (K, 3) of a path with curves that the robot can drive, forwards and, if needed, backwards.

    The outline, covered by a row of discs, must fit all along the path; a robot without one is a disc of the request's radius. A
    start too near to an obstacle may be left through poses that are no nearer. Unknown cells count as free. If ``expansions``
    states have been expanded without a path, the planner returns none, although one may exist.

    Attributes:
        turning_radius: radius of the smallest curve of a robot that turns in place, m; car-like robots have their own.
        reverse: when the path leads backwards: ``never``, ``needed`` if no path leads forwards, ``free`` if it is cheaper.
        reverse_cost: cost per metre backwards, in metres forwards.
        change_cost: cost of a change of direction, m.
        turn_cost: cost per metre on the smallest curve, in metres straight.
        neutral: cost of a cell length far from obstacles.
        factor: weight of the inflated cost; 0 for none.
        inflation_radius: distance beyond which an obstacle has no cost, m.
        cost_scaling: rate at which its cost decays, 1/m.
        discs: number of discs that cover the outline; more discs fit closer, and take more time.
        cell: length of the cells of states, and minimum radius of a curve, m.
        weight: weight of the heuristic against the driven cost, at least 1.
        expansions: number of expanded states after which the search ends with its best result.
        smooth: whether parts of the path are replaced by cheaper curves.
        spacing: distance between the poses of the path, m.
    """

    fits_outline: ClassVar[bool] = True
    """Whether the planner plans for the outline (`agora.interfaces.GlobalPlanner`)."""

    turning_radius: Length = 0.5
    reverse: Literal["never", "needed", "free"] = "needed"
    reverse_cost: Annotated[float, Within(1.0, LARGEST)] = 2.0
    change_cost: NotNegative = 0.5
    turn_cost: Annotated[float, Within(1.0, LARGEST)] = 1.05
    neutral: Positive = 50.0
    factor: NotNegative = 0.8
    inflation_radius: Distance = 1.0
    cost_scaling: NotNegative = 5.0
    discs: Count = 4
    cell: Length = 0.2
    weight: Annotated[float, Within(1.0, LARGEST)] = 1.1
    expansions: Annotated[int, Within(1, 10_000_000)] = 30_000
    smooth: bool = True
    spacing: Length = 0.1

    def path(self, request: PathRequest) -> Floats | None:
        """Return the path (K, 3) from the start to the goal, m and rad; None if there is none, or an end is outside the map."""
        place = request.map
        corner = np.asarray(place.origin) + 0.5 * place.resolution
        ends = np.array([request.start, request.goal], np.float64)
        if not place.contains(ends[:, :2]).all():
            return None
        ends[:, :2] = np.round(ends[:, :2] - corner, 6)
        ground = self._ground(request)
        if not _has_free_heading(ground, ends[1]):
            return None
        radius = max(request.turning_radius or self.turning_radius, self.cell)
        backwards = Price(self.reverse_cost, self.change_cost, self.turn_cost)
        forwards = backwards._replace(backward=math.inf)
        for price in {"never": (forwards,), "needed": (forwards, backwards), "free": (backwards,)}[self.reverse]:
            found = self._search(ground, price, ends[0], ends[1], radius)
            if found is not None:
                first, lengths, curvatures = self._shorten(ground, price, *found, radius) if self.smooth else found
                poses = trace(first, *pieces(lengths, curvatures, self.spacing))
                poses[:, :2] += corner
                poses[:, 2] = math.pi - np.mod(math.pi - poses[:, 2], 2.0 * math.pi)
                return poses.astype(np.float32)
        return None

    def _ground(self, request: PathRequest) -> Ground:
        along, across, radius = cover(request.footprint, self.discs) if request.footprint else (np.zeros(1), 0.0, request.radius)
        return Ground(
            clearance=np.ascontiguousarray(request.map.clearance_inside(radius), np.float32),
            layer=NO_LAYER if request.cost is None else np.ascontiguousarray(request.cost, np.uint8),
            resolution=request.map.resolution,
            along=along,
            across=across,
            radius=radius,
            least=max(radius, 0.5 * request.map.resolution),
            reach=float(np.hypot(np.abs(along).max(), across)),
            share=self.factor / self.neutral,
            inflation_radius=self.inflation_radius,
            scaling=self.cost_scaling,
        )

    def _search(self, ground: Ground, price: Price, start: Doubles, goal: Doubles, radius: float) -> _Parts | None:
        """Return the first pose, and the lengths and curvatures of the parts of the path."""
        side = max(int(min(_BLOCK, ground.least) / ground.resolution + 1e-6), 1)
        nearest = float(np.hypot(ground.along, ground.across).min())
        inside = max(ground.least - max(nearest - side * ground.resolution, 0.0), 0.5 * ground.resolution)
        togo = _to_go(ground, inside, side, start, goal)
        block = side * ground.resolution
        bins = max(math.ceil(math.sqrt(2.0) * self.cell / (radius * 2.0 * math.pi / HEADINGS)), 1)
        tree, (curve, trial), counts = Tree.of(self.expansions), np.zeros((2, SEGMENTS, 2)), np.zeros(2, np.int64)
        shape = (price, togo, block, start, goal, radius, self.cell, bins, self.weight, self.expansions)
        end = grow(ground, *shape, tree, curve, trial, counts)
        if end < 0:
            return None
        chain = [end]
        while tree.move[chain[-1]] >= 0:
            chain.append(tree.parent[chain[-1]])
        numbers = np.array(chain[::-1])
        moves = tree.move[numbers[1:]].astype(np.int64)
        step = 2.0 * math.pi / HEADINGS
        lengths = np.where(moves < 3, 1.0, -1.0) * radius * step * bins
        curvatures = ((moves % 3 + 1) % 3 - 1) / radius
        first = np.array([*start[:2], start[2] if math.isfinite(start[2]) else step * tree.heading[numbers[0]]])
        return first, np.concatenate([lengths, curve[:, 0]]), np.concatenate([curvatures, curve[:, 1]])

    @staticmethod
    def _shorten(ground: Ground, price: Price, start: Doubles, lengths: Doubles, curvatures: Doubles, radius: float) -> _Parts:
        for piece in _PIECES:
            lengths, curvatures = pieces(lengths, curvatures, piece)
            poses = trace(start, lengths, curvatures)
            count = len(poses)
            curves = np.zeros((count, SEGMENTS, 2))
            curves[:-1, 0, 0], curves[:-1, 0, 1] = lengths, curvatures
            follow: Ints = np.arange(1, count + 1, dtype=np.int32)
            room = np.zeros(count), np.zeros(count, np.int8), np.zeros((SEGMENTS, 2))
            shorten(ground, price, radius, poses, curves, follow, *room)
            kept = [0]
            while follow[kept[-1]] < count:
                kept.append(int(follow[kept[-1]]))
            parts = curves[kept[:-1]].reshape(-1, 2)
            lengths, curvatures = parts[:, 0], parts[:, 1]
        return start, lengths, curvatures


def cover(footprint: tuple[tuple[float, float], ...], count: int) -> tuple[Doubles, float, float]:
    """Return discs that cover the box around an outline, in a row: positions along and across the axis, and radius, m."""
    low, high = np.array(footprint).min(axis=0), np.array(footprint).max(axis=0)
    share = (high[0] - low[0]) / count
    along: Doubles = low[0] + share * (np.arange(count) + 0.5)
    return along, float(0.5 * (low[1] + high[1])), math.hypot(0.5 * share, 0.5 * (high[1] - low[1]))


def pieces(lengths: Doubles, curvatures: Doubles, longest: float) -> tuple[Doubles, Doubles]:
    """Return the parts of a curve cut into pieces of equal length, none longer than ``longest``, m; without parts of length 0."""
    there = np.abs(lengths) > 1e-6
    lengths, curvatures = lengths[there], curvatures[there]
    counts = np.maximum(np.ceil(np.abs(lengths) / longest - 1e-6), 1).astype(np.int64)
    return np.repeat(lengths / counts, counts), np.repeat(curvatures, counts)


def trace(start: Doubles, lengths: Doubles, curvatures: Doubles) -> Doubles:
    """Return the poses (K + 1, 3) between K parts of a curve; headings are not wrapped."""
    turns = lengths * curvatures
    headings = start[2] + np.concatenate([[0.0], np.cumsum(turns)])
    middle, chord = headings[:-1] + 0.5 * turns, lengths * np.sinc(0.5 * turns / math.pi)
    steps = np.stack([chord * np.cos(middle), chord * np.sin(middle)], axis=1)
    places = start[:2] + np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])
    return np.column_stack([places, headings])


def _has_free_heading(ground: Ground, pose: Doubles) -> bool:
    """Return whether a pose is free; for a place with any heading, whether one heading is free."""
    headings = 2.0 * math.pi / HEADINGS * np.arange(HEADINGS) if math.isnan(pose[2]) else pose[2:]
    return any(spare_clearance(ground, pose[0], pose[1], float(heading)) > 0.0 for heading in headings)


def _to_go(ground: Ground, inside: float, side: int, start: Doubles, goal: Doubles) -> Floats:
    """Return the lowest cost of a path from each block of cells to the goal, m; infinite if there is none.

    A body may be slightly nearer to an obstacle than its blocks: blocks next to those with a path have one, too.
    """
    rows, columns = (-(-size // side) for size in ground.clearance.shape)
    factor: Floats = np.empty((rows, columns), np.float32)
    block_factors(ground, inside, side, factor)
    (from_column, from_row), (column, row) = (np.floor((p[:2] / ground.resolution + 0.5) / side).astype(int) for p in (start, goal))
    until = np.zeros((rows, columns), np.bool_)
    until[max(from_row - 1, 0) : from_row + 2, max(from_column - 1, 0) : from_column + 2] = True
    togo, block = costs_from(factor, int(row * columns + column), until), np.float32(side * ground.resolution)
    beside = np.pad(togo, 1, constant_values=np.inf)
    for axis in (0, 1):
        before, here, after = (np.take(beside, range(k, k + beside.shape[axis] - 2), axis) for k in range(3))
        beside = np.minimum(np.minimum(before, after), here)
    return block * np.where(np.isinf(togo), beside + np.float32(1.0), togo)
