"""The interplanner that gives way."""

from __future__ import annotations

from dataclasses import dataclass

from agora.planners.inter.retreat import Retreat


@dataclass(frozen=True)
class Polite(Retreat):
    """Slow down near pedestrians, and back straight away from one who walks close in front.

    The temporary goal lies straight behind, with the same heading. It is dropped where it is reached, and where a return behind
    that is no pedestrian's is nearer than the robot's diameter and 0.075 m, or something that the map has or does not know.
    """
