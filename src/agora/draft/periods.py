"""The update periods of an episode."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from agora.ranges import Checked, Within

__all__ = ["Periods"]


@dataclass(frozen=True)
class Periods(Checked):
    """The update periods of an episode; all are integer multiples of the physics step.

    Attributes:
        physics: physics step, s.
        control: time between two calls of the planner, s.
        crowd: time between two calls of the crowd model, s.
        sensor: time between two scans, s; a multiple or a fraction of ``control``. If it is a fraction, each scan is taken at the
            time at which it is read.
    """

    physics: Annotated[float, Within(0.001, 1.0)] = 0.05
    control: float = 0.1
    crowd: float = 0.05
    sensor: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("control", "crowd", "sensor"):
            ratio = getattr(self, name) / self.physics
            if not 0.999999 < ratio < 10_000 or abs(ratio - round(ratio)) > 1e-6:
                raise ValueError(f"{name} must be an integer multiple of physics = {self.physics} s, got {getattr(self, name)}")
        control, sensor = self.steps("control"), self.steps("sensor")
        if sensor % control and control % sensor:
            raise ValueError(
                f"sensor must be an integer multiple or an integer fraction of control = {self.control} s, got {self.sensor}"
            )

    def steps(self, name: str) -> int:
        """Return a period as a number of physics steps."""
        return round(float(getattr(self, name)) / self.physics)

    @property
    def common(self) -> int:
        """Number of physics steps between two instants at which all periods start together; episodes begin at multiples of this
        number.
        """
        return math.lcm(*(self.steps(n) for n in ("control", "crowd", "sensor")))
