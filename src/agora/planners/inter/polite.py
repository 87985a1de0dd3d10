"""The interplanner that gives way."""

from __future__ import annotations

from dataclasses import dataclass

from agora.planners.inter.retreat import Retreat


@dataclass(frozen=True)
class Polite(Retreat):
    """Slows down near pedestrians, and backs straight away from a person close in front that approaches.

    The temporary goal lies straight behind, with the same heading. It is dropped when it is reached, when no near person approaches
    any more, or when a lidar return behind that belongs to no pedestrian, or an occupied or unknown cell of the map, is nearer than
    the robot's diameter plus 0.075 m.
    """
