"""A hospital ward: rooms with beds on both sides of a corridor."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from agora.maps.generators.layout import Rectangle, at_wall, grown, outline, row
from agora.maps.generators.plan import Area, FloorPlan, drawn
from agora.maps.place import Place
from agora.ranges import Chance, Within
from agora.seeds import Stream

_BED = 2.3  # length of wall reserved for a bed with its cabinet, m
_ENTRANCE = 1.3  # part of a room's depth reserved for the door and the basin, m


@dataclass(frozen=True, kw_only=True)
class HospitalWard(Area):
    """Rooms with beds on both sides of a corridor, and a nurses' station that is open to the corridor.

    Attributes:
        corridor_width: width of the corridor, m.
        room_width: minimum width of a room, m; larger if ``passage`` requires it.
        beds: number of beds per room.
        occupancy: probability that each bed is present.
        door: minimum width of the doors, m; larger if ``passage`` requires it.
    """

    width: float = 30.0
    height: float = 16.0
    corridor_width: float = 2.6
    room_width: float = 4.2
    beds: Annotated[int, Within(0, 1000)] = 2
    occupancy: Chance = 0.9
    door: float = 1.3

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_cells("corridor_width", "room_width", "door")

    def generate(self, stream: Stream) -> Place:
        """Generate a ward from a random stream.

        Raises:
            PlacementError: rooms, beds or corridor do not fit.
        """
        return drawn(self, lambda: self._ward(stream), "passage")

    def _ward(self, stream: Stream) -> Place:
        turns = stream.integer(0, 1) * 2 + (self.height > self.width)
        plan, cell = FloorPlan(self, turns=turns), self.resolution
        x0, y0, x1, y1 = plan.inner
        wide = plan.snap(self.corridor_width)
        if wide < self.opening - 1e-9:
            raise self.fail(
                "corridor_width", f"a robot with a passage width of {self.passage:g} m needs at least {self.opening:g} m"
            )
        low = plan.snap((y0 + y1 - wide) / 2)
        bed = outline(row("hospital_bed"))[3]
        count = int((x1 - x0 + cell) / (max(self.room_width, bed + self.lane, 2 * self.opening) + cell) + 1e-9)
        depth = min(low - cell - y0, y1 - low - wide - cell)
        need = self.beds * _BED + max(_ENTRANCE, self.lane)
        if depth < need:
            raise self.fail("beds", f"the rooms are {max(depth, 0):.2f} m deep, but must be at least {need:.2f} m deep")
        if count < 1:
            raise self.fail("room_width", "no room fits")
        plan.zone("corridor", "corridor", (x0, low, x1, low + wide))
        for side in (3, 1):
            plan.entrance(side, low, low + wide)
        station = stream.integer(0, 2 * count - 1)
        share = (x1 - x0 + cell) / count
        for n in range(2 * count):
            left, right = plan.snap(x0 + (n // 2) * share), plan.snap(x0 + (n // 2 + 1) * share - cell)
            upper = n % 2 == 1
            room = (left, low + wide + cell, right, y1) if upper else (left, y0, right, low - cell)
            if right < x1 - 1e-9:
                plan.wall((right, room[1], right + cell, room[3]))
            if n == station:
                self._station(plan, room, upper)
            else:
                self._room(plan, stream, room, upper, n)
        return plan.finish("hospital_ward")

    def _room(self, plan: FloorPlan, stream: Stream, room: Rectangle, upper: bool, number: int) -> None:
        """Add a room with the heads of the beds at one side wall and the door to the corridor near the opposite side wall."""
        cell, door = self.resolution, max(plan.snap(self.door), self.opening)
        x0, y0, x1, y1 = room
        wall = (x0 - cell, y0 - cell, x1 + cell, y0) if upper else (x0 - cell, y1, x1 + cell, y1 + cell)
        plan.wall(wall)
        heads_left = bool(stream.uniform() < 0.5)
        at = x1 - door - cell if heads_left else x0 + cell
        plan.carve((at, wall[1], at + door, wall[3]))
        plan.zone(f"door {number}", "door", (at, wall[1] - door, at + door, wall[3] + door))
        plan.zone(f"room {number}", "room", room)
        side = 3 if heads_left else 1
        for k in range(self.beds):
            if stream.uniform() >= self.occupancy:
                continue
            far = 0.1 + (k + 0.5) * _BED  # distance from the wall with the windows
            along = far if (side == 3) == upper else y1 - y0 - far
            pose = at_wall(room, side, along)
            bed = row("hospital_bed", "bedside_cabinet", gap=0.1)
            plan.put(bed, pose)
            about = grown(outline(bed, pose), self.passage + 4 * cell)
            inside = max(about[0], x0), max(about[1], y0), min(about[2], x1), min(about[3], y1)
            plan.zone(f"bed {number}.{k}", "bed", inside)
        corner = 0.4 if heads_left == upper else x1 - x0 - 0.4
        plan.put(row("washbasin"), at_wall(room, 0 if upper else 2, corner))

    def _station(self, plan: FloorPlan, room: Rectangle, upper: bool) -> None:
        """Add the nurses' station, with counters towards the corridor and cabinets at the back."""
        x0, y0, x1, y1 = room
        back, front = (2, y0) if upper else (0, y1)
        middle = (x1 - x0) / 2
        counter = row("counter")
        depth = outline(counter)[3]
        if middle * 2 >= 2.0 + 2 * self.lane and y1 - y0 >= depth + self.lane + 0.5:
            plan.put(counter, (x0 + middle, front + (depth if upper else -depth), math.pi if upper else 0.0))
        plan.put(row("cabinet", "cabinet", "bookcase"), at_wall(room, back, middle))
        cell = self.resolution
        plan.zone("nurses", "staff", (x0, y0 - cell, x1, y1) if upper else (x0, y0, x1, y1 + cell))
