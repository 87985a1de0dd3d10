"""An empty rectangle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from agora.draft.surroundings import Surroundings
from agora.maps.grid import Map
from agora.ranges import Checked, Within
from agora.seeds import Stream

_LARGEST, _FARTHEST = 1000.0, 10_000.0  # m


@dataclass(frozen=True)
class Open(Checked):
    """A rectangle without obstacles; its edges are the border of the map.

    Attributes:
        width: size along x, m.
        height: size along y, m.
        x: x coordinate of the lower-left corner, m.
        y: y coordinate of the lower-left corner, m.
    """

    width: Annotated[float, Within(0.0, _LARGEST, above=True)] = 20.0
    height: Annotated[float, Within(0.0, _LARGEST, above=True)] = 20.0
    x: Annotated[float, Within(-_FARTHEST, _FARTHEST)] = 0.0
    y: Annotated[float, Within(-_FARTHEST, _FARTHEST)] = 0.0

    def names(self) -> list[str]:
        """Return the name of the only world."""
        return ["open"]

    def world(self, name: str, stream: Stream) -> Surroundings:
        """Return the empty rectangle."""
        return Surroundings(Map.open((self.x, self.y), (self.x + self.width, self.y + self.height)))
