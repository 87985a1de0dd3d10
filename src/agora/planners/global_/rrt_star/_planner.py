"""RRT*: a tree of random places, whose paths to the goal become ever shorter.

Karaman and Frazzoli, "Sampling-based algorithms for optimal motion planning", IJRR 30, 2011, algorithm 6; informed draws: Gammell,
Srinivasa, Barfoot, "Informed RRT*: optimal sampling-based path planning focused via direct sampling of an admissible ellipsoidal
heuristic", IROS 2014.

A place is drawn, the tree is extended from its nearest place by ``reach`` m towards the drawn one, and the new place is connected
to the tree by the cheapest free line from a nearby place; nearby places with a cheaper path over the new one are connected to it.
Nearby means within gamma (log n / n)^(1/2), but no farther than ``reach``; gamma is a tenth above the minimum that the proof of
optimality needs. Once the goal is in the tree, only places that may shorten its path are drawn: those of an ellipse around start
and goal. Area and n are then the ellipse's.

Differences from the papers:

- A line costs its length times the inflated cost of obstacles, as in `AStar`; with ``factor`` 0 only its length.
- A line is sampled in steps as long as the clearance allows, and no shorter than half a cell.
- The draws come from a counted stream (`agora.seeds`), as fractions of the map: the same for every request with the same
  ``seed``.
- A draw in an obstacle also counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from agora.core.state import Doubles, Floats
from agora.interfaces import PathRequest
from agora.planners.global_._ground import Ground, spare_clearance
from agora.planners.global_.rrt_star._tree import Tree, grow
from agora.planners.global_.search import NO_LAYER, centres, path_to_free_cell, resample
from agora.ranges import Chance, Checked, Distance, Length, NotNegative, Number, Positive, Within
from agora.seeds import key_of

__all__ = ["RrtStar"]


@dataclass(frozen=True)
class RrtStar(Checked):
    """A path of straight lines through randomly drawn places; more draws give a shorter path.

    A start too near to an obstacle is first led to the nearest free cell, around obstacles. Unknown cells count as free. Few draws
    lead through a narrow gap: if none of ``iterations`` does, there is no result, although a path may exist.

    Attributes:
        iterations: number of draws.
        reach: length of the longest line of the tree, m.
        bias: fraction of the draws at the goal, until it is reached.
        seed: number of the stream of draws.
        neutral: cost of a cell length far from obstacles.
        factor: weight of the inflated cost; 0 for the shortest path.
        inflation_radius: distance beyond which an obstacle has no cost, m.
        cost_scaling: rate at which its cost decays, 1/m.
        spacing: distance between the points of the path, m.
    """

    iterations: Annotated[int, Within(1, 1_000_000)] = 10_000
    reach: Length = 3.0
    bias: Chance = 0.05
    seed: Number = 0
    neutral: Positive = 50.0
    factor: NotNegative = 0.8
    inflation_radius: Distance = 1.0
    cost_scaling: NotNegative = 5.0
    spacing: Length = 0.1

    def path(self, request: PathRequest) -> Floats | None:
        """Return the path (K, 2) from the start to the goal, m; None if none was found, or an end is outside the map."""
        place = request.map
        corner = np.asarray(place.origin) + 0.5 * place.resolution
        ends = np.array([request.start[:2], request.goal[:2]], np.float64)
        if not place.contains(ends).all():
            return None
        ends = np.round(ends - corner, 6)
        ground = self._ground(request)
        if not spare_clearance(ground, *ends[1], 0.0) > 0.0:
            return None
        escape = _escape(ground, ends[0])
        if escape is None:
            return None
        found = self._grow(ground, escape[-1], ends[1])
        if found is None:
            return None
        return (resample(np.vstack([escape[:-1], found]), self.spacing) + corner).astype(np.float32)

    def _ground(self, request: PathRequest) -> Ground:
        return Ground(
            clearance=np.ascontiguousarray(request.map.clearance_inside(request.radius), np.float32),
            layer=NO_LAYER if request.cost is None else np.ascontiguousarray(request.cost, np.uint8),
            resolution=request.map.resolution,
            along=np.zeros(1),
            across=0.0,
            radius=request.radius,
            least=max(request.radius, 0.5 * request.map.resolution),
            reach=0.0,
            share=self.factor / self.neutral,
            inflation_radius=self.inflation_radius if self.factor > 0.0 else 0.0,
            scaling=self.cost_scaling,
        )

    def _grow(self, ground: Ground, start: Doubles, goal: Doubles) -> Doubles | None:
        """Return the places (K, 2) of the cheapest path in the tree."""
        if np.array_equal(start, goal):
            return np.stack([start, goal])
        free = float((ground.clearance > ground.least).sum()) * ground.resolution**2
        tree, counts = Tree.of(self.iterations + 1), np.zeros(1, np.int64)
        key = key_of("rrt_star", self.seed, "path")
        end = grow(ground, start, goal, free, self.iterations, self.reach, self.bias, key, tree, counts)
        if end < 0:
            return None
        chain = [end]
        while tree.parent[chain[-1]] >= 0:
            chain.append(tree.parent[chain[-1]])
        return tree.place[chain[::-1]]


def _escape(ground: Ground, start: Doubles) -> Doubles | None:
    """Return the path (K, 2) from a place too near to an obstacle to the nearest free one: the place itself if it is free."""
    if spare_clearance(ground, *start, 0.0) > 0.0:
        return start[None]
    columns = ground.clearance.shape[1]
    column, row = np.floor(start / ground.resolution + 0.5).astype(int)
    way = path_to_free_cell(ground.clearance, ground.resolution, int(row * columns + column), ground.clearance > ground.least)
    return None if way is None else np.vstack([start, centres(way[min(1, len(way) - 1) :], columns) * ground.resolution])
