"""Rooms joined by corridors.

Rosmap Indoor of Kästner et al., "Arena 3.0", arXiv 2406.00837, 2024; Arena's code has only corridors (``rosnav``, map type indoor),
which this generator reproduces with rooms as wide as a corridor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agora.core.state import Doubles
from agora.maps.generators.layout import Rectangle
from agora.maps.generators.plan import Area, FloorPlan, drawn
from agora.maps.place import Place
from agora.ranges import Count, Distance, Positive
from agora.seeds import Stream


@dataclass(frozen=True, kw_only=True)
class RosmapIndoor(Area):
    """Rectangular rooms, each connected to the nearest one by a corridor with one bend; rooms may overlap.

    Attributes:
        corridor_radius: half the width of a corridor, m.
        iterations: number of rooms in addition to the one in the centre.
        room: minimum and maximum edge length of a room, m; at least the width of a corridor.
    """

    width: float = 30.0
    height: float = 24.0
    corridor_radius: Distance = 0.8
    iterations: Count = 10
    room: tuple[Positive, Positive] = (3.0, 6.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_cells("corridor_radius")
        if not self.room[0] <= self.room[1]:
            raise ValueError(f"room: must be [min, max], got {list(self.room)}")

    def generate(self, stream: Stream) -> Place:
        """Generate a floor from a random stream.

        Raises:
            PlacementError: the corridors are too narrow for the robot, or wider than the place.
        """
        if 2 * self.corridor_radius < self.opening - 1e-9:
            raise self.fail(
                "corridor_radius", f"a robot with a passage width of {self.passage:g} m needs at least {self.opening / 2:g} m"
            )
        return drawn(self, lambda: self._floor(stream), "corridor_radius")

    def _floor(self, stream: Stream) -> Place:
        plan = FloorPlan(self, solid=True)
        wide = plan.snap(2 * self.corridor_radius)
        x0, y0, x1, y1 = plan.inner
        low, high = np.array([x0, y0]) + wide / 2, np.array([x1, y1]) - wide / 2
        if (high < low).any():
            raise self.fail("corridor_radius", "a corridor does not fit")
        nodes = [(low + high) / 2]
        for k in range(self.iterations + 1):
            if k:
                node = stream.uniform(0.0, 1.0, (2,)) * (high - low) + low
                nearest = min(nodes, key=lambda other: float(np.abs(other - node).sum()))
                self._corridor(plan, stream, node, nearest, wide, k)
                nodes.append(node)
            edges = np.maximum(stream.uniform(*self.room, (2,)), wide)
            box = np.concatenate([nodes[k] - edges / 2, nodes[k] + edges / 2])
            room = self._within(plan, box)
            plan.carve(room)
            plan.zone(f"room {k}", "room", room)
        return plan.finish("rosmap_indoor")

    def _corridor(self, plan: FloorPlan, stream: Stream, a: Doubles, b: Doubles, wide: float, number: int) -> None:
        bend = np.array([a[0], b[1]]) if stream.uniform() < 0.5 else np.array([b[0], a[1]])
        parts = [self._strip(plan, p, q, wide) for p, q in ((a, bend), (bend, b))]
        for part in parts:
            plan.carve(part)
        plan.zone(f"corridor {number}", "corridor", *parts)

    def _strip(self, plan: FloorPlan, a: Doubles, b: Doubles, wide: float) -> Rectangle:
        """Return the straight corridor between two points."""
        x0, y0 = (plan.snap(v) for v in np.minimum(a, b) - wide / 2)
        x1, y1 = (plan.snap(v) + wide for v in np.maximum(a, b) - wide / 2)
        return self._within(plan, (x0, y0, x1, y1))

    def _within(self, plan: FloorPlan, box: object) -> Rectangle:
        """Return a rectangle snapped to cell boundaries and cropped at the outer wall."""
        x0, y0, x1, y1 = (plan.snap(v) for v in np.asarray(box).tolist())
        left, lower, right, upper = plan.inner
        return max(x0, left), max(y0, lower), min(x1, right), min(y1, upper)
