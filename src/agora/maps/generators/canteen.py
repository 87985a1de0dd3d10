"""Tables with chairs.

Rosnav Canteen of Kästner et al., "Arena 3.0", arXiv 2406.00837, 2024.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from agora.maps.furniture import model_of
from agora.maps.generators.layout import Rectangle, capacity, grown, outline, row, scatter
from agora.maps.generators.plan import Area, FloorPlan, drawn, either_way
from agora.maps.place import Place
from agora.ranges import Chance, Distance, Within
from agora.seeds import Stream

_REACH = 0.8  # distance between the centres of a table and a chair, m
_MOST_COUNTERS = 4
_ENTRANCE = 2.4  # m


@dataclass(frozen=True, kw_only=True)
class Canteen(Area):
    """Round tables in random orientations with up to four chairs each, and a counter at one side with room to queue.

    Attributes:
        obstacle_num: number of tables.
        obstacle_extra_radius: half the edge length of the square reserved for a table, m; larger if its chairs and ``passage``
            require it.
        chair_chance: probability that each of a table's four chairs is present.
        counter: whether there is a counter.
    """

    obstacle_num: Annotated[int, Within(0, 100_000)] = 12
    obstacle_extra_radius: Distance = 1.5
    chair_chance: Chance = 0.6
    counter: bool = True

    def generate(self, stream: Stream) -> Place:
        """Generate a canteen from a random stream.

        Raises:
            PlacementError: the tables or the counter do not fit.
        """
        return drawn(self, lambda: either_way(stream, lambda turns: self._hall(stream, turns)), "passage")

    def _hall(self, stream: Stream, turns: int) -> Place:
        plan = FloorPlan(self, turns=turns)
        hall = self._counter(plan) if self.counter else plan.inner
        chair = model_of("chair").extent
        reach = math.hypot(_REACH + chair[2], chair[3]) if self.chair_chance else model_of("table").radius
        half = max(self.obstacle_extra_radius, reach + self.lane / 2)
        room = grown(hall, -self.lane / 2)
        if self.obstacle_num > (most := math.prod(capacity(room, half))):
            raise self.fail("obstacle_num", f"there is room for only {most} tables, each in a {2 * half:.2f} m square")
        for k, (x, y) in enumerate(scatter(stream, room, half, self.obstacle_num)):
            there = stream.uniform(0.0, 1.0, (4,)) < self.chair_chance
            angles = [q * math.pi / 2 for q in range(4) if there[q]]
            chairs = tuple(("chair", _REACH * math.cos(a), _REACH * math.sin(a), a + math.pi) for a in angles)
            plan.put((("table", 0.0, 0.0, 0.0), *chairs), (x, y, float(stream.uniform(-math.pi, math.pi))))
            plan.zone(f"table {k}", "table", (x - half, y - half, x + half, y + half))
        plan.zone("dining hall", "room", hall)
        for side in (3, 1, 2):
            middle = (hall[1] + hall[3]) / 2 if side % 2 else (hall[0] + hall[2]) / 2
            plan.entrance(side, middle - _ENTRANCE / 2, middle + _ENTRANCE / 2)
        return plan.finish("canteen")

    def _counter(self, plan: FloorPlan) -> Rectangle:
        """Place the counter along the lower wall, with room behind and in front of it; return the rest of the hall."""
        x0, y0, x1, y1 = plan.inner
        length = outline(row("counter"))[2] * 2
        count = min(int((x1 - x0 - 2 * self.lane) / length), _MOST_COUNTERS)
        front = y0 + self.lane + outline(row("counter"))[3]
        if count < 1 or front + self.lane > y1:
            raise self.fail("counter", f"a counter of {length:g} m with {self.lane:g} m of space around it does not fit")
        counter = row(*["counter"] * count)
        pose = ((x0 + x1) / 2, y0 + self.lane, 0.0)
        plan.put(counter, pose)
        ends = outline(counter, pose)
        plan.zone("kitchen", "staff", (x0, y0, x1, y0 + self.lane))
        plan.zone("queue", "queue", (ends[0], front, ends[2], front + self.lane))
        return x0, front + self.lane, x1, y1
