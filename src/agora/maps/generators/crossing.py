"""Two corridors that cross."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from agora.maps.generators.plan import Area, FloorPlan, drawn
from agora.maps.place import Place
from agora.ranges import Chance, Within
from agora.seeds import Stream


@dataclass(frozen=True, kw_only=True)
class Crossing(Area):
    """Two corridors at right angles that cross at a random place.

    Attributes:
        corridor_width: width of the corridor from left to right, m.
        crossing_width: width of the other corridor, m.
        arms: number of arms: 4, or 3 if one corridor ends at the crossing.
        offset: maximum distance between the crossing and the centre, as a fraction of the distance that the walls allow.
    """

    width: float = 16.0
    height: float = 16.0
    corridor_width: float = 2.5
    crossing_width: float = 2.5
    arms: Annotated[int, Within(3, 4)] = 4
    offset: Chance = 0.4

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_cells("corridor_width", "crossing_width")

    def generate(self, stream: Stream) -> Place:
        """Generate a crossing from a random stream.

        Raises:
            PlacementError: a corridor is too wide for the place or too narrow for the robot.
        """
        return drawn(self, lambda: self._crossing(stream), "passage")

    def _crossing(self, stream: Stream) -> Place:
        plan = FloorPlan(self, turns=stream.integer(0, 3) if self.arms == 3 else 0, solid=True)
        x0, y0, x1, y1 = plan.inner
        widths = ("corridor_width", "crossing_width") if plan.turns % 2 == 0 else ("crossing_width", "corridor_width")
        begin, end = [], []
        for name, low, high in zip(widths, (y0, x0), (y1, x1), strict=True):
            wide = plan.snap(getattr(self, name))
            if not self.opening - 1e-9 <= wide <= high - low + 1e-9:
                need = (
                    f"a robot with a passage width of {self.passage:g} m needs at least {self.opening:g} m"
                    if wide < self.opening
                    else "it does not fit"
                )
                raise self.fail(name, need)
            shift = float(stream.uniform(-self.offset, self.offset)) * (high - low - wide) / 2
            begin.append(plan.snap((low + high - wide) / 2 + shift))
            end.append(begin[-1] + wide)
        along, across = (x0, begin[0], x1, end[0]), (begin[1], y0, end[1], y1 if self.arms == 4 else end[0])
        plan.carve(along)
        plan.carve(across)
        plan.zone("crossing", "crossing", (begin[1], begin[0], end[1], end[0]))
        arms = {
            "left": (x0, begin[0], begin[1], end[0]),
            "right": (end[1], begin[0], x1, end[0]),
            "lower": (begin[1], y0, end[1], begin[0]),
            "upper": (begin[1], end[0], end[1], y1),
        }
        for number, (label, box) in enumerate(arms.items()):
            if number < self.arms and min(box[2] - box[0], box[3] - box[1]) > 0.5 * self.resolution:
                plan.zone(f"{label} arm", "corridor", box)
                side = (3, 1, 0, 2)[number]
                plan.entrance(side, *((box[1], box[3]) if side % 2 else (box[0], box[2])))
        return plan.finish("crossing")
