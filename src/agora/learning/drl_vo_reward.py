"""The reward of DRL-VO, by which Arena's planner TRAIL was trained.

Z. Xie, P. Dames, "DRL-VO: Learning to navigate through crowded dynamic scenes using velocity obstacles", IEEE T-RO 2023,
equations 7 to 11, and its code (TempleRAIL/drl_vo_nav, ``turtlebot_gym``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from agora.core.recording import Outcome
from agora.core.state import Floats
from agora.interfaces import Fact, Observation, Passed, Transition
from agora.learning.facts import people_seen
from agora.learning.headings import free_heading
from agora.learning.rewards import added, collision, reached
from agora.policies.subgoal import subgoals
from agora.ranges import Checked, Count, Deviation, Distance

__all__ = ["DrlVoReward"]

_TIMEOUT = int(Outcome.TIMEOUT)


@dataclass(frozen=True)
class DrlVoReward(Checked):
    """Progress, room, calm turns and, the contribution of the paper, a heading that velocity obstacles leave free.

    Attributes:
        reached: for reaching the last goal.
        timeout: for an end by a time-out.
        progress: for every metre by which the goal is nearer than ``periods`` control periods ago; at the start, than at the start.
        periods: control periods of the progress; the code's 10 are 0.5 s.
        collision: for an end by a contact or outside the map.
        near: for every metre by which the shortest range of the scan is below ``room``, in a period that ends nothing.
        room: range from which on nothing is near, m.
        turning: for every rad/s where the robot is to turn faster than ``turning_rate``.
        turning_rate: rad/s.
        heading: for every radian by which the turn to a free heading is below ``heading_turn``.
        heading_turn: rad.
        lookahead: distance along the global path of the sub-goal, to whose bearing the free heading is to be near, m.
        seen: distance beyond which people leave all headings free, m.
    """

    reached: float = 20.0
    timeout: float = -20.0
    progress: float = 3.2
    periods: Count = 10
    collision: float = -20.0
    near: float = -0.2
    room: Distance = 0.9
    turning: float = -0.1
    turning_rate: float = 1.0
    heading: float = 0.6
    heading_turn: Deviation = math.pi / 6.0
    lookahead: Distance = 2.0
    seen: Distance = 7.0

    @property
    def asks(self) -> tuple[str | Fact, ...]:
        """The facts that are read; two are the reward's own."""
        nearer = _Nearer(self.periods)
        heading = Fact("free_heading", self._heading, {"path"}, lambda seen: subgoals(seen, self.lookahead), "(N,) turn to it, rad")
        return (
            "nearest",
            "command",
            Fact("nearer", nearer.read, begin=nearer.begin, says="(N,) than some periods ago, m"),
            heading,
        )

    def terms(self, transition: Transition) -> dict[str, Floats]:
        """Return the terms (N,), weighted, by name."""
        t, facts = transition, transition.facts
        hit, there = collision(t), reached(t)
        goes_on = np.float32(1.0) - hit
        omega = np.abs(facts["command"][:, 2])
        late = (t.outcome == _TIMEOUT).astype(np.float32)
        units = {
            "reached": there,
            "timeout": late,
            "progress": facts["nearer"] * (np.float32(1.0) - there - late),
            "collision": hit,
            "near": np.maximum(np.float32(self.room) - facts["nearest"], np.float32(0.0)) * goes_on,
            "turning": np.where(omega > self.turning_rate, omega, np.float32(0.0)),
            "heading": np.float32(self.heading_turn) - np.abs(facts["free_heading"]),
        }
        return {name: np.asarray(unit * np.float32(getattr(self, name)), np.float32) for name, unit in units.items()}

    def __call__(self, transition: Transition) -> Floats:
        """Return the rewards (N,)."""
        return added(self.terms(transition))

    def _heading(self, passed: Passed, goals: Floats) -> Floats:
        """The free heading at the end of the period, nearest to the bearing of the sub-goal at its beginning; pi / 2 for none."""
        pose, twist = passed.observation.pose, passed.observation.twist
        bearing = np.arctan2(goals[:, 1] - pose[:, 1], goals[:, 0] - pose[:, 0]) - pose[:, 2]
        place, velocity, there = people_seen(passed.world)
        return free_heading(place, velocity, there, twist[:, 0], bearing, seen=self.seen, none=math.pi / 2.0)


class _Nearer:
    """By how much the goals of N robots are nearer than some control periods ago.

    Args:
        periods: how many.
    """

    def __init__(self, periods: int) -> None:
        self._periods = periods
        self._distances: list[Floats] = []

    def begin(self, seen: Observation) -> Floats:
        """Return the distances (N,) before the period."""
        return _distances(seen)

    def read(self, passed: Passed, before: Floats) -> Floats:
        """Return (N,) how much nearer they are, m, and remember the distances at the end."""
        world, now = passed.world, _distances(passed.observation)
        first = np.repeat(world.status.clock.step * world.dt <= 1.5 * passed.observation.dt, world.layout.robots)
        kept = self._distances or [before] * self._periods
        kept = [np.where(first, before, each) for each in kept]
        self._distances = [*kept[1:], now]
        nearer: Floats = kept[0] - now
        return nearer


def _distances(seen: Observation) -> Floats:
    away: Floats = np.hypot(seen.goal[:, 0] - seen.pose[:, 0], seen.goal[:, 1] - seen.pose[:, 1])
    return away
