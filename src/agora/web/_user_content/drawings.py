"""The drawings of users' worlds, which are edited in the web interface: walls as grid cells, zones and furniture.

A drawing is stored as the world's folder ``map``, which every command reads. Walls are cells of a map_server image. If a wall is
drawn in a world with exact shapes, the world is converted to cells; if only zones or furniture change, it keeps its shapes. The
image includes the furniture, in a different shade of black from the walls, so that moving furniture does not leave a hole in the
wall behind it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
import shutil
import threading
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from agora.config import build, load
from agora.core.state import Array, Bools
from agora.errors import InputError
from agora.maps.covered import cells_under
from agora.maps.furniture import Furniture, model_of
from agora.maps.io import MapFile
from agora.maps.place import Place, write_place
from agora.maps.zones import Zone, ZoneFile
from agora.packed import image_of
from agora.tasks.world_check import check_world
from agora.viewer.scene import COLOURS, DARK
from agora.web._user_content.scenarios import Scenarios
from agora.web._user_content.store import ConflictError
from agora.web._user_content.worlds import MOST_CELLS, Worlds

FREE, WALL, UNKNOWN = 0, 1, 2
"""The values of cells in a drawing."""

_WALL, _FURNITURE, _UNKNOWN, _FREE = 0, 40, 205, 254
"""The grey values of the image; both blacks count as occupied for map_server."""

_RADIUS = 0.3
"""Radius of the robot for which paths must be free, m, as in `agora map validate`."""

_MOST_ZONES, _MOST_CORNERS, _MOST_PIECES, _LONGEST = 500, 500, 2_000, 80
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True)
class _EditedDrawing:
    """A drawing as sent by the front end.

    Attributes:
        version: version on which the edits are based.
        cells: all cells, lowest row first, one byte per cell, gzipped and base64-encoded; None if no wall was drawn.
        zones: all zones.
        furniture: all furniture.
    """

    version: str
    zones: tuple[ZoneFile, ...] = ()
    furniture: tuple[Furniture, ...] = ()
    cells: str | None = None


class Drawings:
    """The drawings of users' worlds.

    Args:
        worlds: worlds of the server.
        scenarios: scenarios of the server, which are rechecked when their world changes.
    """

    def __init__(self, worlds: Worlds, scenarios: Scenarios) -> None:
        self._worlds, self._scenarios, self._writing = worlds, scenarios, threading.Lock()

    def get(self, name: str) -> dict[str, Any]:
        """Return the drawing of a user's world, with coordinates in the frame of the world's file.

        Raises:
            UnknownNameError: there is no user's world with this name. InputError: the world cannot be read, or is too large to draw
                in.
        """
        folder, place = self._open(name)
        map, (rows, columns) = place.map, place.map.shape
        cells = np.where(_walls(folder, place), np.uint8(WALL), np.uint8(FREE))
        if map.unknown is not None:
            cells[map.unknown] = UNKNOWN
        x, y = map.to_file(map.origin).tolist()
        moved = [(piece, map.to_file((piece.x, piece.y)).tolist()) for piece in place.furniture]
        return {
            "name": name,
            "version": _version(folder),
            "origin": [x, y],
            "resolution": map.resolution,
            "rows": rows,
            "columns": columns,
            "shapes": bool(map.has_shapes),
            "colours": {"light": COLOURS, "dark": DARK},
            "cells": base64.b64encode(zlib.compress(cells.tobytes(), 6, 31)).decode(),
            "zones": [
                {"label": zone.label, "category": list(zone.category), "polygon": [map.to_file(p).tolist() for p in zone.polygons]}
                for zone in place.zones
            ],
            "furniture": [{"model": piece.model, "x": at[0], "y": at[1], "heading": piece.heading} for piece, at in moved],
        }

    def put(self, name: str, fields: Any) -> dict[str, Any]:
        """Store the drawing of a user's world atomically.

        Args:
            name: name of the world.
            fields: ``version``, ``zones``, ``furniture`` and, if walls were drawn, ``cells``, as returned by `get`.

        Returns:
            The new ``version``, ``problems`` and ``notes`` of the world, and the ``scenarios`` that use the world, each with its
            problems.

        Raises:
            UnknownNameError: there is no user's world with this name. InputError: the drawing is invalid; nothing is written.
            ConflictError: the world has been changed in the meantime; nothing is written. OSError: the disk is full; nothing is
                written.
        """
        edited = build(fields, _EditedDrawing, "drawing")
        with self._writing:
            folder, place = self._open(name)
            if (there := _version(folder)) != edited.version:
                words = f"{name}: this world was changed elsewhere; nothing was saved"
                raise ConflictError(words, {"version": there})
            zones, furniture = _zones(edited, place), _furniture(edited, place)
            _swap(folder, _writer(folder, place, edited, zones, furniture))
        found = check_world(folder, _RADIUS)
        return {
            "version": _version(folder),
            "problems": [_without_folder(line, folder) for line in found.problems],
            "notes": [_without_folder(line, folder) for line in found.notes],
            "scenarios": self._scenarios.check_in_world(name),
        }

    def _open(self, name: str) -> tuple[Path, Place]:
        """Return the folder and the place of a user's world, which must be small enough to draw in."""
        folder = self._worlds.own_folder(name)
        place = self._worlds.place(name)
        if place.map.occupied.size > MOST_CELLS:
            rows, columns = place.map.shape
            raise InputError(f"{name}: {columns} x {rows} cells; the pages can edit at most {MOST_CELLS:,}")
        return folder, place


