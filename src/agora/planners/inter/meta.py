"""The interplanner that chooses between other interplanners.

After MetaInter of Arena 3.0 (Kästner et al. 2024, arXiv:2406.00837; its fork of move_base_flex), with the defaults of its
dynamic_reconfigure file. In that code, the choice depends on the order in which pedestrians are listed; this module implements the
evident intention, in which elders take precedence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agora.interfaces import Observation
from agora.planners.inter.polite import Polite
from agora.planners.inter.retreat import Manner, Retreat
from agora.planners.inter.sideways import Sideways
from agora.planners.inter.surroundings import Company, wall_within
from agora.ranges import Distance


@dataclass(frozen=True)
class Meta(Retreat):
    """Behaves like `aggressive` by default, like `polite` near elders, and like `sideways` near walls.

    Near an elder, it is polite regardless of what else is nearby. A retreat in progress continues as a polite retreat, no matter
    how it started. As in the original, it does not wait at the end of a retreat, and its aggressive mode slows down at any
    distance.

    Attributes:
        polite_range: distance to an elder up to which it behaves politely, m.
        sideways_range: distance to a wall, minus 0.135 m, up to which it retreats sideways, m.
    """

    polite_range: Distance = 5.0
    sideways_range: Distance = 3.0

    def _manner(self, o: Observation, seen: Company) -> Manner:
        polite = seen.elder <= self.polite_range
        near_wall = wall_within(o, np.full(len(o.pose), self.sideways_range + Sideways.margin, np.float32), behind=False)
        of_both = ((getattr(Polite, name), getattr(Sideways, name)) for name in ("stretch", "turn", "margin"))
        return Manner(polite | near_wall, *(np.where(polite, np.float32(p), np.float32(s)) for p, s in of_both))
