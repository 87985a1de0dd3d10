"""A place: a map, what stands in it, and what its parts are for; what map generators make, and world folders hold."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from agora.config import load, plain
from agora.documents import located
from agora.errors import InputError
from agora.maps.furniture import Furniture, model_of
from agora.maps.grid import Map
from agora.maps.io import read_map, read_shapes, write_map, write_shapes
from agora.maps.zones import Zone, read_zones, write_zones

_FLATLAND = """\
properties: {velocity_iterations: 10, position_iterations: 10}
layers:
  - {name: static, map: map.yaml, color: [0, 1, 0, 1]}
"""


@dataclass(frozen=True, eq=False)
class Place:
    """A map with its furniture and zones.

    Attributes:
        map: static surroundings, with the furniture in it.
        furniture: what stands in the map, for 3-D worlds, pictures and pedestrians who use it.
        zones: parts of the map.
    """

    map: Map
    furniture: tuple[Furniture, ...] = ()
    zones: tuple[Zone, ...] = ()


def read_place(folder: Path) -> Place:
    """Read the folder ``map`` of a world folder: shapes.yaml or map.yaml, furniture.json and zones.yaml where they are there.

    Raises:
        InputError: a file is missing or wrong; names file, line and key.
    """
    files = folder / "map"
    if (files / "shapes.yaml").is_file():
        map_ = read_shapes(files / "shapes.yaml")
    elif (files / "map.yaml").is_file():
        map_ = read_map(files / "map.yaml")
    else:
        raise InputError(f"{folder}: a world has map/map.yaml or map/shapes.yaml; neither is there")
    furniture, zones = files / "furniture.json", files / "zones.yaml"
    return Place(map_, read_furniture(furniture) if furniture.is_file() else (), read_zones(zones) if zones.is_file() else ())


def write_place(place: Place, folder: Path) -> None:
    """Write a place into a folder, which must be there, as `read_place` reads it and Arena 3.0 lays it out.

    ``map/map.yaml`` has its image beside it; a map of shapes alone is in ``map/shapes.yaml`` too, exactly. What is both cells and
    shapes becomes cells.
    """
    files = folder / "map"
    files.mkdir()
    write_map(place.map, files / "map.yaml", image="png")
    (files / "map.world.yaml").write_text(_FLATLAND, encoding="utf-8")
    if not place.map.occupied.any() and place.map.unknown is None:
        write_shapes(place.map, files / "shapes.yaml")
    if place.furniture:
        rows = ",\n ".join(json.dumps(plain(piece), allow_nan=False) for piece in place.furniture)
        (files / "furniture.json").write_text(f"[{rows}]\n", encoding="utf-8")
    if place.zones:
        write_zones(place.zones, files / "zones.yaml")


def read_furniture(path: Path) -> tuple[Furniture, ...]:
    """Read a file of furniture: a list of ``model``, ``x``, ``y`` and ``heading``.

    Raises:
        InputError: the file cannot be read or holds something else; names file, line and key.
    """
    furniture = load(path, tuple[Furniture, ...])
    for number, piece in enumerate(furniture):
        try:
            model_of(piece.model)
        except InputError as error:
            raise InputError(f"{located(path, number, 'model')}: {error}") from error
    return furniture
