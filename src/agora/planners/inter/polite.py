"""The interplanner that gives way."""

from __future__ import annotations

from dataclasses import dataclass

from agora.planners.inter.retreat import Retreat


@dataclass(frozen=True)
class Polite(Retreat):
    """Slow down near pedestrians, and back straight away from a person close in front who comes nearer.

    The temporary goal lies straight behind, with the same heading. It is dropped if it is reached, if nobody near comes nearer any
    more, and if a return behind that is no pedestrian's, or something that the map has or does not know, is nearer than the
    robot's diameter and 0.075 m.
    """
