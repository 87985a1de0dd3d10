"""A hall whose ground has gaps and steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from agora.core.state import Floats
from agora.maps.generators.plan import Area, Blocked, FloorPlan, drawn, reachable
from agora.maps.ground import LEVEL, met_by
from agora.maps.place import Place
from agora.ranges import Within
from agora.seeds import Stream


@dataclass(frozen=True, kw_only=True)
class BrokenGround(Area):
    """A hall in which breaks in the ground run from wall to wall, alternating between gaps and steps.

    Each break has one bridge or ramp where wheeled robots can cross. A legged robot that can step high and far enough can cross
    anywhere.

    Attributes:
        breaks: number of gaps and steps.
        gap: width of a gap, a whole number of cells, m.
        step: height of a step, m.
        slope: slope of a ramp, m per m.
    """

    width: float = 18.0
    height: float = 12.0
    breaks: Annotated[int, Within(1, 100)] = 3
    gap: Annotated[float, Within(0.01, 5.0)] = 0.1
    step: Annotated[float, Within(2 * LEVEL, 2.0)] = 0.08
    slope: Annotated[float, Within(0.01, 1.0)] = 0.1

    def generate(self, stream: Stream) -> Place:
        """Generate a hall from a random stream.

        Raises:
            PlacementError: there are too many breaks, or the slope is too steep for the cell size.
        """
        if self.slope * self.resolution > LEVEL:
            raise self.fail("slope", f"on cells of {self.resolution:g} m, the slope itself has steps higher than {LEVEL:g} m")
        return drawn(self, lambda: self._hall(stream), "passage")

    def _hall(self, stream: Stream) -> Place:
        plan = FloorPlan(self)
        x0, y0, x1, y1 = plan.inner
        gap, ramp = max(plan.snap(self.gap), self.resolution), plan.snap(self.step / self.slope) + self.resolution
        bridge, share = self.lane + 2 * self.resolution, (x1 - x0) / (self.breaks + 1)
        room = self.lane + max(gap, ramp) + 2 * self.resolution
        if share < room:
            raise self.fail("breaks", f"there is room for only {max(int((x1 - x0) / room) - 1, 0)} breaks of {room:g} m each")
        if y1 - y0 < bridge:
            raise self.fail("passage", f"there is no room for a bridge of {bridge:g} m")
        ground, up, first = np.zeros(plan.walls.shape, np.float32), False, stream.integer(0, 1)
        for k in range(self.breaks):
            at = plan.snap(x0 + (k + 1) * share + float(stream.uniform(-0.5, 0.5)) * (share - room))
            low = plan.snap(float(stream.uniform(y0, y1 - bridge)))
            if (k + first) % 2:
                self._cut(ground, at, gap, low, bridge)
                plan.zone(f"bridge {k}", "passage", (max(at - 0.5, x0), low, min(at + gap + 0.5, x1), low + bridge))
            else:
                up = not up
                self._raise(ground, at, self.step if up else -self.step, ramp, low, bridge)
                plan.zone(f"ramp {k}", "passage", (max(at - ramp, x0), low, min(at + ramp, x1), low + bridge))
            if k == 0:
                plan.zone("first side", "room", (x0, y0, at, y1))
            if k == self.breaks - 1:
                plan.zone("last side", "room", (at + max(gap, self.resolution), y0, x1, y1))
        for side in (3, 1):
            plan.entrance(side, (y0 + y1) / 2 - 1.0, (y0 + y1) / 2 + 1.0)
        place = plan.finish("broken_ground")
        place = replace(place, map=replace(place.map, ground=ground))
        if reachable(met_by(place.map, 0.0, 0.0).occupied, self)[1] != 1:
            raise Blocked(f"a robot with a passage width of {self.passage:g} m cannot get everywhere")
        return place

    def _cells(self, low: float, high: float) -> slice:
        return slice(round(low / self.resolution), round(high / self.resolution))

    def _cut(self, ground: Floats, at: float, gap: float, low: float, bridge: float) -> None:
        """Cut a gap across the hall, leaving a bridge."""
        columns, rows = self._cells(at, at + gap), self._cells(low, low + bridge)
        kept = ground[rows, columns].copy()
        ground[:, columns] = -np.inf
        ground[rows, columns] = kept

    def _raise(self, ground: Floats, at: float, step: float, ramp: float, low: float, bridge: float) -> None:
        """Make the ground rise or fall abruptly along a line across the hall, except at a ramp on the lower side of the step, where
        the change is gradual.
        """
        rows, after = self._cells(low, low + bridge), self._cells(at, at + ground.shape[1] * self.resolution)
        ground[:, after] += np.float32(step)
        columns = self._cells(at - ramp, at) if step > 0 else self._cells(at, at + ramp)
        count = columns.stop - columns.start
        part = np.arange(1, count + 1) / (count + 1)
        ground[rows, columns] += (abs(step) * (part if step > 0 else part[::-1])).astype(np.float32)
