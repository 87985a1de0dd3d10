"""Limits on the steps of pedestrians."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from agora.ranges import Within

__all__ = ["Steps"]

_Positive = Annotated[float, Within(0.0, 100.0, above=True)]


@dataclass(frozen=True)
class Steps:
    """Limits on how fast simulated pedestrians turn (`agora.engine.gait`).

    The default of ``lateral`` was fitted to ETH/UCY (`agora.validation.motion`). It lies between the 99th percentiles of recorded
    people with and without smoothing of their positions, 0.5 to 0.7 and 0.9 to 1.4 m/s2 respectively.

    Attributes:
        lateral: maximum lateral acceleration (speed times turning rate), m/s2.
        on_the_spot: maximum turning rate, rad/s.
    """

    lateral: _Positive = 0.84
    on_the_spot: _Positive = 2.5
