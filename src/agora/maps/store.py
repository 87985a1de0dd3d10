"""The flat store: maps of different size in one set of arrays, for kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from agora.core.state import Maps
from agora.errors import InputError
from agora.maps.distance import FAR
from agora.maps.grid import Map


def build_store(maps: Sequence[Map], index: ArrayLike) -> Maps:
    """Return M maps in flat arrays, and which of them each world uses.

    A map given twice is stored once. Bytes per cell: 5 for a map of cells alone (its clearance is its distance), 9 for cells with
    shapes, 4 for shapes alone (all of these share one empty grid). So 256 maps of 400 x 400 cells take 164 to 369 MB.

    Args:
        maps: at least one.
        index: (W,) for each world the number of its map in ``maps``.

    Raises:
        InputError: no maps, or a number that is not one of a map.
    """
    if not maps:
        raise InputError("a store needs at least one map")
    worlds = np.asarray(index)
    if worlds.ndim != 1 or worlds.dtype.kind not in "iu" or (worlds.size and not 0 <= worlds.min() <= worlds.max() < len(maps)):
        raise InputError(f"map numbers of worlds must be integers from 0 to {len(maps) - 1}")
    unique = list({id(m): m for m in maps}.values())
    number = {id(m): i for i, m in enumerate(unique)}
    slot = np.array([number[id(m)] for m in maps], np.int32)
    cells = [m.occupied.size for m in unique]
    empty = [not m.occupied.any() for m in unique]
    start = np.zeros(len(unique), np.int64)
    end = max((n for n, bare in zip(cells, empty, strict=True) if bare), default=0)
    for i, n in enumerate(cells):
        if not empty[i]:
            start[i], end = end, end + n
    occupied = np.zeros(end, np.uint8)
    clearance_start = start.copy()
    for i, m in enumerate(unique):
        if m.has_shapes:
            clearance_start[i], end = end, end + cells[i]
    pool = np.full(end, FAR, np.float32)
    for i, m in enumerate(unique):
        if not empty[i]:
            occupied[start[i] : start[i] + cells[i]] = m.occupied.ravel()
            pool[start[i] : start[i] + cells[i]] = m.distance.ravel()
        if m.has_shapes:
            pool[clearance_start[i] : clearance_start[i] + cells[i]] = m.clearance.ravel()
    return Maps(
        index=slot[worlds.astype(np.int64)],
        start=start,
        clearance_start=clearance_start,
        rows=np.array([m.shape[0] for m in unique], np.int32),
        columns=np.array([m.shape[1] for m in unique], np.int32),
        resolution=np.array([m.resolution for m in unique], np.float32),
        origin_x=np.array([m.origin[0] for m in unique], np.float32),
        origin_y=np.array([m.origin[1] for m in unique], np.float32),
        occupied=occupied,
        distance=pool,
        clearance=pool,
        segments=np.concatenate([m.walls for m in unique]).astype(np.float32),
        discs=np.concatenate([m.discs for m in unique]).astype(np.float32),
        segment_start=np.cumsum([0, *(len(m.walls) for m in unique)], dtype=np.int32),
        disc_start=np.cumsum([0, *(len(m.discs) for m in unique)], dtype=np.int32),
    )
