"""Workplaces in rows.

Rosnav Office of Kästner et al., "Arena 3.0", arXiv 2406.00837, 2024.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from agora.maps.generators.layout import Rectangle, Set, at_wall, length_of, outline, row, slots
from agora.maps.generators.plan import Area, FloorPlan, drawn, either_way
from agora.maps.place import Place
from agora.ranges import NotNegative, Within
from agora.seeds import Stream

__all__ = ["Office"]

_DESKS = 4  # number of workplaces side by side between crossing aisles
_WORKPLACE: Set = (("separator", 0.0, 0.03, 0.0), ("office_desk", 0.0, 0.47, 0.0), ("office_chair", 0.0, 1.22, -math.pi / 2))
_CHAIRS = tuple(("chair", x, y, turn) for y, turn in ((-0.85, math.pi / 2), (0.85, -math.pi / 2)) for x in (-0.75, 0.0, 0.75))
_MEETING: Set = (("meeting_table", 0.0, 0.0, 0.0), *_CHAIRS)
_STORAGE = ("cabinet", "printer", "bookcase", "plant")
_STORAGE_DEPTH = 0.7  # m


@dataclass(frozen=True, kw_only=True)
class Office(Area):
    """Desks with a partition and a chair, back to back in rows along or across the floor, and meeting rooms at one side.

    Attributes:
        obstacle_num: number of workplaces.
        meeting_rooms: number of rooms with a table and six chairs.
        storage: number of cabinets, bookcases, printers and plants at the walls.
        aisle: minimum width of the aisle behind the chairs, m; larger if ``passage`` requires it.
        door: minimum width of the doors, m; larger if ``passage`` requires it.
    """

    width: float = 24.0
    obstacle_num: Annotated[int, Within(0, 100_000)] = 36
    meeting_rooms: Annotated[int, Within(0, 100_000)] = 2
    storage: Annotated[int, Within(0, 100_000)] = 5
    aisle: NotNegative = 1.6
    door: NotNegative = 1.2

    def generate(self, stream: Stream) -> Place:
        """Generate an office from a random stream.

        Raises:
            PlacementError: workplaces, meeting rooms or storage do not fit.
        """
        return drawn(self, lambda: either_way(stream, lambda turns: self._floor(stream, turns)), "passage")

    def _floor(self, stream: Stream, turns: int) -> Place:
        plan = FloorPlan(self, turns=turns)
        x0, y0, x1, y1 = self._meeting_rooms(plan, stream) if self.meeting_rooms else plan.inner
        desks = (x0 + _STORAGE_DEPTH, y0, x1 - _STORAGE_DEPTH, y1) if self.storage else (x0, y0, x1, y1)
        aisle = max(self.aisle, self.lane)
        _, _, half, depth = outline(_WORKPLACE)
        grid = slots(desks, 2 * half, 2 * depth, aisle, aisle, _DESKS, stream)
        places = [(x, y + depth, turn) for y in grid.lines for x in grid.along for turn in (0.0, math.pi)]
        if self.obstacle_num > len(places):
            raise self.fail("obstacle_num", f"there is room for only {len(places)} workplaces with {aisle:g} m aisles")
        for k, n in enumerate(stream.permutation(len(places))[: self.obstacle_num]):
            x, y, turn = places[n]
            plan.put(_WORKPLACE, (x, y, turn))
            left, low, right, high = outline(_WORKPLACE, (x, y, turn))
            behind = aisle / 2
            plan.zone(f"workplace {k}", "workplace", (left, low - behind * (turn > 0), right, high + behind * (turn == 0)))
        for k, (low, high) in enumerate(grid.aisles):
            plan.zone(f"aisle {k}", "aisle", (x0, low, x1, high))
        for side in (3, 1):
            plan.entrance(side, *grid.aisles[-1])
        plan.entrance(2, (x0 + x1) / 2 - self.door, (x0 + x1) / 2 + self.door)
        self._storage(plan, stream, (x0, y0, x1, y1))
        plan.zone("floor", "room", (x0, y0, x1, y1))
        return plan.finish("office")

    def _meeting_rooms(self, plan: FloorPlan, stream: Stream) -> Rectangle:
        """Partition off the meeting rooms at the lower side of the floor; return the rest of the floor."""
        x0, y0, x1, y1 = plan.inner
        _, low, half, high = outline(_MEETING)
        cell, door = self.resolution, max(plan.snap(self.door), self.opening)
        top = y0 + math.ceil((high - low + 2 * self.lane) / cell) * cell
        wide = plan.snap((x1 - x0) / self.meeting_rooms)
        if wide - cell < 2 * half + 2 * self.lane or top + cell + self.lane > y1:
            raise self.fail("meeting_rooms", f"each needs {2 * half + 2 * self.lane:.2f} x {top - y0:.2f} m")
        plan.wall((x0, top, x1, top + cell))
        for k in range(self.meeting_rooms):
            left, right = x0 + k * wide, x1 if k == self.meeting_rooms - 1 else x0 + (k + 1) * wide - cell
            plan.wall((right, y0, right + cell, top))
            at = plan.snap(float(stream.uniform(left, right - door)))
            plan.carve((at, top, at + door, top + cell))
            plan.put(_MEETING, ((left + right) / 2, (y0 + top) / 2, 0.0))
            plan.zone(f"meeting room {k}", "room", (left, y0, right, top))
            plan.zone(f"door {k}", "door", (at, top - door, at + door, top + cell + door))
        return x0, top + cell, x1, y1

    def _storage(self, plan: FloorPlan, stream: Stream, floor: Rectangle) -> None:
        """Place objects along the left and right walls of the floor."""
        edge = 1.0
        per_side = int(length_of(floor, 1) / edge)
        if self.storage > 2 * per_side:
            raise self.fail("storage", f"there is room for only {2 * per_side} objects along the walls")
        for n in stream.permutation(2 * per_side)[: self.storage]:
            side, along = (1, 3)[n % 2], (n // 2 + 0.5) * edge
            plan.put(row(_STORAGE[stream.integer(0, len(_STORAGE) - 1)]), at_wall(floor, side, along))
