"""The interplanner that gives way to approaching people."""

from __future__ import annotations

from dataclasses import dataclass

from agora.planners.inter.retreat import Retreat


@dataclass(frozen=True)
class Polite(Retreat):
    """Slows down near pedestrians, and backs straight away from an approaching person who is close ahead.

    The temporary goal lies straight behind the robot and has the robot's heading. It is dropped when it is reached, when no one
    nearby is approaching any more, or when there is an obstacle behind the robot closer than the robot's diameter plus 0.075 m.
    Obstacles are lidar returns that do not belong to a pedestrian, and occupied or unknown cells of the map.
    """
