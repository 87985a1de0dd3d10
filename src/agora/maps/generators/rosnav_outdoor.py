"""Square blocks at random places.

Rosnav Outdoor of Kästner et al., "Arena 3.0", arXiv 2406.00837, 2024; called ``rosnav`` with map type outdoor in Arena's code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from agora.maps.generators.plan import Area, FloorPlan, drawn
from agora.maps.place import Place
from agora.ranges import Distance, Within
from agora.seeds import Stream


@dataclass(frozen=True, kw_only=True)
class RosnavOutdoor(Area):
    """A walled yard with square blocks, which may overlap; areas that the robot cannot reach are filled.

    Attributes:
        obstacle_num: number of blocks.
        obstacle_extra_radius: half the edge length of a block, m.
    """

    obstacle_num: Annotated[int, Within(0, 100_000)] = 10
    obstacle_extra_radius: Distance = 0.75

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_cells("obstacle_extra_radius", cells=0.5)

    def generate(self, stream: Stream) -> Place:
        """Generate a yard from a random stream.

        Raises:
            PlacementError: the blocks leave the robot too little free space.
        """
        return drawn(self, lambda: self._yard(stream), "obstacle_num")

    def _yard(self, stream: Stream) -> Place:
        plan = FloorPlan(self)
        edge = max(plan.snap(2 * self.obstacle_extra_radius), self.resolution)
        for u, v in stream.uniform(0.0, 1.0, (self.obstacle_num, 2)):
            x, y = plan.snap(u * plan.width - edge / 2), plan.snap(v * plan.height - edge / 2)
            plan.wall((x, y, x + edge, y + edge))
        plan.zone("yard", "outdoor", plan.inner)
        return plan.finish("rosnav_outdoor", fill=True)