def _walls(folder: Path, place: Place) -> Bools:
    """Return which cells of a place are walls, excluding furniture."""
    if place.map.has_shapes:
        polygons, discs = place.shapes_of_walls()
        return replace(place.map, polygons=polygons, discs=discs).cells
    if not place.furniture:
        return place.map.occupied
    own = _pixels(folder) == _FURNITURE
    return np.asarray(place.map.occupied & ~(own if own.any() else cells_under(place.furniture, place.map)))


def _pixels(folder: Path) -> Array:
    """Return the grey values of a world's image, lowest row first."""
    file = folder / "map" / "map.yaml"
    with image_of(file.parent / load(file, MapFile).image) as image:
        return np.asarray(image.convert("L"))[::-1]


def _cells(text: str, place: Place) -> Array:
    """Return the cells (rows, columns) from the string sent by the front end.

    Raises:
        InputError: the string is invalid, or has the wrong size.
    """
    rows, columns = place.map.shape
    unpack = zlib.decompressobj(31)
    try:
        data = unpack.decompress(base64.b64decode(text, validate=True), rows * columns + 1)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise InputError(f"drawing: cells: expected gzip in base64: {error}") from error
    if len(data) != rows * columns:
        raise InputError(
            f"drawing: cells: expected {columns} x {rows} cells, got {'more' if len(data) > rows * columns else 'fewer'}"
        )
    cells = np.frombuffer(data, np.uint8).reshape(rows, columns)
    if cells.max() > UNKNOWN:
        raise InputError(f"drawing: cells: expected 0 (free), 1 (wall) or 2 (unknown), got {cells.max()}")
    return cells


def _zones(edited: _EditedDrawing, place: Place) -> tuple[Zone, ...]:
    """Return the zones, in the map frame.

    Raises:
        InputError: a zone is not on the map, has too many corners, or has a name that cannot be shown.
    """
    if len(edited.zones) > _MOST_ZONES:
        raise InputError(f"drawing: zones: expected at most {_MOST_ZONES}, got {len(edited.zones)}")
    drawn_in, found = place.map, []
    low = np.array(drawn_in.origin) - drawn_in.resolution
    high = low + drawn_in.size + 2 * drawn_in.resolution
    for number, zone in enumerate(edited.zones):
        where = f"drawing: zones[{number}]"
        for word in (zone.label, *zone.category):
            if not word.strip() or len(word) > _LONGEST or _CONTROL.search(word):
                raise InputError(
                    f"{where}: a label or category has 1 to {_LONGEST} characters and no control characters, got {word[:40]!r}"
                )
        polygons = tuple(drawn_in.from_file(polygon) for polygon in zone.polygon)
        if sum(map(len, polygons)) > _MOST_CORNERS:
            raise InputError(f"{where}: {zone.label!r} has more than {_MOST_CORNERS} corners")
        if any(not np.isfinite(p).all() or (p < low).any() or (p > high).any() for p in polygons):
            raise InputError(f"{where}: {zone.label!r} is partly outside the map")
        found.append(Zone(zone.label, zone.category, polygons))
    return tuple(found)


