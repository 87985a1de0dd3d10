"""The interplanner that chooses among other interplanners.

After MetaInter of Arena 3.0 (Kästner et al. 2024, arXiv:2406.00837; its fork of move_base_flex), with the defaults of its
dynamic_reconfigure file. Its choice depends on the order in which pedestrians are listed; this module implements the evident
intention, elders first.
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
    """Aggressive by default, polite near elders, sideways near walls.

    Near an elder it is polite whatever else is near. A started retreat continues as a polite one, whichever manner started it. As
    in the original, it does not wait at the end of a retreat, and in the aggressive manner it slows down at any distance.

    Attributes:
        polite_range: distance to an elder up to which it is polite, m.
        sideways_range: distance to a wall, minus 0.135 m, up to which it is sideways, m.
    """

    polite_range: Distance = 5.0
    sideways_range: Distance = 3.0

    def _manner(self, o: Observation, seen: Company) -> Manner:
        polite = seen.elder <= self.polite_range
        near_wall = wall_within(o, np.full(len(o.pose), self.sideways_range + Sideways.margin, np.float32), behind=False)
        of_both = ((getattr(Polite, name), getattr(Sideways, name)) for name in ("stretch", "turn", "margin"))
        return Manner(polite | near_wall, *(np.where(polite, np.float32(p), np.float32(s)) for p, s in of_both))
