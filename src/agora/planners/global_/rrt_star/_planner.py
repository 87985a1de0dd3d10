"""RRT*: grows a tree of random positions; as the tree grows, the path through it to the goal becomes shorter.

Karaman and Frazzoli, "Sampling-based algorithms for optimal motion planning", IJRR 30, 2011, algorithm 6; informed sampling:
Gammell, Srinivasa, Barfoot, "Informed RRT*: optimal sampling-based path planning focused via direct sampling of an admissible
ellipsoidal heuristic", IROS 2014.

In each iteration a position is sampled, the tree is extended by at most ``reach`` m from its nearest node towards the sample, and
the new node is connected to the tree by the cheapest free line from a nearby node. Nearby nodes that have a cheaper path through
the new node are reconnected to it. Nearby means within gamma (log n / n)^(1/2), but no farther than ``reach``; gamma is 10 % above
the minimum that the proof of optimality requires. Once the goal is in the tree, only positions that may shorten the path are
sampled: positions in an ellipse around the start and the goal. From then on, gamma is computed from the ellipse's area, and n is
the number of nodes in the ellipse.

Differences from the papers:

- A line costs its length times the inflated cost of obstacles, as in `AStar`; with a ``factor`` of 0, it costs only its length.
- A line is checked in steps as long as the clearance allows, but no shorter than half a cell.
- The random numbers come from a counter-based stream (`agora.seeds`), as fractions of the map, and are the same for every request
  with the same ``seed``.
- A sample in an obstacle also counts as an iteration.
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
    """Finds a path of straight lines through random positions; more samples give a shorter path.

    If the start is too close to an obstacle, the path first leads to the nearest free cell, around obstacles. Unknown cells count
    as free. Few samples lead through a narrow gap. If none of the ``iterations`` samples does, the planner returns no path,
    although a path may exist.

    Attributes:
        iterations: number of samples.
        reach: maximum length of a line in the tree, m.
        bias: fraction of samples that are placed at the goal until it is reached.
        seed: seed of the stream of random numbers.
        neutral: cost of crossing one cell when no obstacle is near.
        factor: weight of the inflated cost; 0 for the shortest path.
        inflation_radius: distance beyond which an obstacle has no cost, m.
        cost_scaling: rate at which the cost of an obstacle decays with distance, 1/m.
        spacing: distance between points of the path, m.
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
        """Return the path (K, 2) from the start to the goal, m; None if no path was found, or the start or goal is outside the
        map.
        """
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
        """Return the positions (K, 2) on the cheapest path in the tree."""
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
    """Return the path (K, 2) from a position that is too close to an obstacle to the nearest free position; only the position
    itself if it is free.
    """
    if spare_clearance(ground, *start, 0.0) > 0.0:
        return start[None]
    columns = ground.clearance.shape[1]
    column, row = np.floor(start / ground.resolution + 0.5).astype(int)
    way = path_to_free_cell(ground.clearance, ground.resolution, int(row * columns + column), ground.clearance > ground.least)
    return None if way is None else np.vstack([start, centres(way[min(1, len(way) - 1) :], columns) * ground.resolution])
