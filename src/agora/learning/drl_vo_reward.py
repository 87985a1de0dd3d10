"""The reward of DRL-VO, with which Arena's planner TRAIL was trained.

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
    """Rewards progress, distance to obstacles, gentle turns and (the paper's contribution) headings outside velocity obstacles.

    Attributes:
        reached: reward for reaching the last goal.
        timeout: reward if the episode ends with a time-out.
        progress: reward per metre by which the robot has come closer to the goal in the last ``periods`` control periods, or since
            the start of the episode if that is shorter.
        periods: number of control periods over which progress is measured; 10 in the authors' code, i.e. 0.5 s.
        collision: reward if the episode ends with a contact or outside the map.
        near: reward per metre by which the shortest range of the scan is below ``room``, in periods without a collision.
        room: range at or above which obstacles no longer count as near, m.
        turning: reward per rad/s of absolute commanded turning rate if it is above ``turning_rate``.
        turning_rate: absolute turning rate above which ``turning`` applies, rad/s.
        heading: reward per radian by which the turn to a free heading is smaller than ``heading_turn``.
        heading_turn: turn at which ``heading`` gives 0, rad.
        lookahead: distance along the global path to the sub-goal, m; ``heading`` uses the free heading that is closest to the
            sub-goal's bearing.
        seen: distance beyond which people do not block headings, m.
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
        """The required facts; two of them are defined by this reward."""
        nearer = _Nearer(self.periods)
        heading = Fact("free_heading", self._heading, {"path"}, lambda seen: subgoals(seen, self.lookahead), "(N,) turn to it, rad")
        return (
            "nearest",
            "command",
            Fact("nearer", nearer.read, begin=nearer.begin, says="(N,) than some periods ago, m"),
            heading,
        )

    def terms(self, transition: Transition) -> dict[str, Floats]:
        """Return the weighted terms (N,) by name."""
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
        """Return the free heading (N,) closest to the sub-goal's bearing, rad. The sub-goal is chosen at the start of the control
        period; its bearing is computed at the end.

        If no heading is free, return pi / 2.
        """
        pose, twist = passed.observation.pose, passed.observation.twist
        bearing = np.arctan2(goals[:, 1] - pose[:, 1], goals[:, 0] - pose[:, 0]) - pose[:, 2]
        place, velocity, there = people_seen(passed.world)
        return free_heading(place, velocity, there, twist[:, 0], bearing, seen=self.seen, none=math.pi / 2.0)


class _Nearer:
    """Measures by how much N robots have approached their goals over several control periods.

    Args:
        periods: number of control periods.
    """

    def __init__(self, periods: int) -> None:
        self._periods = periods
        self._distances: list[Floats] = []

    def begin(self, seen: Observation) -> Floats:
        """Return the distances (N,) to the goals before the control period, m."""
        return _distances(seen)

    def read(self, passed: Passed, before: Floats) -> Floats:
        """Return by how many metres (N,) the robots have approached their goals, and store the distances at the end of the control
        period.
        """
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
