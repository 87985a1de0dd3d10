"""Clumps of walls from a cellular automaton, as in the BARN data set.

Perille, Truong, Xiao and Stone, "Benchmarking metric ground navigation", SSRR 2020. The automaton uses the same rule as Arena's
``barn`` generator.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from agora.core.state import Bools
from agora.maps.generators.plan import Area, Blocked, FloorPlan, drawn
from agora.maps.place import Place
from agora.ranges import Chance, Count, Within
from agora.seeds import Stream


@dataclass(frozen=True, kw_only=True)
class Barn(Area):
    """A field of irregular clumps of walls, with a path from its left end to its right end.

    Blocks are filled at random and then smoothed: a block is filled if more than four of its eight neighbours are filled, and freed
    if fewer than two are. The space above the top row and below the bottom row counts as filled. Fields without a path from left to
    right are drawn again; areas that the robot cannot reach are filled.

    Attributes:
        fill_pct: fraction of the blocks that are filled initially.
        smooth_iter: number of smoothing passes. With 0, single blocks remain, and a robot of 0.5 m gets through only if few blocks
            are filled (``fill_pct`` 0.05) or the blocks are large (``cell`` 1.0).
        cell: edge of a block, m (BARN: 0.15; Arena: its map's resolution, 0.5).
        tries: maximum number of fields drawn before the generator gives up.
    """

    fill_pct: Chance = 0.2
    smooth_iter: Annotated[int, Within(0, 1000)] = 5
    cell: float = 0.5
    tries: Count = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_cells("cell")
        if self.cell > min(self.width, self.height):
            raise ValueError(f"cell: must be at most width and height ({self.width} and {self.height} m), got {self.cell}")

    def generate(self, stream: Stream) -> Place:
        """Generate a field from a random stream.

        Raises:
            PlacementError: no field had a path from left to right, or enough free space. The error names ``fill_pct`` as the cause
                or, if ``smooth_iter`` is 0, ``smooth_iter``.
        """
        blame = "fill_pct" if self.smooth_iter else "smooth_iter"
        return drawn(self, lambda: self._field(stream), blame, self.tries)

    def _field(self, stream: Stream) -> Place:
        plan = FloorPlan(self)
        rows, columns = plan.walls.shape
        shape = math.ceil(plan.height / self.cell - 1e-9), math.ceil(plan.width / self.cell - 1e-9)
        blocks = smoothed(np.asarray(stream.uniform(shape=shape) < self.fill_pct), self.smooth_iter)
        row, column = (((np.arange(n) + 0.5) * self.resolution / self.cell).astype(int) for n in (rows, columns))
        plan.walls |= blocks[np.ix_(np.minimum(row, shape[0] - 1), np.minimum(column, shape[1] - 1))]
        x0, y0, x1, y1 = plan.inner
        end = self.passage + 2 * self.cell + self.resolution
        plan.zone("field", "outdoor", plan.inner)
        plan.zone("left", "end", (x0, y0, min(x0 + 2 * end, x1), y1))
        plan.zone("right", "end", (max(x1 - 2 * end, x0), y0, x1, y1))
        place = plan.finish("barn", fill=True)
        strip = math.ceil(end / self.resolution)
        if not (plan.reached[:, :strip].any() and plan.reached[:, -strip:].any()):
            raise Blocked(f"a robot with a passage width of {self.passage:g} m finds no path from left to right")
        return place


def smoothed(filled: Bools, passes: int) -> Bools:
    """Return the blocks (rows, columns) after ``passes`` passes of the automaton; the top and bottom rows are filled first."""
    filled = filled.copy()
    filled[[0, -1]] = True
    for _ in range(passes):
        wide = np.pad(filled.astype(np.int8), ((1, 1), (0, 0)), constant_values=1)
        wide = np.pad(wide, ((0, 0), (1, 1)))
        rows, columns = filled.shape
        window = sum(wide[i : i + rows, j : j + columns] for i in range(3) for j in range(3))
        around = window - filled
        filled = (around > 4) | (filled & (around >= 2))
    return filled
