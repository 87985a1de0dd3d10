"""Settings that make recorded pedestrians step out of a robot's way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from agora.ranges import Distance, Within

__all__ = ["Sidestep"]


@dataclass(frozen=True)
class Sidestep:
    """Recorded pedestrians step aside for a robot that is about to touch them, then return (`agora.engine.sidestep`).

    Attributes:
        horizon: time before a contact at which a person steps aside, s.
        margin: desired clearance to the robot, m.
        speed: maximum speed when stepping aside, m/s.
        back: speed when returning, m/s.
        most: maximum distance from the recorded position, m.
        share: fraction of pedestrians, or of rigid bodies, that step aside at all; drawn once per episode.
    """

    horizon: Annotated[float, Within(0.0, 10.0, above=True)] = 1.0
    margin: Distance = 0.1
    speed: Annotated[float, Within(0.0, 5.0, above=True)] = 1.0
    back: Annotated[float, Within(0.0, 5.0, above=True)] = 0.5
    most: Annotated[float, Within(0.0, 10.0, above=True)] = 0.8
    share: Annotated[float, Within(0.0, 1.0)] = 1.0
