"""Costmap layers: costs near pedestrians."""

from __future__ import annotations

from typing import Any, Protocol


class CostmapLayer(Protocol):
    """Adds costs near pedestrians to local costmaps and to the map of the global planner; a frozen dataclass of its parameters."""

    attribute: str
    """The semantic attribute that it reads; "pedestrian" if the presence of a pedestrian is enough."""

    def kernel(self) -> Any:
        """Return the compiled function of ``(parameters, position, velocity, heading, evidence, present, cost, origin, cell, first,
        last)``: for rows ``first <= n < last`` it raises ``cost`` (N, H, W) uint8, on costmap_2d's scale, from pedestrians at
        ``position`` (N, Q, 2), ``velocity`` (N, Q, 2), ``heading`` and ``evidence`` (N, Q), where ``present`` (N, Q); ``origin``
        (N, 2) are the lower-left corners, ``cell`` the resolution, m. Lethal and unknown cells stay.
        """

    def parameters(self) -> tuple[Any, ...]:
        """Return the kernel's ``parameters``: a named tuple of float32 numbers, flags or arrays (`agora.core.kernel_record`)."""
