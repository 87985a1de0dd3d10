"""The encoding of All-in-One: a scan, people, a point on the path, and the goal; an action selects the planner that drives the
robot.

L. Kästner, J. Cox, T. Buiyan, J. Lambrecht, "All-in-One: A DRL-based control switch combining state-of-the-art navigation
planners", ICRA 2022, and its code (Arena-Rosnav/all_in_one, ``observation_collector.py`` and ``all_in_one_parameters.json``).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.core.state import Array, Floats
from agora.errors import InputError
from agora.interfaces import Channel, Limits, Observation
from agora.policies.encoding import ROBOT_FRAME, Observe
from agora.policies.planner_settings import PlannerSettings
from agora.ranges import Count, Distance, Length, Number

if TYPE_CHECKING:
    from agora.robots.model import RobotModel

_GOAL = 3


@dataclass(frozen=True)
class PlannerChoice(PlannerSettings):
    """The vector of `Observe` with a sub-goal, plus the distance and bearing of the goal; an action contains one score per planner.

    The planner with the highest score drives the robot. The published network reads two scans: a scan of the obstacles on the map,
    and a scan of all other obstacles. This encoding has a single scan, and the positions and velocities of people.

    Attributes:
        planners: the planners, as strings such as ``teb`` or ``dwa:sim_time=2.0``.
        beams: number of values of the scan, as in `Observe`.
        scan_range: range that maps to 1, m; longer ranges are clipped.
        pedestrians: number of nearest pedestrians to encode.
        lookahead: distance along the global path to the sub-goal, m.
        goal_range: distance to the goal that maps to 1, m; longer distances are clipped.
    """

    planners: tuple[str, ...] = ("teb", "rosnav_rl")
    beams: Count = 32
    scan_range: Length = 10.0
    pedestrians: Number = 4
    lookahead: Distance = 2.7
    goal_range: Length = 20.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.planners) < 2 or len(set(self.planners)) < len(self.planners):
            raise InputError(f"planner_choice: planners must be two or more different ones, got {list(self.planners)}")

    @functools.cached_property
    def _seen(self) -> Observe:
        return Observe(self.beams, self.scan_range, pedestrians=self.pedestrians, lookahead=self.lookahead)

    @functools.cached_property
    def _aim(self) -> Observe:
        return Observe(0, goal_range=self.goal_range)

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
        return self._seen.length + _GOAL

    @property
    def low(self) -> Floats:
        """Minimum values (D,)."""
        return np.append(self._seen.low, np.array([0.0, -1.0, -1.0], np.float32))

    @property
    def high(self) -> Floats:
        """Maximum values (D,)."""
        return np.ones(self.length, np.float32)

    def write(self, observation: Observation, out: Floats, first: int, last: int) -> None:
        """Write the vectors of the rows ``first <= n < last`` into ``out`` (N, D); raises the same errors as `Observe.write`."""
        size = self._seen.length
        for observe, at, count in ((self._seen, 0, size), (self._aim, size, _GOAL)):
            seen = np.empty((len(observation.pose), observe.length), np.float32)
            observe.write(observation, seen, first, last)
            out[first:last, at : at + count] = seen[first:last, :count]

    def action_size(self, limits: Limits) -> int:
        """Return the number of planners."""
        return len(self.planners)

    def settings(self, actions: Array) -> dict[str, Floats]:
        """Return the index (N,) of the planner with the highest score in actions (N, K); the first if several scores are equal."""
        return {"planner": np.asarray(actions, np.float32).argmax(1).astype(np.float32)}

    def notes(self) -> Mapping[str, Any]:
        """Return the parts, units and frame of the encoded values, and the meaning of an action."""
        seen, size = self._seen.notes(), self._seen.length
        return {
            "parts": {**seen["parts"], "goal_itself": [size, size + _GOAL]},
            "units": {**seen["units"], "goal_itself": self._aim.notes()["units"]["goal"]},
            "frame": ROBOT_FRAME,
            "actions": f"a score each of {', '.join(self.planners)}; the planner with the highest drives",
        }
