"""navfn, the global planner of ROS navigation that move_base uses by default.

Source: ros-planning/navigation, noetic, packages navfn and costmap_2d (K. Konolige, E. Marder-Eppstein, since 2008). A wave spreads
from the robot over the costmap with inflation. Moving by one cell with a costmap value c below 253 costs h = 50 + 0.8 c; for an
unknown cell, h is 253; all other cells are blocked. Let a <= b be the lower of the two neighbours' potentials along each of the two
axes, and d = (b - a) / h. The cell then has the potential a + h (-0.2301 d^2 + 0.5307 d + 0.7040) if d < 1, else a + h. Cells wait
in three buffers, as in navfn, and the wave ends when it has reached the goal. From the goal, the path follows the gradient in steps
of half a cell. Next to cells without a potential, or if the path jumps back and forth, it moves to the lowest of the eight
neighbours.

Differences from the source:

- navfn's paths are shifted by half a cell to the lower left, to the corners of cells; this planner's paths lie on the centres. They
  start and end exactly at the robot and the goal; in navfn, they start in the robot's cell.
- navfn rounds potentials down when it searches for the lowest neighbour, and may not find one; this planner always finds the
  lowest.
- navfn steps diagonally between two blocked cells, through a wall that is one cell thin; this planner does not.
- navfn finds no path if the gradient is zero or leads in a circle, if the path has more points than four times the number of
  columns, if more than 10,000 cells wait in a buffer, or if the wave takes more iterations than a twentieth of the number of cells.
  This planner's path moves from cell to cell if the gradient fails, and there are no such limits.
- navfn blocks the outermost cells of the map; this planner treats them like all others.
- If the robot is in a blocked cell, the path first leads to the nearest free cell; navfn only frees the robot's own cell.
- With a tolerance, navfn tests points around the goal that are one cell apart; this planner tests all cell centres.
- A cell is blocked for every radius if an obstacle is within half a cell of its centre. The costmap's inflation radius is used
  unchanged, not rounded up to whole cells.
- The potential is not published, and there are no parameters for the planner window, which navfn reads but does not use.
"""

from __future__ import annotations

from dataclasses import dataclass

from agora.core.state import Floats
from agora.costmap.inflation import INSCRIBED
from agora.interfaces import PathRequest
from agora.planners.global_._wavefront import price_list, wave_path
from agora.planners.global_.potential import Wave
from agora.ranges import Checked, Distance, NotNegative

__all__ = ["Navfn"]

_NEUTRAL, _FACTOR, _OBSTACLE = 50.0, 0.8, 254.0


@dataclass(frozen=True)
class Navfn(Checked):
    """Spreads a wave over a costmap in Dijkstra's order, interpolated between cells, and returns the path that descends its
    gradient.

    Attributes:
        allow_unknown: whether the path may pass through unknown cells, which have the highest cost.
        default_tolerance: if the goal cannot be reached, the path ends at the centre of the nearest reachable cell, at most this
            far from the goal along each axis, m.
        inflation_radius: distance beyond which an obstacle has no cost, m.
        cost_scaling: rate at which the cost of an obstacle decays with distance, 1/m.
    """

    allow_unknown: bool = True
    default_tolerance: Distance = 0.0
    inflation_radius: Distance = 1.0
    cost_scaling: NotNegative = 5.0

    def path(self, request: PathRequest) -> Floats | None:
        """Return the path (K, 2) from the start to the goal, m; None if there is no path, or the start is outside the map."""
        prices = price_list(_NEUTRAL, _FACTOR, INSCRIBED, _OBSTACLE - 1.0, self.allow_unknown)
        wave = Wave(prices, _NEUTRAL, _OBSTACLE)
        return wave_path(request, wave, self.inflation_radius, self.cost_scaling, self.default_tolerance)
