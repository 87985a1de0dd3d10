"""The global_planner package of ROS navigation: navfn with options, more accurate path ends, and headings.

Source: ros-planning/navigation, noetic, package global_planner (D. V. Lu, E. Marder-Eppstein, since 2013), with its parameters.
Moving by one cell with the costmap value c costs neutral_cost + cost_factor c, at most lethal_cost - 1. Unknown cells cost
lethal_cost - 1, and cells with a value of lethal_cost - 1 or more are blocked. With the default factor of 3, the cost is constant
for values of 68 and above, so near a wall, the distance from the wall no longer matters. The wave starts at the start point itself,
from the four cells that surround it, and blocked cells within two cells of the goal are given a potential, so that the gradient can
be followed from the goal itself. See `agora.planners.global_.navfn` for the wave and the gradient, and for the differences from the
source that both planners share. Unlike navfn, the package does not shift its paths by half a cell.

Differences from the source:

- In the source, A* adds neutral_cost to the cost in a byte, which overflows, so cells with a cost of 206 or more become the
  cheapest; in this planner they are the most expensive.
- In the source, the potential of blocked cells around the goal overflows a byte; in this planner it is limited to 255. Blocked
  cells around the start have no potential.
- The package looks up the goal's potential one cell to the lower left of the goal, and requires a path from cell to cell to end at
  one particular cell of the four around the start, which the path may miss. This planner uses the goal's own cell, and any of the
  four cells.
- default_tolerance, which the package reads but does not use, works as in navfn.
- ``forward_then_interpolate`` interpolates from the heading at the start of the last straight section; the source interpolates from
  a heading beyond it.
- If the heading of the start or goal is missing, the path's heading is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from agora.core.angles import wrap
from agora.core.state import Doubles, Floats
from agora.interfaces import PathRequest
from agora.planners.global_._wavefront import price_list, wave_path
from agora.planners.global_.potential import Wave
from agora.ranges import Checked, Count, Distance, NotNegative, Within

__all__ = ["MoveBaseGlobalPlanner"]

_ASIDE = {"forward": 0.0, "forward_then_interpolate": 0.0, "backward": np.pi, "leftward": -0.5 * np.pi, "rightward": 0.5 * np.pi}
_BEND = 0.35  # rad; a straight section ends where the heading differs by more than this


@dataclass(frozen=True)
class MoveBaseGlobalPlanner(Checked):
    """Spreads a wave over a costmap in the order of Dijkstra or A*, with or without interpolation, and returns a path that descends
    the wave's potential along the gradient or from cell to cell.

    Attributes:
        use_dijkstra: whether the wave spreads evenly; otherwise it spreads towards the goal first (A*).
        use_quadratic: whether the wave is interpolated between cells; otherwise it moves from cell to cell.
        use_grid_path: whether the path moves from cell to cell; otherwise it follows the gradient.
        old_navfn_behavior: whether the wave and the path start and end at cell centres, as in navfn; otherwise they start and end
            exactly at the start and the goal.
        lethal_cost: cells with a cost of at least this value minus 1 are blocked; with A*, cells with a cost of at least this
            value.
        neutral_cost: cost of moving by one free cell.
        cost_factor: factor applied to the cost of a cell.
        allow_unknown: whether the path may pass through unknown cells, which have the highest cost.
        default_tolerance: if the goal cannot be reached, the path ends at the centre of the nearest reachable cell, at most this
            far from the goal along each axis, m.
        orientation_mode: headings of the path: "none"; along the path ("forward"); rotated relative to the path ("backward",
            "leftward", "rightward"); interpolated uniformly from the start heading to the goal heading ("interpolate"); or
            interpolated only on the last straight section ("forward_then_interpolate"). The last heading is the goal's.
        orientation_window_size: number of points before and after a point that determine the path's direction at that point.
        inflation_radius: distance beyond which an obstacle has no cost, m.
        cost_scaling: rate at which the cost of an obstacle decays with distance, 1/m.
    """

    use_dijkstra: bool = True
    use_quadratic: bool = True
    use_grid_path: bool = False
    old_navfn_behavior: bool = False
    lethal_cost: Annotated[int, Within(1, 255)] = 253
    neutral_cost: Annotated[int, Within(1, 255)] = 50
    cost_factor: Annotated[float, Within(0.01, 5.0)] = 3.0
    allow_unknown: bool = True
    default_tolerance: Distance = 0.0
    orientation_mode: Literal["none", "forward", "interpolate", "forward_then_interpolate", "backward", "leftward", "rightward"] = (
        "forward"
    )
    orientation_window_size: Count = 1
    inflation_radius: Distance = 1.0
    cost_scaling: NotNegative = 5.0

    def path(self, request: PathRequest) -> Floats | None:
        """Return the path, m and rad; None if there is no path, or the start is outside the map.

        The path consists of poses (K, 3), or of points (K, 2) if ``orientation_mode`` is "none".
        """
        most = self.lethal_cost - 1.0
        if self.use_dijkstra:
            prices = price_list(self.neutral_cost, self.cost_factor, self.lethal_cost - 1, most, self.allow_unknown)
        else:
            prices = price_list(self.neutral_cost, 1.0, self.lethal_cost, self.neutral_cost + 255.0, self.allow_unknown)
        exact = not self.old_navfn_behavior
        wave = Wave(prices, self.neutral_cost, self.lethal_cost, exact, self.use_quadratic, not self.use_dijkstra)
        points = wave_path(request, wave, self.inflation_radius, self.cost_scaling, self.default_tolerance, self.use_grid_path)
        if points is None or self.orientation_mode == "none":
            return points
        headings = self._headings(points.astype(np.float64), float(request.start[2]), float(request.goal[2]))
        return np.column_stack((points, headings)).astype(np.float32)

    def _headings(self, points: Doubles, start: float, goal: float) -> Doubles:
        """Return the headings (K,) of the points of a path, in (-pi, pi]."""
        count, window = len(points), self.orientation_window_size
        number = np.arange(count)
        long = points[np.minimum(number + window, count - 1)] - points[np.maximum(number - window, 0)]
        along = np.arctan2(long[:, 1], long[:, 0])
        headings = along + _ASIDE.get(self.orientation_mode, 0.0)
        headings[-1] = goal if np.isfinite(goal) else headings[-1]
        if "interpolate" in self.orientation_mode:
            first = 0
            if self.orientation_mode == "forward_then_interpolate":
                first = max(count - 3, 0)
                bends = np.flatnonzero(np.abs(wrap(along[:first] - along[first])) > _BEND)
                first = int(bends[-1]) + 1 if len(bends) else 0
            if first == 0 and np.isfinite(start):
                headings[0] = start
            share = np.linspace(0.0, 1.0, count - first)
            headings[first:] = headings[first] + share * wrap(headings[-1] - headings[first])
        return wrap(headings)
