"""The "semantics" channel: maps of attributes of the pedestrians around each robot."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from agora.channels.attributes import Attributes, rows_of
from agora.channels.rows import flat, tracks_of
from agora.core.jit import bind, lean_kernel
from agora.core.state import read_only
from agora.interfaces import Bound, Channel, Field, SemanticMaps, SemanticWindow, Setting, Source
from agora.perception.perception import Level
from agora.ranges import Checked


@lean_kernel
def _rasterise(cell, robots, position, present, evidence, out, origin, first, last):
    """Write the maps (N, A, H, H): each cell holds the evidence with the largest absolute value among the pedestrians in it."""
    count, side = robots.x.shape[1], out.shape[2]
    for w in range(first, last):
        for r in range(count):
            n = w * count + r
            origin[n, 0] = (np.floor(robots.x[w, r] / cell) - np.float32(side // 2)) * cell
            origin[n, 1] = (np.floor(robots.y[w, r] / cell) - np.float32(side // 2)) * cell
            out[n] = np.float32(0.0)
            for i in range(present.shape[1]):
                if not present[n, i]:
                    continue
                column = np.int64(np.floor((position[n, i, 0] - origin[n, 0]) / cell))
                row = np.int64(np.floor((position[n, i, 1] - origin[n, 1]) / cell))
                if not (0 <= column < side and 0 <= row < side):
                    continue
                for a in range(out.shape[1]):
                    new, old = evidence[a, n, i], out[n, a, row, column]
                    if abs(new) > abs(old) or (abs(new) == abs(old) and new > old):
                        out[n, a, row, column] = new


@dataclass(frozen=True)
class Semantics(Checked):
    """Semantic maps.

    Attributes:
        window: attributes and size of the maps.
        level: level of perception, as in `agora.channels.attributes.Attributes`; set by the stage.
    """

    channel: ClassVar[str] = SemanticWindow.channel

    window: SemanticWindow = field(default_factory=SemanticWindow)
    level: Level = "truth"

    @staticmethod
    def from_setting(given: Any, setting: Setting) -> Semantics:
        """Return the maps with the requested window, for pedestrians as perceived in the stage."""
        window = given.window if isinstance(given, Semantics) else given or SemanticWindow()
        return Semantics(window, Attributes.under(setting, window.attributes).level)

    @property
    def _attributes(self) -> Attributes:
        return Attributes(self.window.attributes, self.level)

    @property
    def needs(self) -> Collection[str | Channel]:
        """Return the channels that the maps need: the pedestrians and their attributes."""
        return ("pedestrians", self._attributes)

    @property
    def fields(self) -> Mapping[str, Field]:
        """Return the fields: the maps (A, H, W) and the lower-left corner (2,), m."""
        cells = self.window.cells
        return {"evidence": Field((len(self.window.attributes), cells, cells)), "origin": Field((2,), "m", "map")}

    def bind(self, source: Source) -> Bound:
        """Return the maps of a batch."""
        world, window = source.world, self.window
        people, reading = tracks_of(source.readings["pedestrians"]), source.room(self.fields)
        maps, origin = (flat(reading[name]) for name in self.fields)
        evidence = rows_of(source.readings[Attributes.channel])[1]
        cell, seen = np.float32(window.resolution), (people.position, people.present, evidence, maps, origin)
        calls = [bind(_rasterise, cell, world.generation(g)[1], *seen) for g in (0, 1)]

        def read(first: int, last: int) -> None:
            calls[world.now](first, last)

        shown = {"semantics": SemanticMaps(read_only(maps), window.attributes, read_only(origin), window.resolution)}
        return Bound(reading, read=read, views=lambda: shown)
