"""The encoding of APPLR: a short-range scan and the direction of the path; an action contains settings of a planner.

Z. Xu, G. Dhamankar, A. Nair, X. Xiao, G. Warnell, B. Liu, Z. Wang, P. Stone, "APPLR: Adaptive planner parameter learning from
reinforcement", ICRA 2021, and the code of Daffan/nav-competition-icra2022 (branch applr).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.core.state import Array, Floats
from agora.interfaces import Channel, Limits, Observation
from agora.policies.encoding import Observe
from agora.policies.planner_settings import PlannerSettings
from agora.ranges import Count, Distance, Length

if TYPE_CHECKING:
    from agora.robots.model import RobotModel

SPANS = {
    "max_vel_x": (0.2, 2.0),
    "max_vel_theta": (0.314, 3.14),
    "vx_samples": (4, 12),
    "vtheta_samples": (8, 40),
    "path_distance_bias": (0.1, 1.5),
    "goal_distance_bias": (0.1, 2.0),
    "inflation_radius": (0.1, 0.6),
}
"""Minimum and maximum of each setting, for actions of -1 and 1, as in the configuration of the authors' code; integer settings stay
integers.
"""


@dataclass(frozen=True)
class RolloutSettings(PlannerSettings):
    """The scan and the bearing of a local goal; an action contains the settings in `SPANS`, each from -1 (minimum) to 1 (maximum).

    The values are the shortest range in each sector of the lidar, from -0.5 at 0 m to 0.5 at ``scan_range`` and beyond, followed by
    the bearing of the local goal as a fraction of a full turn.

    Attributes:
        beams: number of values of the scan; the authors' code uses all 720 beams of the lidar.
        scan_range: maximum range, m; longer ranges are clipped.
        lookahead: distance along the global path to the local goal, m.
    """

    beams: Count = 90
    scan_range: Length = 2.0
    lookahead: Distance = 1.0

    @functools.cached_property
    def _seen(self) -> Observe:
        return Observe(self.beams, scan_range=self.scan_range, lookahead=self.lookahead)

    def check(self, robot: RobotModel) -> None:
        """Reject a robot whose lidar has too few beams."""
        self._seen.check(robot)

    @property
    def needs(self) -> frozenset[str | Channel]:
        """Return the channels that a planner with this encoding needs."""
        return self._seen.needs

    @property
    def length(self) -> int:
        """Number of values, D."""
        return self.beams + 1

    @property
    def low(self) -> Floats:
        """Minimum values (D,)."""
        return np.full(self.length, -0.5, np.float32)

    @property
    def high(self) -> Floats:
        """Maximum values (D,)."""
        return np.full(self.length, 0.5, np.float32)

    def write(self, observation: Observation, out: Floats, first: int, last: int) -> None:
        """Write the vectors of the rows ``first <= n < last`` into ``out`` (N, D); raises the same errors as `Observe.write`."""
        seen = np.empty((len(observation.pose), self._seen.length), np.float32)
        self._seen.write(observation, seen, first, last)
        cosine, sine = seen[first:last, self.beams + 1], seen[first:last, self.beams + 2]
        out[first:last, : self.beams] = seen[first:last, : self.beams] - np.float32(0.5)
        out[first:last, self.beams] = np.arctan2(sine, cosine) / np.float32(2.0 * math.pi)

    def action_size(self, limits: Limits) -> int:
        """Return the number of settings, 7."""
        return len(SPANS)

    def settings(self, actions: Array) -> dict[str, Floats]:
        """Return the settings (N,) given by actions (N, 7), by name; actions are clipped to [-1, 1]."""
        cut = np.minimum(np.maximum(np.asarray(actions, np.float32), np.float32(-1.0)), np.float32(1.0))
        settings: dict[str, Floats] = {}
        for k, (name, (low, high)) in enumerate(SPANS.items()):
            value = np.float32(low) + np.float32(0.5 * (high - low)) * (cut[:, k] + np.float32(1.0))
            settings[name] = np.rint(value) if isinstance(low, int) else value
        return settings

    def notes(self) -> Mapping[str, Any]:
        """Return the parts and units of the encoded values, and the meaning of an action."""
        spans = (f"{name} {low:g} to {high:g}" for name, (low, high) in SPANS.items())
        return {
            "parts": {"scan": [0, self.beams], "bearing": [self.beams, self.length]},
            "units": {"scan": f"range / {self.scan_range:g} m, cut to 1, less 0.5", "bearing": "of the local goal / 2 pi rad"},
            "actions": f"{', '.join(spans)}; each from -1 to 1",
        }
