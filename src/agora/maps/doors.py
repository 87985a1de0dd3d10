"""Moving doors: two leaves that slide apart, like those of a lift.

A map with a door shows the place with the door open, so planners find a path through it. A separate map exists for each position of
the moving leaves. The engine switches between these maps (`agora.world.doors`), so that people, robots, lidars and costmaps all
encounter the same leaves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from agora.core.state import Bools, Doubles
from agora.errors import InputError
from agora.maps.grid import Map

STAGES = 10
"""Number of maps that show the leaves, from the closed door to the last position before fully open."""


@dataclass(frozen=True, eq=False)
class Door:
    """A sliding door with two leaves, which is closed when the episode begins.

    Attributes:
        ends: (2, 2) ends of the opening, m; the leaves of the closed door meet in its middle.
        thickness: thickness of the leaves, m.
        opens: time at which the door begins to open, s.
        closes: time at which the door begins to close, s; it closes later if someone is in the doorway.
        takes: time to open fully, s.
        reach: distance in front of and behind the opening within which a body keeps the door open, m.
    """

    ends: Doubles
    thickness: float = 0.06
    opens: float = 0.0
    closes: float = math.inf
    takes: float = 2.0
    reach: float = 0.2

    def __post_init__(self) -> None:
        ends = np.array(self.ends, np.float64).reshape(2, 2)
        ends.flags.writeable = False
        object.__setattr__(self, "ends", ends)
        if not (np.isfinite(ends).all() and self.width > 0):
            raise InputError(f"door: its ends must be two different points, got {ends.tolist()}")
        if not (0.0 <= self.opens < self.closes and self.takes > 0 and self.thickness > 0 and self.reach >= 0):
            raise InputError(
                f"door: expected 0 <= opens < closes, takes > 0, thickness > 0 and reach >= 0, got opens {self.opens:g}, "
                f"closes {self.closes:g}, takes {self.takes:g}, thickness {self.thickness:g} and reach {self.reach:g}"
            )

    @property
    def width(self) -> float:
        """The width of the opening, m."""
        return float(np.hypot(*(self.ends[1] - self.ends[0])))

    @cached_property
    def axes(self) -> Doubles:
        """(2, 2) unit vectors along and across the opening."""
        along = (self.ends[1] - self.ends[0]) / self.width
        return np.array([along, (-along[1], along[0])])

    def leaves(self, share: float) -> list[Doubles]:
        """Return the leaves of the door as polygons (4, 2) when it is open by a fraction ``share`` (0 to 1); parts inside the walls
        are omitted.
        """
        if share >= 1.0:
            return []
        along, across = self.axes
        left, half = 0.5 * self.width * (1.0 - max(share, 0.0)), 0.5 * self.thickness * across
        corners = [(self.ends[0], left * along), (self.ends[1], -left * along)]
        return [np.array([end - half, end + leaf - half, end + leaf + half, end + half]) for end, leaf in corners]

    def holds(self, places: Doubles, radius: Doubles) -> Bools:
        """Return which bodies (K,) keep the door open, given their positions (K, 2) and radii (K,), m."""
        along, across = self.axes @ (places - self.ends.mean(axis=0)).T
        return np.asarray((np.abs(along) <= 0.5 * self.width + radius) & (np.abs(across) <= self.reach + radius))

    def next(self, share: float, time: float, dt: float, held: bool) -> float:
        """Return how far the door is open after a step of ``dt`` seconds from ``time``, as a fraction from 0 to 1; ``held`` says
        whether a body keeps the door open.

        A door that has closed does not open again.
        """
        opens = self.opens <= time and (time < self.closes or (held and share > 0.0))
        return min(max(share + (dt if opens else -dt) / self.takes, 0.0), 1.0)


def with_door(open_map: Map, door: Door) -> Map:
    """Return a copy of the map with a door, and with one map for each position of the door's leaves."""
    stages = tuple(replace(open_map, polygons=(*open_map.polygons, *door.leaves(k / STAGES))) for k in range(STAGES))
    return replace(open_map, door=door, stages=stages)
