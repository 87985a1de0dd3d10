"""A flat store: maps of different sizes in a single set of arrays, for kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from agora.core.slots import Slots
from agora.core.state import Maps
from agora.errors import InputError
from agora.maps.distance import FAR
from agora.maps.grid import Map

_LEAST = 4  # number of cells of a slot to which nothing has been written yet


@dataclass(frozen=True)
class MapRoom:
    """The capacity of a store.

    Attributes:
        maps: maximum number of maps in the store at the same time.
        cells: maximum number of cells in a map that has occupied cells.
        shaped: maximum number of cells in a map that has shapes.
        bare: maximum number of cells in a map without occupied cells; all such maps share one empty grid.
        segments: maximum number of segments in a map.
        discs: maximum number of discs in a map.
        stages: maximum number of stages of a map, i.e. maps that show the leaves of its door.
    """

    maps: int = 1
    cells: int = 0
    shaped: int = 0
    bare: int = _LEAST
    segments: int = 0
    discs: int = 0
    stages: int = 0

    @staticmethod
    def of(maps: Iterable[Map], most: int = 0) -> MapRoom:
        """Return the capacity needed for the given maps: for all maps at once, or for ``most`` maps at a time."""
        different = {id(m): m for m in maps}.values()
        single = [stage for m in different for stage in (m, *m.stages)]
        return MapRoom(
            maps=min(most or len(different), len(different)),
            cells=max((m.occupied.size for m in single if m.occupied.any()), default=0),
            shaped=max((m.occupied.size for m in single if m.has_shapes), default=0),
            bare=max((m.occupied.size for m in single if not m.occupied.any()), default=_LEAST),
            segments=max((len(m.walls) for m in single), default=0),
            discs=max((len(m.discs) for m in single), default=0),
            stages=max((len(m.stages) for m in different), default=0),
        )

    def holds(self, map: Map) -> bool:
        """Return whether the store has room for a map once another map is removed."""
        return len(map.stages) <= self.stages and all(
            one.occupied.size <= (self.cells if one.occupied.any() else self.bare)
            and (not one.has_shapes or one.occupied.size <= self.shaped)
            and len(one.walls) <= self.segments
            and len(one.discs) <= self.discs
            for one in (map, *map.stages)
        )


class MapStore:
    """Maps of different sizes in flat arrays, and the index of each world's map.

    A map that no world uses any longer may be replaced by a new one. Memory takes up space only once it has been written to. A cell
    takes 5 bytes in a map with only cells (whose clearance equals its distance), 9 bytes in a map with cells and shapes, and 4
    bytes in a map with only shapes. So 256 maps of 400 x 400 cells take 164 to 369 MB.

    Args:
        worlds: number of worlds, W.
        room: capacity of the store: the number of maps and their maximum sizes.

    Attributes:
        arrays: the record passed to kernels.
    """

    def __init__(self, worlds: int, room: MapRoom) -> None:
        self._room, self._family = room, 1 + room.stages
        count = room.maps * self._family
        self._slots = Slots(room.maps, self._write)
        pool = np.zeros(room.bare + count * (room.cells + room.shaped), np.float32)
        pool[: room.bare] = FAR
        zeros = (np.zeros(count, kind) for kind in (np.int64, np.int64, np.float32, np.float32, *[np.int32] * 4))
        start, clearance_start, x, y, segment_start, segment_end, disc_start, disc_end = zeros
        self.arrays = Maps(
            index=np.zeros(worlds, np.int32),
            start=start,
            clearance_start=clearance_start,
            rows=np.full(count, 2, np.int32),
            columns=np.full(count, 2, np.int32),
            resolution=np.ones(count, np.float32),
            origin_x=x,
            origin_y=y,
            occupied=np.zeros(room.bare + count * room.cells, np.uint8),
            distance=pool,
            clearance=pool,
            segments=np.zeros((count * room.segments, 4), np.float32),
            discs=np.zeros((count * room.discs, 3), np.float32),
            segment_start=segment_start,
            segment_end=segment_end,
            disc_start=disc_start,
            disc_end=disc_end,
        )

    def use(self, world: int, map: Map) -> None:
        """Assign a map to a world. The numbers of the map's stages follow the map's own number."""
        (slot,) = self._slots.assign(world, [map])
        self.arrays.index[world] = slot * self._family

    def _write(self, slot: int, map: Map) -> None:
        for number, one in enumerate((map, *map.stages), slot * self._family):
            self._put(number, one)

    def _put(self, m: int, one: Map) -> None:
        """Write a map, or a stage of a map, to its slot."""
        a, room, size = self.arrays, self._room, one.occupied.size
        a.start[m] = room.bare + m * room.cells if one.occupied.any() else 0
        a.clearance_start[m] = a.start[m]
        if a.start[m]:
            cells = slice(a.start[m], a.start[m] + size)
            a.occupied[cells], a.distance[cells] = one.occupied.ravel(), one.distance.ravel()
        if one.has_shapes:
            a.clearance_start[m] = room.bare + len(a.rows) * room.cells + m * room.shaped
            a.clearance[a.clearance_start[m] : a.clearance_start[m] + size] = one.clearance.ravel()
        (a.rows[m], a.columns[m]), a.resolution[m] = one.shape, one.resolution
        a.origin_x[m], a.origin_y[m] = one.origin
        a.segment_start[m], a.disc_start[m] = m * room.segments, m * room.discs
        a.segment_end[m], a.disc_end[m] = a.segment_start[m] + len(one.walls), a.disc_start[m] + len(one.discs)
        a.segments[a.segment_start[m] : a.segment_end[m]] = one.walls
        a.discs[a.disc_start[m] : a.disc_end[m]] = one.discs


def build_store(maps: Sequence[Map], index: ArrayLike) -> Maps:
    """Return M maps in flat arrays, and the index of each world's map.

    A map that is given twice is stored only once.

    Args:
        maps: maps, at least one.
        index: (W,) for each world, the index of its map in ``maps``.

    Raises:
        InputError: there are no maps, or an index does not belong to a map.
    """
    if not maps:
        raise InputError("a store needs at least one map")
    worlds = np.asarray(index)
    if worlds.ndim != 1 or worlds.dtype.kind not in "iu" or (worlds.size and not 0 <= worlds.min() <= worlds.max() < len(maps)):
        raise InputError(f"map numbers of worlds must be integers from 0 to {len(maps) - 1}")
    store = MapStore(len(maps), MapRoom.of(maps))
    for number, one in enumerate(maps):
        store.use(number, one)
    return store.arrays._replace(index=store.arrays.index[worlds.astype(np.int64)])
