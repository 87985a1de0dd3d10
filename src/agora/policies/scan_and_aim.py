"""The encoding of LfLH: a scan and the direction of a local goal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.core.state import Floats
from agora.interfaces import Channel, Observation
from agora.policies.encoding import ROBOT_FRAME, FromLimitToLimit, Observe
from agora.ranges import Distance, Natural, Positive

if TYPE_CHECKING:
    from agora.robots.model import RobotModel

_AIM = 2


@dataclass(frozen=True)
class ScanAndAim(FromLimitToLimit):
    """A scan, and the cosine and sine of the bearing of a point ahead on the path; all values lie in [-1, 1].

    The robot's twist is omitted, because a network that clones a driver would learn merely to repeat the current twist.

    Attributes:
        beams: number of values of the scan; each value is the shortest range in its sector of the lidar.
        scan_range: range that maps to 1, m; longer ranges are clipped.
        lookahead: distance along the global path to the point, m. If the distance is 0, or if the path ends earlier, the goal
            itself is used.
    """

    beams: Natural = 90
    scan_range: Positive = 2.0
    lookahead: Distance = 1.5

    @cached_property
    def _observe(self) -> Observe:
        """Return the encoding of the scan and the bearing."""
        return Observe(self.beams, scan_range=self.scan_range, lookahead=self.lookahead)

    def check(self, robot: RobotModel) -> None:
        """Reject a robot whose lidar has too few beams."""
        self._observe.check(robot)

    @property
    def needs(self) -> frozenset[str | Channel]:
        """Return the channels that a planner with this encoding needs."""
        return self._observe.needs

    @property
    def length(self) -> int:
        """Number of values, D."""
        return self.beams + _AIM

    @property
    def low(self) -> Floats:
        """Minimum values (D,)."""
        return np.append(np.zeros(self.beams, np.float32), np.full(_AIM, -1.0, np.float32))

    @property
    def high(self) -> Floats:
        """Maximum values (D,)."""
        return np.ones(self.length, np.float32)

    def write(self, observation: Observation, out: Floats, first: int, last: int) -> None:
        """Write the vectors of the rows ``first <= n < last`` into ``out`` (N, D).

        Raises:
            InputError: the scan is missing, or has fewer beams than the policy needs.
        """
        whole = np.empty((len(out), self._observe.length), np.float32)
        self._observe.write(observation, whole, first, last)
        out[first:last, : self.beams] = whole[first:last, : self.beams]
        out[first:last, self.beams :] = whole[first:last, self.beams + 1 : self.beams + 1 + _AIM]

    def notes(self) -> Mapping[str, Any]:
        """Return the parts, units and frame of the encoded values."""
        units = {
            "scan": f"shortest range of each share of the beams / {self.scan_range:g} m, cut to [0, 1]",
            "aim": f"cosine and sine of the bearing of the point {self.lookahead:g} m ahead on the path",
        }
        parts = {"scan": [0, self.beams], "aim": [self.beams, self.length]}
        return {**super().notes(), "parts": parts, "units": units, "frame": ROBOT_FRAME}
