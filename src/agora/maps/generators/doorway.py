"""Two rooms and the doors between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from agora.maps.generators.plan import Area, FloorPlan, drawn
from agora.maps.place import Place
from agora.ranges import Chance, NotNegative, Within
from agora.seeds import Stream


@dataclass(frozen=True, kw_only=True)
class Doorway(Area):
    """Two rooms, side by side or one above the other, separated by a wall with doors.

    Attributes:
        door: width of a door, m.
        doors: number of doors.
        thickness: thickness of the wall, m.
        offset: maximum distance between the wall and the centre, as a fraction of the distance that the rooms allow.
    """

    width: float = 16.0
    height: float = 10.0
    door: float = 1.2
    doors: Annotated[int, Within(1, 1000)] = 1
    thickness: NotNegative = 0.2
    offset: Chance = 0.4

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_cells("door")

    def generate(self, stream: Stream) -> Place:
        """Generate two rooms from a random stream.

        Raises:
            PlacementError: the doors are too narrow for the robot, there are too many of them, or the wall leaves too little room.
        """
        return drawn(self, lambda: self._rooms(stream), "passage")

    def _rooms(self, stream: Stream) -> Place:
        plan = FloorPlan(self, turns=stream.integer(0, 1))
        x0, y0, x1, y1 = plan.inner
        door, thick = plan.snap(self.door), max(plan.snap(self.thickness), self.resolution)
        if door < self.opening - 1e-9:
            raise self.fail("door", f"a robot with a passage width of {self.passage:g} m needs at least {self.opening:g} m")
        spare = x1 - x0 - thick - 2 * self.opening
        if spare < 0:
            raise self.fail("thickness", f"it does not leave space for two rooms of {self.opening:g} m")
        share = (y1 - y0) / self.doors
        if share < door + self.resolution:
            most = int((y1 - y0) / (door + self.resolution))
            raise self.fail("doors", f"there is room for only {most} doors of {door:g} m each")
        at = plan.snap((x0 + x1 - thick) / 2 + float(stream.uniform(-self.offset, self.offset)) * spare / 2)
        plan.wall((at, y0, at + thick, y1))
        for k in range(self.doors):
            low = plan.snap(y0 + k * share + float(stream.uniform(0.0, share - door - self.resolution)))
            plan.carve((at, low, at + thick, low + door))
            plan.zone(f"door {k}", "door", (max(at - door, x0), low, min(at + thick + door, x1), low + door))
        for side in (3, 1):
            plan.entrance(side, (y0 + y1) / 2 - door, (y0 + y1) / 2 + door)
        plan.zone("first room", "room", (x0, y0, at, y1))
        plan.zone("second room", "room", (at + thick, y0, x1, y1))
        return plan.finish("doorway")
