"""Noise models of depth cameras: structured light and time of flight.

Structured light: K. Khoshelham and S. Oude Elberink, "Accuracy and resolution of Kinect depth data for indoor mapping
applications", Sensors 12(2), 2012: the standard deviation grows with the square of the depth, to 3.6 cm at 5 m, and so does the
step between adjacent readings. Time of flight: P. Fankhauser, M. Bloesch, D. Rodriguez, R. Kaestner, M. Hutter and R. Siegwart,
"Kinect v2 for mobile robot navigation: evaluation and modeling", ICAR 2015: the axial noise indoors, without the component that
depends on the angle of the surface.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from agora.core.jit import kernel
from agora.core.state import Floats
from agora.ranges import Chance, Checked
from agora.seeds import normal_at, uniform_at

__all__ = ["NOISES", "StructuredLight", "TimeOfFlight"]

_STREAM = np.uint64(0x63616D6572612D31)


@kernel
def _disturb(key, identity, step, a, b, c, unit, lost, depth):
    """Add noise with the standard deviation a + b z + c z^2 to depths z, round them to steps of unit z^2, and drop readings."""
    rows, columns = depth.shape
    for v in range(rows):
        for u in range(columns):
            z, index = np.float64(depth[v, u]), v * columns + u
            if z <= 0.0:
                continue
            if lost > 0.0 and uniform_at(key, identity, step, index) < lost:
                depth[v, u] = np.float32(0.0)
                continue
            read = z + (a + b * z + c * z * z) * normal_at(key, identity, step, index)
            if unit > 0.0:
                read = 1.0 / (unit * np.round(1.0 / (unit * max(read, 1e-3))))
            depth[v, u] = np.float32(max(read, 1e-3))


@dataclass(frozen=True)
class _DepthNoise(Checked):
    """The noise of a depth camera: a standard deviation that is a polynomial in the depth, quantisation steps, and lost readings.

    Attributes:
        lost: probability that a pixel has no reading.
    """

    polynomial: ClassVar[tuple[float, float, float]]
    step: ClassVar[float] = 0.0

    lost: Chance = 0.0

    def disturb(self, key: np.uint64, robot: int, step: int, depth: Floats) -> None:
        """Add noise to depths (rows, columns), m, in place; 0 stays 0.

        Args:
            key: key of the episode's random stream.
            robot: number of the robot.
            step: number of the step in the episode.
            depth: depths along the optical axis, which are modified.
        """
        _disturb(key ^ _STREAM, robot, step, *self.polynomial, self.step, self.lost, depth)


@dataclass(frozen=True)
class StructuredLight(_DepthNoise):
    """A structured-light camera, like the first Kinect: noise of 1.4 mm at 1 m and 3.6 cm at 5 m, where readings have steps of 7
    cm.

    Attributes:
        lost: probability that a pixel has no reading.
    """

    polynomial: ClassVar[tuple[float, float, float]] = (0.0, 0.0, 1.425e-3)
    step: ClassVar[float] = 2.85e-3


@dataclass(frozen=True)
class TimeOfFlight(_DepthNoise):
    """A time-of-flight camera, like the second Kinect: noise of 1.3 mm at 1 m and 6.5 mm at 5 m.

    Attributes:
        lost: probability that a pixel has no reading.
    """

    polynomial: ClassVar[tuple[float, float, float]] = (1.5e-3, -0.5e-3, 0.3e-3)


Noise = Literal["none", "structured_light", "time_of_flight"]

NOISES: dict[str, type[_DepthNoise]] = {"structured_light": StructuredLight, "time_of_flight": TimeOfFlight}
"""Noise models of depth cameras, by name."""
