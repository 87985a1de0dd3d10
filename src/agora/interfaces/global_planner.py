"""Global planners: map to path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from agora.core.state import Array, Doubles, Floats
from agora.maps.grid import Map


@dataclass(frozen=True)
class PathRequest:
    """The question to a global planner: where from, where to, and for which robot. Poses are in the frame of the map, m and rad.

    Attributes:
        map: map of the surroundings.
        start: (3,) pose of the robot; its heading is NaN if it is unknown.
        goal: (3,) pose to reach; its heading is NaN where any will do.
        radius: radius of the disc that must fit through, m.
        turning_radius: radius of the robot's smallest curve, m; 0 for a robot that turns in place.
        footprint: corners of the robot's outline in its frame, m; none for a disc.
        cost: (rows, columns) uint8, costs that `CostmapLayer` have put on the cells, 0 to 252; None if no layer is.
    """

    map: Map
    start: Doubles
    goal: Doubles
    radius: float
    turning_radius: float = 0.0
    footprint: tuple[tuple[float, float], ...] = ()
    cost: Array | None = None


class GlobalPlanner(Protocol):
    """Map to path.

    Where a planner finds no path for a robot with an outline, it is asked for the largest disc inside, too. One that plans for the
    outline itself, so that the radius means nothing to it then, has an attribute ``fits_outline`` that is True, and is asked once.
    """

    def path(self, request: PathRequest) -> Floats | None:
        """Return the path from the start to the goal; None if there is none, or if an end is outside the map.

        It is (K, 2) points, m, or (K, 3) poses where the planner chooses the heading, too.
        """
