"""The interplanner that steps aside for approaching people."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from agora.planners.inter.retreat import Retreat
from agora.ranges import Chance, Distance


@dataclass(frozen=True)
class Sideways(Retreat):
    """Slows down near pedestrians, backs away to the right from an approaching person who is close ahead, and waits there.

    The temporary goal lies 45 degrees to the right of straight behind, at 1.5 times ``temp_goal_distance``, and has the robot's
    heading. When it is reached, the robot stops there for 2.5 s. The retreat is cancelled when no one nearby is approaching any
    more, or when there is an obstacle behind the robot closer than the robot's diameter plus 0.135 m. Obstacles are lidar returns
    that do not belong to a pedestrian, and occupied or unknown cells of the map.
    """

    stretch: ClassVar[float] = 1.5
    turn: ClassVar[float] = math.pi / 4
    margin: ClassVar[float] = 0.135
    pause: ClassVar[float] = 2.5

    caution_detection_range: Distance = 5.0
    cautious_speed: Chance = 0.4
