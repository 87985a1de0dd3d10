"""The unsteadiness of walking pedestrians."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from agora.ranges import Within

__all__ = ["Unsteady"]

_Time = Annotated[float, Within(0.0, 100.0, above=True)]


@dataclass(frozen=True)
class Unsteady:
    """The speed and direction of simulated pedestrians fluctuate around the desired values (`agora.engine.unsteady`).

    The defaults were fitted to ETH/UCY (`agora.validation.motion`).

    Attributes:
        pace: standard deviation of the desired speed, as a fraction of the preferred speed.
        pace_time: time in which a speed deviation decays to 37 %, s.
        direction: standard deviation of the desired direction, rad.
        direction_time: time in which a direction deviation decays to 37 %, s.
    """

    pace: Annotated[float, Within(0.0, 0.5)] = 0.15
    pace_time: _Time = 2.7
    direction: Annotated[float, Within(0.0, 0.5)] = 0.06
    direction_time: _Time = 3.3
