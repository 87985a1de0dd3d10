"""The unsteadiness of walking people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from agora.ranges import Within

__all__ = ["Unsteady"]

_Time = Annotated[float, Within(0.0, 100.0, above=True)]


@dataclass(frozen=True)
class Unsteady:
    """The pace and the direction of simulated pedestrians fluctuate about the wanted ones (`agora.engine.unsteady`).

    Attributes:
        pace: standard deviation of the wanted speed, as a share of the preferred one.
        pace_time: time in which such a deviation falls to 37 %, s.
        direction: standard deviation of the wanted direction, rad.
        direction_time: time in which such a deviation falls to 37 %, s.
    """

    pace: Annotated[float, Within(0.0, 0.5)] = 0.12
    pace_time: _Time = 3.0
    direction: Annotated[float, Within(0.0, 0.5)] = 0.1
    direction_time: _Time = 3.0