def _furniture(edited: _EditedDrawing, place: Place) -> tuple[Furniture, ...]:
    """Return the furniture, in the map frame.

    Raises:
        InputError: a model is unknown, or a piece of furniture is not on the map.
    """
    if len(edited.furniture) > _MOST_PIECES:
        raise InputError(f"drawing: furniture: expected at most {_MOST_PIECES} pieces, got {len(edited.furniture)}")
    found = []
    for number, piece in enumerate(edited.furniture):
        where = f"drawing: furniture[{number}]"
        try:
            model_of(piece.model)
        except InputError as error:
            raise InputError(f"{where}: {error}") from error
        x, y = place.map.from_file((piece.x, piece.y)).tolist()
        if not place.map.contains((x, y)):
            raise InputError(f"{where}: {piece.model} is outside the map")
        found.append(replace(piece, x=x, y=y))
    return tuple(found)


def _writer(
    folder: Path, place: Place, edited: _EditedDrawing, zones: tuple[Zone, ...], furniture: tuple[Furniture, ...]
) -> Callable[[Path], None]:
    """Return a function that writes the new folder ``map`` into an existing folder."""
    if edited.cells is None and place.map.has_shapes:
        polygons, discs = place.shapes_of_walls()
        outlines = tuple(outline for piece in furniture for outline in piece.polygons())
        discs = np.vstack([discs, *(piece.discs() for piece in furniture)])
        shaped = replace(place.map, polygons=polygons + outlines, discs=discs)
        return lambda to: write_place(Place(shaped, furniture, zones), to)
    cells = None if edited.cells is None else _cells(edited.cells, place)
    walls = _walls(folder, place) if cells is None else cells == WALL
    unknown = place.map.unknown if cells is None else cells == UNKNOWN
    under = cells_under(furniture, place.map)
    none = np.zeros((0, 4)), np.zeros((0, 3))
    unknown = None if unknown is None or not unknown.any() else unknown & ~under
    flat = replace(place.map, occupied=walls | under, unknown=unknown, segments=none[0], discs=none[1], polygons=())

    def write(to: Path) -> None:
        write_place(Place(flat, furniture, zones), to)
        _paint(to / "map" / "map.png", walls, under, unknown)

    return write


def _paint(path: Path, walls: Bools, under: Bools, unknown: Bools | None) -> None:
    """Write the image of a map in which furniture can be distinguished from walls."""
    from PIL import Image

    pixels = np.where(walls, np.uint8(_WALL), np.where(under, np.uint8(_FURNITURE), np.uint8(_FREE)))
    if unknown is not None:
        pixels[unknown] = _UNKNOWN
    Image.fromarray(np.ascontiguousarray(pixels[::-1])).save(path)


def _swap(folder: Path, write: Callable[[Path], None]) -> None:
    """Replace the folder ``map`` by a new one; if the replacement is interrupted, `Worlds.own` completes it."""
    part, before = folder / f".{os.getpid()}.part", folder / ".map.before"
    shutil.rmtree(part, ignore_errors=True)
    try:
        part.mkdir()
        write(part)
        shutil.rmtree(folder / ".map.next", ignore_errors=True)  # left by a server that was killed before it responded
        os.replace(part / "map", folder / ".map.next")
    finally:
        shutil.rmtree(part, ignore_errors=True)
    shutil.rmtree(before, ignore_errors=True)
    os.replace(folder / "map", before)
    os.replace(folder / ".map.next", folder / "map")
    shutil.rmtree(before, ignore_errors=True)


def _without_folder(line: str, folder: Path) -> str:
    """Return a line of a message without the path of the folder."""
    return line.replace(f"{folder}/", "").replace(str(folder), folder.name)


def _version(folder: Path) -> str:
    """Return the version of a world's map: a hash of its files."""
    whole = hashlib.sha256()
    for file in sorted((folder / "map").iterdir()):
        whole.update(f"{file.name}\0{file.stat().st_size}\0".encode())
        whole.update(file.read_bytes())
    return whole.hexdigest()[:16]
