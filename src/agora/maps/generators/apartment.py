"""An apartment: furnished rooms on both sides of a hallway."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from agora.maps.generators.layout import Rectangle, Set, apart, at_wall, grown, length_of, outline, row
from agora.maps.generators.plan import Area, FloorPlan, drawn
from agora.maps.place import Place
from agora.ranges import Chance, NotNegative, Within
from agora.seeds import Stream

_SOFA: Set = (*row("sofa"), ("coffee_table", 0.0, 1.5, 0.0))
_DINING: Set = (
    ("dining_table", 0.0, 0.42, 0.0),
    *(("chair", x, 1.1, -math.pi / 2) for x in (-0.35, 0.35)),
    *(("chair", s * 1.0, 0.42, math.pi / 2 + s * math.pi / 2) for s in (-1, 1)),
)
_STUDY: Set = (*row("desk"), ("office_chair", 0.0, 0.95, -math.pi / 2))
_ROOMS: dict[str, tuple[float, tuple[Set, ...]]] = {
    "living_room": (2.0, (_SOFA, row("tv_stand"), _DINING, row("bookcase", "bookcase"), row("armchair"), row("plant"))),
    "kitchen": (1.2, (row("fridge", "kitchen_unit", "stove"), row("dining_table"), row("cabinet"))),
    "bathroom": (0.8, (row("shower"), row("toilet"), row("washbasin"))),
    "bedroom": (1.3, (row("bedside_cabinet", "double_bed", "bedside_cabinet"), row("wardrobe"), _STUDY)),
}
"""Fraction of the length, and furniture in order of importance; furniture that does not fit is left out."""

_TRIES = 30


@dataclass(frozen=True, kw_only=True)
class Apartment(Area):
    """A living room, kitchen, bathroom and bedrooms on both sides of a hallway, furnished along their walls.

    Attributes:
        bedrooms: number of bedrooms.
        hallway: minimum width of the hallway, m.
        door: minimum width of the doors, m. The hallway and the doors are wider if ``passage`` requires it.
        furnished: fraction of the furniture that the generator tries to place.
    """

    width: float = 13.0
    height: float = 10.0
    passage: NotNegative = 0.4
    bedrooms: Annotated[int, Within(1, 100)] = 2
    hallway: float = 1.5
    door: float = 1.0
    furnished: Chance = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_cells("hallway", "door")

    def generate(self, stream: Stream) -> Place:
        """Generate an apartment from a random stream.

        Raises:
            PlacementError: the rooms do not fit.
        """
        return drawn(self, lambda: self._rooms(stream), "passage")

    def _rooms(self, stream: Stream) -> Place:
        plan, cell = FloorPlan(self, turns=stream.integer(0, 1) * 2 + (self.height > self.width)), self.resolution
        x0, y0, x1, y1 = plan.inner
        hallway, least = max(plan.snap(self.hallway), self.opening), max(2.0, self.lane + cell, self.opening + 2 * cell)
        spare = y1 - y0 - hallway - 2 * cell - 2 * least
        if spare < 0:
            raise self.fail("hallway", f"it leaves no space for rooms of {least:.2f} m on both sides")
        low = plan.snap(y0 + least + cell + spare * float(stream.uniform(0.35, 0.65)))
        plan.zone("hallway", "corridor", (x0, low, x1, low + hallway))
        plan.entrance(3, low, low + hallway)
        first, second = ["living_room", "kitchen"], ["bathroom", *["bedroom"] * self.bedrooms]
        for kinds, lower, upper in ((first, low + hallway + cell, y1), (second, y0, low - cell)):
            shares = [_ROOMS[kind][0] * float(stream.uniform(0.85, 1.15)) for kind in kinds]
            free = x1 - x0 - cell * (len(kinds) - 1) - least * len(kinds)
            if free < 0:
                raise self.fail("bedrooms", f"there is no room for {len(kinds)} rooms of {least:.2f} m side by side")
            order = [int(k) for k in stream.permutation(len(kinds))]
            left = x0
            for place, k in enumerate(order):
                right = x1 if place == len(order) - 1 else plan.snap(left + least + free * shares[k] / sum(shares))
                if right < x1:
                    plan.wall((right, lower, right + cell, upper))
                self._room(plan, stream, kinds[k], k, (left, lower, right, upper), lower > low)
                left = right + cell
        return plan.finish("apartment")

    def _room(self, plan: FloorPlan, stream: Stream, kind: str, number: int, room: Rectangle, above: bool) -> None:
        """Separate a room from the hallway, give it a door, and furnish it."""
        x0, y0, x1, y1 = room
        cell, door = self.resolution, max(plan.snap(self.door), self.opening)
        wall = (x0 - cell, y0 - cell, x1 + cell, y0) if above else (x0 - cell, y1, x1 + cell, y1 + cell)
        plan.wall(wall)
        at = plan.snap(float(stream.uniform(x0 + cell, x1 - door - cell)))
        plan.carve((at, wall[1], at + door, wall[3]))
        label = f"{kind} {number}" if kind == "bedroom" else kind
        plan.zone(label, "room", room)
        plan.zone(f"{label} door", "door", (at, wall[1] - door / 2, at + door, wall[3] + door / 2))
        way = (at - 0.1, y0, at + door + 0.1, y0 + self.lane) if above else (at - 0.1, y1 - self.lane, at + door + 0.1, y1)
        taken: list[Rectangle] = []
        fronts = [way]
        for set_ in _ROOMS[kind][1]:
            if stream.uniform() < self.furnished:
                self._stand(plan, stream, set_, room, taken, fronts)

    def _stand(
        self, plan: FloorPlan, stream: Stream, set_: Set, room: Rectangle, taken: list[Rectangle], fronts: list[Rectangle]
    ) -> None:
        """Place a set of furniture against a wall, if a place is found where it blocks neither other furniture nor the space in
        front of other furniture.
        """
        left, _, right, depth = outline(set_)
        for _ in range(_TRIES):
            side, u = stream.integer(0, 3), float(stream.uniform())
            spare = length_of(room, side) - (right - left)
            if spare < 0:
                continue
            u = 0.0 if u < 0.3 else 1.0 if u > 0.7 else (u - 0.3) / 0.4
            pose = at_wall(room, side, spare * u - left)
            box = outline(set_, pose)
            front = self._front(box, side)
            inside = room[0] - 1e-9 <= min(box[0], front[0]) and room[1] - 1e-9 <= min(box[1], front[1])
            inside &= max(box[2], front[2]) <= room[2] + 1e-9 and max(box[3], front[3]) <= room[3] + 1e-9
            if inside and apart(box, [*taken, *fronts]) and apart(front, taken):
                plan.put(set_, pose)
                taken.append(grown(box, 0.02))
                fronts.append(front)
                return

    def _front(self, box: Rectangle, side: int) -> Rectangle:
        """Return the space in front of a set of furniture against a wall, which must stay free."""
        x0, y0, x1, y1 = box
        way = self.lane
        return ((x0, y1, x1, y1 + way), (x0 - way, y0, x0, y1), (x0, y0 - way, x1, y0), (x1, y0, x1 + way, y1))[side]
