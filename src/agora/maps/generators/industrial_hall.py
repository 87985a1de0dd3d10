"""Rows of shelves.

Rosnav Industrial Hall of Kästner et al., "Arena 3.0", arXiv 2406.00837, 2024.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from agora.maps.generators.layout import outline, row, slots
from agora.maps.generators.plan import Area, FloorPlan, drawn, either_way
from agora.maps.place import Place
from agora.ranges import Chance, NotNegative, Within
from agora.seeds import Stream

_BAYS = 5  # number of shelves in a row between crossing aisles
_JACKS = ("pallet_jack_1", "pallet_jack_2", "pallet_jack_3")
_PARKED = 0.9  # width that a parked pallet jack or pallet takes up in an aisle, m


@dataclass(frozen=True, kw_only=True)
class IndustrialHall(Area):
    """Rows of shelves, either all along or all across the hall. Some shelves have a rack behind them; pallets and pallet jacks are
    parked in front of shelves.

    Attributes:
        obstacle_num: number of shelves.
        rack_chance: probability that a shelf has a rack behind it.
        pallet_jacks: number of pallet jacks parked along the fronts of shelves.
        pallets: number of pallets parked along the fronts of shelves.
        aisle: minimum width of the aisle between rows, m; larger if ``passage`` requires it.
    """

    width: float = 30.0
    height: float = 20.0
    obstacle_num: Annotated[int, Within(0, 100_000)] = 28
    rack_chance: Chance = 0.7
    pallet_jacks: Annotated[int, Within(0, 100_000)] = 3
    pallets: Annotated[int, Within(0, 100_000)] = 4
    aisle: NotNegative = 2.4

    def generate(self, stream: Stream) -> Place:
        """Generate a hall from a random stream.

        Raises:
            PlacementError: the shelves do not fit, or there are too few of them for the parked pallets and pallet jacks.
        """
        if self.pallet_jacks + self.pallets > self.obstacle_num:
            raise self.fail(
                "pallet_jacks", f"with {self.pallets} pallets, there are more of both than the {self.obstacle_num} shelves"
            )
        return drawn(self, lambda: either_way(stream, lambda turns: self._hall(stream, turns)), "passage")

    def _hall(self, stream: Stream, turns: int) -> Place:
        plan = FloorPlan(self, turns=turns)
        shelf, rack = (outline(row(model)) for model in ("long_shelf", "rack"))
        aisle = max(self.aisle, self.lane + _PARKED * bool(self.pallet_jacks + self.pallets))
        depth = shelf[3] + rack[3]
        grid = slots(plan.inner, 2 * shelf[2], depth, aisle, max(aisle, self.lane), _BAYS, stream)
        places = [(x, y) for y in grid.lines for x in grid.along]
        if self.obstacle_num > len(places):
            raise self.fail("obstacle_num", f"there is room for only {len(places)} shelves with {aisle:g} m aisles")
        chosen = [places[k] for k in stream.permutation(len(places))[: self.obstacle_num]]
        racks = stream.uniform(0.0, 1.0, (self.obstacle_num,)) < self.rack_chance
        for (x, y), has_rack in zip(chosen, racks, strict=True):
            plan.put(row("long_shelf"), (x, y + rack[3], 0.0))
            if has_rack:
                plan.put(row("rack"), (x, y + rack[3], math.pi))
        for k, (x, y) in enumerate(chosen[: self.pallet_jacks + self.pallets]):
            model = _JACKS[stream.integer(0, 2)] if k < self.pallet_jacks else ("pallet", "pallet2")[stream.integer(0, 1)]
            flip = math.pi * stream.integer(0, 1)
            plan.put(((model, 0.0, 0.0, flip),), (x + float(stream.uniform(-0.4, 0.4)), y + depth + 0.5, 0.0))
        x0, _, x1, _ = plan.inner
        for k, (low, high) in enumerate(grid.aisles):
            plan.zone(f"aisle {k}", "aisle", (x0, low, x1, high))
        for k, (low, high) in enumerate(grid.crossings):
            plan.zone(f"crossing {k}", "corridor", (low, plan.inner[1], high, plan.inner[3]))
            if k in (0, len(grid.crossings) - 1):
                plan.entrance(0, low, high)
                plan.entrance(2, low, high)
        return plan.finish("industrial_hall")
