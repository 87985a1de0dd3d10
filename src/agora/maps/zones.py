"""Zones: parts of a map with categories, stored in Arena's file ``map/zones.yaml``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from agora.config import dump, load
from agora.core.state import Bools, Doubles
from agora.errors import InputError
from agora.maps.distance import inside_all

__all__ = ["Zone", "write_zones"]

_NO_AREA = 1e-9  # m2


@dataclass(frozen=True, eq=False)
class Zone:
    """A part of a map.

    Attributes:
        label: name of the zone.
        category: categories of the zone: "room", "corridor", "forbidden", ...
        polygons: polygons of the zone, each with corners (V, 2), m.
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

    @property
    def area(self) -> float:
        """Total area of the zone's polygons, m2; parts that lie in two polygons count twice."""
        return sum(_area(p) for p in self.polygons)

    def contains(self, points: ArrayLike) -> Bools:
        """Return whether points (..., 2) lie in one of the zone's polygons."""
        where = np.asarray(points, np.float64)
        flat, within = where.reshape(-1, 2), np.zeros(where.size // 2, np.bool_)
        for polygon in self.polygons:
            within |= inside_all(polygon, flat)
        return within.reshape(where.shape[:-1])


@dataclass(frozen=True)
class ZoneFile:
    """One entry of a zone file.

    Attributes:
        label: name of the zone.
        category: categories of the zone; one or more words.
        polygon: polygons of the zone, each with three or more corners [x, y], m.
    """

    label: str
    category: tuple[str, ...]
    polygon: tuple[tuple[tuple[float, float], ...], ...]

    def __post_init__(self) -> None:
        if not self.category or not all(self.category):
            raise ValueError(f"category must have at least one word, got {list(self.category)}")
        if not self.polygon:
            raise ValueError("polygon must be a list of at least one polygon")
        for number, corners in enumerate(self.polygon):
            if len(corners) < 3 or _area(np.array(corners)) < _NO_AREA:
                raise ValueError(
                    f"polygon [{number}] must have three or more corners that enclose an area, got {len(corners)} corners"
                )


def _area(corners: Doubles) -> float:
    """Return the area of one polygon (V, 2), m2 (Gauss's formula)."""
    x, y = (corners - corners[0]).T
    return 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))


def read_zones(path: str | Path) -> tuple[Zone, ...]:
    """Read a zone file: a list of entries with ``label``, ``category`` and ``polygon``.

    Raises:
        InputError: the file cannot be read or is invalid; the message names the file, line and key.
    """
    return tuple(Zone(z.label, z.category, tuple(np.array(p) for p in z.polygon)) for z in load(path, tuple[ZoneFile, ...]))


def write_zones(zones: tuple[Zone, ...], path: str | Path) -> None:
    """Write zones to a file that `read_zones` can read back."""
    entries = [ZoneFile(z.label, z.category, tuple(tuple((float(x), float(y)) for x, y in p) for p in z.polygons)) for z in zones]
    Path(path).write_text(dump(entries), encoding="utf-8")
