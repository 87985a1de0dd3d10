"""Zones: parts of a map by category, in Arena's file ``map/zones.yaml``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from agora.core.state import Doubles
from agora.errors import InputError


@dataclass(frozen=True, eq=False)
class Zone:
    """A part of a map.

    Attributes:
        label: its name.
        category: what it is: "room", "corridor", "forbidden", ...
        polygons: each (V, 2) corners, m.
    """

    label: str
    category: tuple[str, ...]
    polygons: tuple[Doubles, ...]

    @staticmethod
    def of(label: str, category: str, *polygons: ArrayLike) -> Zone:
        """Return a zone of one category.

        Raises:
            InputError: a polygon has fewer than three corners.
        """
        outlines = tuple(np.array(p, np.float64) for p in polygons)
        if any(p.ndim != 2 or p.shape[1:] != (2,) or len(p) < 3 for p in outlines):
            raise InputError(f"zone {label!r}: a polygon is three or more corners x, y")
        return Zone(label, (category,), outlines)
