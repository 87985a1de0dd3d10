"""A corridor with alcoves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from agora.maps.generators.layout import Rectangle, at_wall, outline, row
from agora.maps.generators.plan import Area, FloorPlan, drawn
from agora.maps.place import Place
from agora.ranges import Within
from agora.seeds import Stream

_THINGS = ("bench", "cabinet", "plant", "bookcase")
_PITCH = 1.6  # length of wall reserved for an object, m


@dataclass(frozen=True, kw_only=True)
class Corridor(Area):
    """A straight corridor from left to right, with alcoves in which to step aside, and objects along its walls.

    Attributes:
        corridor_width: width of the corridor, m.
        alcoves: number of alcoves in the walls, each 1.5 m deep.
        alcove_width: width of the alcoves, m; larger if ``passage`` requires it.
        obstacle_num: number of benches, cabinets, bookcases and plants along the walls, none of them opposite another.
    """

    width: float = 30.0
    height: float = 8.0
    corridor_width: float = 3.0
    alcoves: Annotated[int, Within(0, 100_000)] = 4
    alcove_width: float = 2.0
    obstacle_num: Annotated[int, Within(0, 100_000)] = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_cells("corridor_width", "alcove_width")

    def generate(self, stream: Stream) -> Place:
        """Generate a corridor from a random stream.

        Raises:
            PlacementError: the corridor is too wide for the place or too narrow for the robot, or something does not fit.
        """
        return drawn(self, lambda: self._corridor(stream), "passage")

    def _corridor(self, stream: Stream) -> Place:
        plan = FloorPlan(self, solid=True)
        x0, y0, x1, y1 = plan.inner
        wide = plan.snap(self.corridor_width)
        if wide > y1 - y0 + 1e-9:
            raise self.fail("corridor_width", "it does not fit")
        depth = max(outline(row(m))[3] for m in _THINGS)
        if wide < self.opening - 1e-9 or (self.obstacle_num and wide - depth < self.lane):
            need = depth + self.lane if self.obstacle_num else self.opening
            raise self.fail("corridor_width", f"a robot with a passage width of {self.passage:g} m needs at least {need:.2f} m")
        low = plan.snap((y0 + y1 - wide) / 2)
        hall = (x0, low, x1, low + wide)
        plan.carve(hall)
        taken = self._alcoves(plan, stream, hall)
        self._things(plan, stream, hall, taken)
        plan.zone("corridor", "corridor", hall)
        for label, at in (("left end", x0), ("right end", x1 - 2 * self.opening)):
            plan.zone(label, "end", (at, low, at + 2 * self.opening, low + wide))
        return plan.finish("corridor")

    def _alcoves(self, plan: FloorPlan, stream: Stream, hall: Rectangle) -> list[tuple[int, float, float]]:
        """Cut the alcoves into the walls; return the side, start and end of each alcove."""
        x0, low, x1, high = hall
        wide = max(plan.snap(self.alcove_width), self.opening)
        room = min(low - plan.inner[1], plan.inner[3] - high, 1.5)
        per_side = int((x1 - x0) / (wide + self.resolution) + 1e-9)
        if self.alcoves and (room < self.resolution or self.alcoves > 2 * per_side):
            most = 2 * per_side if room >= self.resolution else 0
            raise self.fail("alcoves", f"there is room for only {most} alcoves of {wide:g} m each")
        taken: list[tuple[int, float, float]] = []
        spare = (x1 - x0) / max(per_side, 1) - wide
        for n in stream.permutation(2 * per_side)[: self.alcoves]:
            at = plan.snap(x0 + (n // 2) * (x1 - x0) / per_side + float(stream.uniform(0.0, spare)))
            at = min(at, x1 - wide)
            box = (at, high, at + wide, high + plan.snap(room)) if n % 2 else (at, low - plan.snap(room), at + wide, low)
            plan.carve(box)
            plan.zone(f"alcove {len(taken)}", "alcove", box)
            taken.append((2 if n % 2 else 0, at, at + wide))
        return taken

    def _things(self, plan: FloorPlan, stream: Stream, hall: Rectangle, taken: list[tuple[int, float, float]]) -> None:
        """Place objects along the walls where there is no alcove."""
        x0, _, x1, _ = hall
        count = int((x1 - x0) / _PITCH)
        free = []
        for k in range(count):
            sides = [s for s in (0, 2) if all(t[0] != s or t[2] <= x0 + k * _PITCH or t[1] >= x0 + (k + 1) * _PITCH for t in taken)]
            if sides:
                free.append((k, sides))
        if self.obstacle_num > len(free):
            raise self.fail("obstacle_num", f"there is room for only {len(free)} objects next to the alcoves")
        for n in stream.permutation(len(free))[: self.obstacle_num]:
            k, sides = free[n]
            side = sides[stream.integer(0, len(sides) - 1)]
            middle = (k + 0.5) * _PITCH
            along = middle if side == 0 else x1 - x0 - middle
            plan.put(row(_THINGS[stream.integer(0, len(_THINGS) - 1)]), at_wall(hall, side, along))
