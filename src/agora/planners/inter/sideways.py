"""The interplanner that steps aside."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from agora.planners.inter.retreat import Retreat
from agora.ranges import Chance, Distance


@dataclass(frozen=True)
class Sideways(Retreat):
    """Slows down near pedestrians, backs away to the right from a person close in front that approaches, and waits there.

    The temporary goal lies 45 degrees to the right of straight behind, at 1.5 times ``temp_goal_distance``, with the same heading.
    When it is reached the robot stands for 2.5 s. The retreat is cancelled when no near person approaches any more, or when a lidar
    return behind that belongs to no pedestrian, or an occupied or unknown cell of the map, is nearer than the robot's diameter plus
    0.135 m.
    """

    stretch: ClassVar[float] = 1.5
    turn: ClassVar[float] = math.pi / 4
    margin: ClassVar[float] = 0.135
    pause: ClassVar[float] = 2.5

    caution_detection_range: Distance = 5.0
    cautious_speed: Chance = 0.4
