"""Global planners: map to path."""

from __future__ import annotations

from typing import Protocol

from agora.core.state import Array, Doubles, Floats


class GlobalPlanner(Protocol):
    """Map to path."""

    def path(
        self,
        clearance: Floats,
        resolution: float,
        origin: Floats,
        start: Doubles,
        goal: Doubles,
        radius: float,
        cost: Array | None = None,
    ) -> Floats | None:
        """Return the path (K, 2) from start (2,) to goal (2,), m; None where there is none.

        ``clearance`` (rows, columns) is the distance to the nearest obstacle, m; ``origin`` (2,) the lower-left corner; ``cost``
        (rows, columns) uint8 what `CostmapLayer` have put on the cells, 0 to 252, nothing where it is None.
        """
