"""Notes why a robot is standing still if its planner gives no reason: after 5 s, a reason is inferred from the circumstances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agora.core.recording import STANDING, Reason
from agora.core.state import Bools, Doubles, Floats

if TYPE_CHECKING:
    from agora.interfaces import Answer
    from agora.maps.grid import Map
    from agora.world.world import World

STANDS_FOR = 5.0
"""Time after which a robot that has not moved needs a reason, s."""

MOVES = 0.1
"""Distance from its previous position beyond which a robot counts as having moved, m."""

BESIDE, AT_WALL = 1.0, 0.3
"""Maximum gaps to a person or robot, and to a wall, at which they are recorded as the reason, m."""


class Standing:
    """Measures how long each robot has stayed within 0.1 m of the same place.

    Args:
        world: state of the worlds.
        period: control period, s.
    """

    def __init__(self, world: World, period: float) -> None:
        worlds, robots = world.layout.worlds, world.layout.robots
        self._world, self._most = world, round(STANDS_FOR / period)
        self._place = np.full((worlds * robots, 2), np.inf)
        self._periods = np.zeros(worlds * robots, np.int64)
        self._lost = np.zeros(worlds * robots, np.bool_)
        self._maps: list[Map | None] = [None] * worlds

    def begin(self, world: int, place: Map, lost: Bools | None = None) -> None:
        """Reset the robots of a world at the start of an episode.

        Args:
            world: index of the world.
            place: map of the world.
            lost: (R,) whether each robot has no path to its goal; None if this is not known.
        """
        count = self._world.layout.robots
        rows = slice(world * count, (world + 1) * count)
        self._place[rows], self._periods[rows], self._maps[world] = np.inf, 0, place
        self._lost[rows] = False if lost is None else lost

    def record_reasons(self, answer: Answer, active: Bools) -> None:
        """Record a reason in active rows (N,) in which the robot has been stationary for 5 s and the planner gave no reason.

        No reason is recorded for a robot within the tolerance of its goal, because it may still be turning to the goal heading.
        """
        robots, goals = self._world.robots, self._world.status.goals
        here = np.stack((robots.x, robots.y), -1).reshape(-1, 2).astype(np.float64)
        left = np.hypot((goals.x - robots.x).reshape(-1), (goals.y - robots.y).reshape(-1))
        moved = ~active | (np.hypot(*(here - self._place).T) > MOVES) | (left <= goals.tolerance.reshape(-1))
        self._place[moved] = here[moved]
        self._periods = np.where(moved, 0, self._periods + 1)
        reasons = answer.notes["reason"]
        for row in map(int, np.flatnonzero((self._periods >= self._most) & (reasons == Reason.NONE))):
            reasons[row] = self._reason(row, here[row], answer.twists[row])

    def _reason(self, row: int, here: Doubles, twist: Floats) -> Reason:
        """Return the reason why a robot is stationary at a position (2,) while its command is a twist (3,), inferred from the
        circumstances.
        """
        w, r = divmod(row, self._world.layout.robots)
        if self._lost[row]:
            return Reason.NO_PATH
        if np.abs(twist).max() >= STANDING:
            return Reason.NO_HEADWAY
        radius, place = float(self._world.robot_traits.radius[w, r]), self._maps[w]
        if self._nearest(w, r, here) - radius <= BESIDE:
            return Reason.STANDS_BY_SOMEBODY
        if place is not None and float(place.gap(here[None], radius + AT_WALL + MOVES)[0]) - radius <= AT_WALL:
            return Reason.STANDS_BY_WALL
        return Reason.STANDS

    def _nearest(self, w: int, r: int, here: Doubles) -> float:
        """Return the distance from a position (2,) to the nearest disc of a pedestrian or another robot, m; infinite if there is
        none.
        """
        world = self._world
        others = world.robots.active[w].copy()
        others[r] = False
        people = (world.pedestrians, world.traits, world.pedestrians.active[w]), (world.robots, world.robot_traits, others)
        gaps = [np.hypot(m.x[w] - here[0], m.y[w] - here[1])[there] - t.radius[w][there] for m, t, there in people]
        return float(np.concatenate(gaps).min(initial=np.inf))
