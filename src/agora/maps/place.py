"""A place: a map with its furniture and zones. Places are made by map generators and stored in world folders."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from agora.config import load, plain
from agora.core.state import Doubles, Floats
from agora.errors import InputError, reading
from agora.maps.furniture import Furniture, model_of
from agora.maps.grid import Map
from agora.maps.io import read_map, read_shapes, write_map, write_shapes
from agora.maps.zones import Zone, read_zones, write_zones
from agora.packed import arrays_of
from agora.yaml_tree import location_of, require_file

__all__ = ["Place", "read_place"]

_SAME = 1e-6  # m
_HEAD = 4096  # maximum size of the data that precede the heights in a file, bytes

_FLATLAND = """\
properties: {velocity_iterations: 10, position_iterations: 10}
layers:
  - {name: static, map: map.yaml, color: [0, 1, 0, 1]}
"""


@dataclass(frozen=True, eq=False)
class Place:
    """A map with its furniture and zones.

    Attributes:
        map: static surroundings, including the furniture.
        furniture: the pieces of furniture in the map, for 3-D worlds, pictures, and pedestrians that use them.
        zones: zones of the map.
    """

    map: Map
    furniture: tuple[Furniture, ...] = ()
    zones: tuple[Zone, ...] = ()

    def shapes_of_walls(self) -> tuple[tuple[Doubles, ...], Doubles]:
        """Return the map's polygons and discs (D, 3), except those that are outlines of furniture."""
        outlines = [outline for piece in self.furniture for outline in piece.polygons()]
        columns = np.vstack([np.zeros((0, 3)), *(piece.discs() for piece in self.furniture)])
        polygons = tuple(p for p in self.map.polygons if not any(_same_outline(p, outline) for outline in outlines))
        apart = [not (np.abs(columns - disc).max(axis=1, initial=0.0) < _SAME).any() for disc in self.map.discs]
        return polygons, self.map.discs[np.array(apart, np.bool_)]


def _same_outline(a: Doubles, b: Doubles) -> bool:
    """Return whether two polygons have the same corners in the same order, regardless of the first corner."""
    return len(a) == len(b) and any(np.abs(np.roll(a, k, axis=0) - b).max() < _SAME for k in range(len(a)))


def read_place(folder: Path) -> Place:
    """Read the ``map`` folder in a world folder: shapes.yaml or map.yaml, and furniture.json, zones.yaml and ground.npz if they
    exist.

    The image of map.yaml already includes the furniture; this function adds the furniture to the shapes of shapes.yaml.

    Raises:
        InputError: a file is missing or invalid; the message names the file, line and key.
    """
    files = folder / "map"
    shapes = files / "shapes.yaml"
    if not shapes.is_file() and not (files / "map.yaml").is_file():
        raise InputError(f"{folder}: not a world: expected map/map.yaml or map/shapes.yaml, found neither")
    walls = read_shapes(shapes) if shapes.is_file() else read_map(files / "map.yaml")
    if (files / "ground.npz").is_file():
        walls = replace(walls, ground=_read_ground(files / "ground.npz", walls.shape))
    furniture = read_furniture(files / "furniture.json") if (files / "furniture.json").is_file() else ()
    zones = read_zones(files / "zones.yaml") if (files / "zones.yaml").is_file() else ()
    if any(walls.offset):
        furniture = tuple(_put(piece, walls.from_file) for piece in furniture)
        zones = tuple(_drawn(zone, walls.from_file) for zone in zones)
    if not shapes.is_file():
        return Place(walls, furniture, zones)
    outlines = tuple(outline for piece in furniture for outline in piece.polygons())
    discs = np.vstack([walls.discs, *(piece.discs() for piece in furniture)])
    return Place(replace(walls, polygons=walls.polygons + outlines, discs=discs), furniture, zones)


def changed(folder: Path) -> int:
    """Return the time at which the map files in a world folder were last changed, ns; 0 if there are none."""
    files = folder / "map"
    with suppress(OSError):
        return max(path.stat().st_mtime_ns for path in (files, *files.iterdir()))
    return 0


def _put(piece: Furniture, move: Callable[[ArrayLike], Doubles]) -> Furniture:
    """Return a piece of furniture with its position transformed by ``move``."""
    x, y = move((piece.x, piece.y)).tolist()
    return replace(piece, x=x, y=y)


def _drawn(zone: Zone, move: Callable[[ArrayLike], Doubles]) -> Zone:
    """Return a zone with its corners transformed by ``move``."""
    return replace(zone, polygons=tuple(move(polygon) for polygon in zone.polygons))


def write_place(place: Place, folder: Path) -> None:
    """Write a place into an existing folder, in Arena 3.0's layout, which `read_place` reads.

    The image is written next to ``map/map.yaml``. A map that consists only of shapes is also written exactly, to
    ``map/shapes.yaml``. A map with both cells and shapes is written as cells. Ground heights are in ``map/ground.npz``, as the
    array ``ground``.
    """
    files = folder / "map"
    files.mkdir()
    write_map(place.map, files / "map.yaml", image="png")
    (files / "map.world.yaml").write_text(_FLATLAND, encoding="utf-8")
    if not place.map.occupied.any() and place.map.unknown is None:
        polygons, discs = place.shapes_of_walls()
        write_shapes(replace(place.map, polygons=polygons, discs=discs), files / "shapes.yaml")
    if place.map.ground is not None:
        np.savez_compressed(files / "ground.npz", ground=place.map.ground)
    if place.furniture:
        pieces = [_put(piece, place.map.to_file) for piece in place.furniture]
        rows = ",\n ".join(json.dumps(plain(piece), allow_nan=False) for piece in pieces)
        (files / "furniture.json").write_text(f"[{rows}]\n", encoding="utf-8")
    if place.zones:
        write_zones(tuple(_drawn(zone, place.map.to_file) for zone in place.zones), files / "zones.yaml")


def _read_ground(path: Path, shape: tuple[int, int]) -> Floats:
    """Read the ground heights, one for each cell of a map.

    Raises:
        InputError: the file cannot be read or is invalid.
    """
    require_file(path)
    most = _HEAD + shape[0] * shape[1] * np.dtype(np.float64).itemsize
    with (
        reading(path, "a file of heights with the array ground"),
        path.open("rb") as stream,
        arrays_of(stream, str(path), most) as file,
    ):
        ground: Floats = file["ground"].astype(np.float32)
        if ground.shape != shape:
            raise InputError(f"{path}: ground: expected one height per cell, {shape[0]} x {shape[1]}, got the shape {ground.shape}")
        return ground


def read_furniture(path: Path) -> tuple[Furniture, ...]:
    """Read a furniture file: a list of entries with ``model``, ``x``, ``y`` and ``heading``.

    Raises:
        InputError: the file cannot be read or is invalid; the message names the file, line and key.
    """
    furniture = load(path, tuple[Furniture, ...])
    for number, piece in enumerate(furniture):
        try:
            model_of(piece.model)
        except InputError as error:
            raise InputError(f"{location_of(path, number, 'model')}: {error}") from error
    return furniture
