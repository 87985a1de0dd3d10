"""Costs for a semantic attribute of pedestrians: discs around the pedestrians that have the attribute.

Arena's SemanticLayer keeps the latest message of each source and can mark its values in the costmap, with ``combination_method`` 0
(overwrite), 1 (maximum) or 99 (nothing); with Arena's default settings it marks nothing. In this layer, the cost grows with the
evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from agora.core.jit import lean_kernel
from agora.core.kernel_record import kernel_record
from agora.core.scalar import ONE, ZERO
from agora.core.semantics import ATTRIBUTES
from agora.costmap.inflation import INSCRIBED
from agora.costmap.stamp import cells_around
from agora.errors import nearest
from agora.ranges import Checked, Positive


@lean_kernel
def _semantic(p, position, velocity, heading, evidence, present, cost, origin, cell, first, last):
    rows, columns = cost.shape[1], cost.shape[2]
    inscribed = np.uint8(INSCRIBED)
    for n in range(first, last):
        for q in range(position.shape[1]):
            if not present[n, q] or not p.marks:
                continue
            mark = np.uint8(np.int32(p.cost * min(max(evidence[n, q] / p.full, ZERO), ONE)))
            x, y = position[n, q, 0], position[n, q, 1]
            low, high, west, east, u, v = cells_around(x, y, p.radius, origin[n, 0], origin[n, 1], cell, rows, columns)
            for i in range(low, high):
                dy = (np.float32(i) - v) * cell
                for j in range(west, east):
                    dx = (np.float32(j) - u) * cell
                    if dx * dx + dy * dy > p.radius * p.radius or mark == np.uint8(0):
                        continue
                    if p.overwrite and cost[n, i, j] < inscribed:
                        cost[n, i, j] = mark
                    else:
                        cost[n, i, j] = max(cost[n, i, j], mark)


@dataclass(frozen=True)
class Semantic(Checked):
    """Discs around the pedestrians with an attribute, such as phoning or stress; the cost grows with the evidence.

    Attributes:
        attribute: name in `agora.core.semantics.ATTRIBUTES`, such as "stress" or "social_state.phone".
        cost: cost for evidence of ``full`` or more, on costmap_2d's scale, at most 252; proportionally lower for less evidence.
        full: evidence at or above which the full cost applies.
        radius: radius of the discs, m.
        combination: how the cost is combined with existing costs: "max", "overwrite" (except obstacles and inscribed cells), or
            "nothing".
    """

    attribute: str
    cost: Positive = 200.0
    full: Positive = 1.0
    radius: Positive = 1.0
    combination: Literal["max", "overwrite", "nothing"] = "max"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.attribute not in ATTRIBUTES:
            raise ValueError(f"attribute: no semantic attribute called {self.attribute!r}; {nearest(self.attribute, ATTRIBUTES)}")
        if not self.cost < INSCRIBED:
            raise ValueError(f"cost: must be less than {INSCRIBED}, is {self.cost}")

    def kernel(self) -> Any:
        """Return the compiled function."""
        return _semantic

    def parameters(self) -> Any:
        """Return the parameters of the kernel."""
        return _Parameters.of(self, marks=self.combination != "nothing", overwrite=self.combination == "overwrite")


_Parameters = kernel_record("_Parameters", Semantic, others=("marks", "overwrite"))
"""Without ``marks``, nothing is written; with ``overwrite``, the mark replaces existing costs."""
