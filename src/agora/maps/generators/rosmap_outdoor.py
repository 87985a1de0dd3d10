"""Trees at random places.

Rosmap Outdoor of Kästner et al., "Arena 3.0", arXiv 2406.00837, 2024.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from agora.maps.furniture import model_of
from agora.maps.generators.layout import capacity, grown, scatter
from agora.maps.generators.plan import Area, FloorPlan, drawn
from agora.maps.place import Place
from agora.ranges import Distance, Within
from agora.seeds import Stream


@dataclass(frozen=True, kw_only=True)
class RosmapOutdoor(Area):
    """A walled park with trees at random places.

    Attributes:
        obstacle_num: number of trees.
        obstacle_extra_radius: half the edge length of the square reserved for a tree, m; larger if ``passage`` requires it.
    """

    obstacle_num: Annotated[int, Within(0, 100_000)] = 15
    obstacle_extra_radius: Distance = 1.0

    def generate(self, stream: Stream) -> Place:
        """Generate a park from a random stream.

        Raises:
            PlacementError: the trees do not fit.
        """
        return drawn(self, lambda: self._park(stream), "passage")

    def _park(self, stream: Stream) -> Place:
        plan = FloorPlan(self)
        half = max(self.obstacle_extra_radius, model_of("tree").radius + self.lane / 2)
        room = grown(plan.inner, -self.lane / 2)
        if self.obstacle_num > (most := math.prod(capacity(room, half))):
            raise self.fail("obstacle_num", f"there is room for only {most} trees, each in a {2 * half:.2f} m square")
        for x, y in scatter(stream, room, half, self.obstacle_num):
            plan.put((("tree", 0.0, 0.0, 0.0),), (x, y, float(stream.uniform(-3.14, 3.14))))
        plan.zone("park", "outdoor", plan.inner)
        return plan.finish("rosmap_outdoor")
