"""An empty rectangle."""

from __future__ import annotations

from dataclasses import dataclass

from agora.draft.surroundings import Surroundings
from agora.maps.grid import Map
from agora.seeds import Stream

_LARGEST, _FARTHEST = 1000.0, 10_000.0  # m


@dataclass(frozen=True)
class Open:
    """A plane without obstacles; its edges are the border of the map.

    Attributes:
        width: size along x, m.
        height: size along y, m.
        x: lower-left corner, x, m.
        y: lower-left corner, y, m.
    """

    width: float = 20.0
    height: float = 20.0
    x: float = 0.0
    y: float = 0.0

    def __post_init__(self) -> None:
        for name in ("width", "height"):
            if not 0 < getattr(self, name) <= _LARGEST:
                raise ValueError(f"{name} must be above 0 and at most {_LARGEST}, got {getattr(self, name)}")
        if not max(abs(self.x), abs(self.y)) <= _FARTHEST:
            raise ValueError(f"x and y must be in [-{_FARTHEST}, {_FARTHEST}], got {self.x} and {self.y}")

    def names(self) -> list[str]:
        """One world."""
        return ["open"]

    def world(self, name: str, stream: Stream) -> Surroundings:
        """Return the plane."""
        return Surroundings(Map.open((self.x, self.y), (self.x + self.width, self.y + self.height)))
