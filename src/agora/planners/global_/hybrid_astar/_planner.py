"""Hybrid A*: plans paths that a car can drive.

Dolgov, Thrun, Montemerlo, Diebel, "Path planning for autonomous vehicles in unknown semi-structured environments", IJRR 29, 2010.

States are poses; each cell of a grid of positions and 72 headings holds the cheapest pose found in it, with the pose's exact
position. From a state, the robot drives along its tightest curve to either side or straight on, forwards or in reverse. The
heuristic is the higher of two costs: the cost of the cheapest curve to the goal pose, ignoring obstacles (Reeds and Shepp; Dubins
if the robot may not reverse), and the cost of the cheapest path around obstacles for a disc that fits inside the body, over blocks
of cells. If the cheapest curve is free of obstacles, it completes a path.

Differences from the paper:

- The heuristic is multiplied by ``weight``, so that the search expands fewer states. The search ends when no state in the queue
  promises a lower cost than the cheapest path found.
- The curve to the goal is tried from every expanded state, and it is the cheapest curve, including all cost terms, instead of the
  shortest one.
- The curve's cost is computed when a state comes first in the queue; there is no lookup table.
- The cost of obstacles is the same as in `AStar`, the inflated cost of costmap_2d, instead of the Voronoi field.
- The path is not smoothed by conjugate gradients. Parts of it are replaced with the cheapest curves between their ends, if these
  curves are free and cheaper. The path thus remains drivable and keeps the required distance from walls, but its curvature is
  discontinuous.
- If the goal heading is free, the last curve is an arc and a straight line; if the start heading is unknown, all 72 headings are
  tried.
- By default, the path includes reverse driving only if there is no path without it. Local planners that follow a path see its
  points but not its headings, and drive past the point where the path changes direction: pure pursuit never reverses; TEB does, but
  arrives later than on a path without reverse driving.
- A cell keeps the first pose that reaches it, so the path on a rotated or mirrored map may be a few percent longer or shorter.
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
"""The first pose of a path, and the lengths and curvatures of the path's segments."""

_PIECES = (0.2, 0.3, 0.17)  # m: different lengths, so that each pass cuts the path at different positions
_BLOCK = 0.1  # m


@dataclass(frozen=True)
class HybridAStar(Checked):
    """Plans a path of poses (K, 3) along curves that the robot can drive, forwards and, if needed, in reverse.

    The outline, covered by a row of discs, must fit all along the path; a robot without an outline is a disc of the request's
    radius. From a start that is too close to an obstacle, the path may lead through poses that are no closer to it. Unknown cells
    count as free. If ``expansions`` states have been expanded without finding a path, the planner returns no path, although one may
    exist.

    Attributes:
        turning_radius: minimum curve radius for robots that can turn in place, m; car-like robots use their own radius.
        reverse: when the path may include reverse driving: ``never``; ``needed``, only if there is no path without it; ``free``,
            whenever it is cheaper.
        reverse_cost: cost of a metre driven in reverse, in equivalent metres driven forwards.
        change_cost: cost of a change of direction, m.
        turn_cost: cost of a metre on the tightest curve, in equivalent metres driven straight.
        neutral: cost of crossing one cell when no obstacle is near.
        factor: weight of the inflated cost; 0 to ignore it.
        inflation_radius: distance beyond which an obstacle has no cost, m.
        cost_scaling: rate at which the cost of an obstacle decays with distance, 1/m.
        discs: number of discs that cover the outline; more discs fit more closely, but take more time.
        cell: length of the cells that hold states, and lower bound on the curve radius, m.
        weight: weight of the heuristic relative to the cost so far, at least 1.
        expansions: number of expanded states after which the search ends with its best result.
        smooth: whether parts of the path are replaced with cheaper curves.
        spacing: distance between poses of the path, m.
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
        """Return the path (K, 3) from the start to the goal, m and rad; None if there is no path, or the start or goal is outside
        the map.
        """
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
        """Return the first pose, and the lengths and curvatures of the path's segments."""
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
    """Return a row of discs that cover the box around an outline: positions along and across the axis, and the radius, m."""
    low, high = np.array(footprint).min(axis=0), np.array(footprint).max(axis=0)
    share = (high[0] - low[0]) / count
    along: Doubles = low[0] + share * (np.arange(count) + 0.5)
    return along, float(0.5 * (low[1] + high[1])), math.hypot(0.5 * share, 0.5 * (high[1] - low[1]))


def pieces(lengths: Doubles, curvatures: Doubles, longest: float) -> tuple[Doubles, Doubles]:
    """Return the segments of a curve, each cut into equal pieces of at most ``longest`` m; segments of length 0 are dropped."""
    there = np.abs(lengths) > 1e-6
    lengths, curvatures = lengths[there], curvatures[there]
    counts = np.maximum(np.ceil(np.abs(lengths) / longest - 1e-6), 1).astype(np.int64)
    return np.repeat(lengths / counts, counts), np.repeat(curvatures, counts)


def trace(start: Doubles, lengths: Doubles, curvatures: Doubles) -> Doubles:
    """Return the poses (K + 1, 3) at the ends of the K segments of a curve; headings are not wrapped."""
    turns = lengths * curvatures
    headings = start[2] + np.concatenate([[0.0], np.cumsum(turns)])
    middle, chord = headings[:-1] + 0.5 * turns, lengths * np.sinc(0.5 * turns / math.pi)
    steps = np.stack([chord * np.cos(middle), chord * np.sin(middle)], axis=1)
    places = start[:2] + np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])
    return np.column_stack([places, headings])


def _has_free_heading(ground: Ground, pose: Doubles) -> bool:
    """Return whether a pose is free; if any heading is allowed, return whether the position is free with some heading."""
    headings = 2.0 * math.pi / HEADINGS * np.arange(HEADINGS) if math.isnan(pose[2]) else pose[2:]
    return any(spare_clearance(ground, pose[0], pose[1], float(heading)) > 0.0 for heading in headings)


def _to_go(ground: Ground, inside: float, side: int, start: Doubles, goal: Doubles) -> Floats:
    """Return the minimum cost of a path from each block of cells to the goal, m; infinite if there is no path.

    A pose close to an obstacle may be valid although its block has no path, so blocks next to blocks with a path get a cost as
    well.
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
