"""Costmap layers, which add costs near pedestrians."""

from __future__ import annotations

from typing import Any, Protocol


class CostmapLayer(Protocol):
    """Adds costs near pedestrians to local costmaps and to the map of the global planner; a frozen dataclass of its parameters."""

    attribute: str
    """The semantic attribute that the layer reads; "pedestrian" if it only needs the presence of a pedestrian."""

    def kernel(self) -> Any:
        """Return the compiled function of ``(parameters, position, velocity, heading, evidence, present, cost, origin, cell, first,
        last)``.

        For rows ``first <= n < last`` the function raises ``cost`` (N, H, W) uint8, on costmap_2d's scale, near the pedestrians
        with ``position`` (N, Q, 2), ``velocity`` (N, Q, 2), ``heading`` and ``evidence`` (N, Q) for which ``present`` (N, Q) is
        True. ``origin`` (N, 2) holds the lower-left corners of the costmaps, m, and ``cell`` is the resolution, m. Lethal and
        unknown cells are left unchanged.
        """

    def parameters(self) -> tuple[Any, ...]:
        """Return the kernel's ``parameters``: a named tuple of numbers (float32), flags or arrays (`agora.core.kernel_record`)."""
