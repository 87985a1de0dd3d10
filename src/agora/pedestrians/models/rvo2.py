"""ORCA with the parameters from an example in the authors' RVO2 library.

van den Berg, Guy, Snape, Lin and Manocha, RVO2 library, 2008-2023, examples/Circle.cc: neighborDist 15, maxNeighbors 10,
timeHorizon 10, maxSpeed 2 at a preferred speed of 1. The library itself has no defaults. The example has no obstacles; its
timeHorizonObst of 10 would make people creep along walls, so this model uses the value of `Orca`.
"""

from __future__ import annotations

from dataclasses import dataclass

from agora.pedestrians.models.orca import Orca
from agora.ranges import Distance, Duration, Positive


@dataclass(frozen=True)
class Rvo2(Orca):
    """ORCA with a longer horizon and a speed cap of twice the preferred speed for evasive motion."""

    neighbour_distance: Distance = 15.0
    horizon: Duration = 10.0
    padding: Distance = 0.0
    max_speed_factor: Positive = 2.0
