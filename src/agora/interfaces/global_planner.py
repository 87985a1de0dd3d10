"""Global planners, which plan a path on a map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from agora.core.state import Array, Doubles, Floats
from agora.maps.grid import Map


@dataclass(frozen=True)
class PathRequest:
    """A request to a global planner: start, goal and robot. Poses are in the map frame, m and rad.

    Attributes:
        map: map of the surroundings.
        start: (3,) pose of the robot; its heading is NaN if it is unknown.
        goal: (3,) pose to reach; its heading is NaN if any heading is allowed.
        radius: radius of the disc for which the path must be free, m.
        turning_radius: smallest turning radius of the robot, m; 0 for a robot that can turn in place.
        footprint: corners of the robot's outline in the robot's frame, m; empty for a disc.
        cost: (rows, columns) uint8, costs from 0 to 252 that costmap layers (`CostmapLayer`) have added to the cells; None if there
            are no layers.
    """

    map: Map
    start: Doubles
    goal: Doubles
    radius: float
    turning_radius: float = 0.0
    footprint: tuple[tuple[float, float], ...] = ()
    cost: Array | None = None


class GlobalPlanner(Protocol):
    """Plans a path on a map.

    A planner is first called with the disc around the robot's outline. If it finds no path, it is called again with the largest
    disc inside the outline. A planner that checks the outline itself and ignores the radius sets its attribute ``fits_outline`` to
    True, and is called only once.
    """

    def path(self, request: PathRequest) -> Floats | None:
        """Return the path from the start to the goal; None if no path exists, or if either end is outside the map.

        The path consists of (K, 2) points, m, or of (K, 3) poses if the planner also chooses headings.
        """
