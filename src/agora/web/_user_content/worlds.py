"""The worlds of a server: worlds included in Agora, imported worlds, and users' worlds in the subfolder ``worlds``."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from agora.config import build_component
from agora.core.state import SOCIAL_STATES
from agora.errors import InputError, UnknownNameError
from agora.maps.grid import Map
from agora.maps.place import Place, changed, read_place
from agora.maps.save import whole, write_world
from agora.packed import image_of
from agora.seeds import Stream
from agora.tasks.worlds.folder import imported_names, world_folder, world_names
from agora.viewer.replay import encode_map
from agora.viewer.scene import COLOURS, DARK, mark_of, reach
from agora.web._file_names import check_name
from agora.web._storage_errors import is_full

MOST_CELLS = 4_200_000
"""Maximum number of cells of a map that a page generates or accepts."""
IMAGES = (".png", ".pgm", ".bmp", ".gif", ".jpg")
"""File suffixes of map images."""
_MOST_THINGS = 1_000


class Worlds:
    """The worlds that a server's scenarios may name.

    Args:
        folder: folder of users' worlds, which may not exist yet.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def own(self) -> list[str]:
        """Complete any interrupted replacement of a drawing, and return the names of users' worlds."""
        folders = [path for path in self._folder.iterdir() if path.name[0] != "."] if self._folder.is_dir() else []
        for path in folders:
            if (path / ".map.next").is_dir() and not (path / "map").exists():
                with suppress(OSError):  # another process was faster
                    os.replace(path / ".map.next", path / "map")
        return sorted(path.name for path in folders if (path / "map").is_dir())

    def own_folder(self, name: str) -> Path:
        """Return the folder of a user's world.

        Raises:
            UnknownNameError: there is no world with this name.
            InputError: the world is included in Agora, or was imported.
        """
        if name in self.own():
            return self._folder / name
        if name in self.names():
            raise InputError(f"world: {name!r} is not one of your worlds; edit a copy of it")
        raise UnknownNameError("world", name, self.own())

    def names(self) -> dict[str, str]:
        """Return the origin of each world: "own", "imported" or "library"."""
        kinds = {"library": world_names(), "imported": imported_names(), "own": self.own()}
        return {name: origin for origin, names in kinds.items() for name in names}

    def folder(self, name: str) -> Path:
        """Return the folder of a world.

        Raises:
            UnknownNameError: there is no world with this name.
        """
        known = self.names()
        if name not in known:
            raise UnknownNameError("world", name, known)
        return self._folder / name if known[name] == "own" else world_folder(name)

    def place(self, name: str) -> Place:
        """Return the map of a world, including its furniture.

        Raises:
            UnknownNameError: there is no world with this name. InputError: it cannot be read.
        """
        return _read(self.folder(name))

    def all(self) -> list[dict[str, Any]]:
        """Return all worlds in the format used by the front end."""
        return [{"name": name, "origin": origin, **_size(self.folder(name))} for name, origin in sorted(self.names().items())]

    def world(self, name: str) -> dict[str, Any]:
        """Return a world in the format used by the front end, with coordinates in the frame of the world's file.

        Raises:
            UnknownNameError: there is no world with this name. InputError: it cannot be read.
        """
        return {"name": name, "origin": self.names().get(name, ""), **describe_place(self.place(name))}

    def make(self, name: str, generator: str, parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
        """Atomically create a user's world with a generator, and return the world.

        Raises:
            InputError: a world with this name exists, or the generator fails.
        """
        self._check_new(name)
        place = generate_place(generator, parameters, seed)
        with self._new(name) as folder:
            write_world(place, folder, ())
        return self.world(name)

    def make_empty(self, name: str, size: tuple[float, float], resolution: float, wall: float) -> dict[str, Any]:
        """Atomically create an empty world for a user, with a wall around it, and return it.

        Args:
            name: name of the world.
            size: extent along x and y, m.
            resolution: length of a cell, m.
            wall: thickness of the wall around the world, m; 0 for no wall.

        Raises:
            InputError: a world with this name exists, or a number is invalid.
        """
        self._check_new(name)
        width, height = size
        if min(size) < 1.0 or not 0.01 <= resolution <= 1.0 or not 0.0 <= wall < 0.25 * min(size):
            raise InputError("world: expected sides of at least 1 m, cells of 0.01 to 1 m and walls that leave free space inside")
        if width * height / resolution**2 > MOST_CELLS * (1 + 1e-9):
            cells = f"{width / resolution:,.0f} x {height / resolution:,.0f} cells"
            raise InputError(f"world: {cells}; the pages can edit at most {MOST_CELLS:,}: use larger cells or a smaller world")
        map = Map.open((0.0, 0.0), (width, height), resolution=resolution, name=name)
        occupied, thick = map.occupied.copy(), round(wall / resolution) or int(wall > 0)
        if thick:
            occupied[:thick] = occupied[-thick:] = True
            occupied[:, :thick] = occupied[:, -thick:] = True
        with self._new(name) as folder:
            write_world(Place(replace(map, occupied=occupied)), folder, ())
        return self.world(name)

    def copy(self, name: str, of: str) -> dict[str, Any]:
        """Atomically create a user's world with the map of another world, and return it.

        Raises:
            InputError: a world with this name exists. UnknownNameError: the other world does not exist.
        """
        self._check_new(name)
        source = self.folder(of) / "map"
        with self._new(name) as folder:
            _copy(source, folder / "map")
        return self.world(name)

    def keep(self, name: str, fill: Callable[[Path], None]) -> dict[str, Any]:
        """Atomically create a user's world from files that a function writes into its folder, and return it.

        Raises:
            InputError: a world with this name exists, the files do not form a world, or its map is too large.
        """
        self._check_new(name)
        with self._new(name) as folder:
            fill(folder)
            try:
                rows, columns = read_place(folder).map.shape
            except InputError as error:
                raise InputError(str(error).replace(f"{folder}/map/", "").replace(f"{folder}/", "")) from error
            if rows * columns > MOST_CELLS:
                raise InputError(f"world: {columns} x {rows} cells; the pages accept maps of at most {MOST_CELLS:,} cells")
        return self.world(name)

    def remove(self, name: str) -> None:
        """Remove a user's world; it disappears from the lists immediately.

        Raises:
            UnknownNameError: there is no world with this name.
        """
        gone = self._folder / f".{name}.{os.getpid()}.gone"
        os.replace(self.own_folder(name), gone)
        shutil.rmtree(gone, ignore_errors=True)

    @contextmanager
    def _new(self, name: str) -> Iterator[Path]:
        """Yield the folder of a new world. If the disk is full, the system's error is raised."""
        try:
            with whole(self._folder / name, "world") as folder:
                yield folder
        except InputError as error:
            if is_full(cause := error.__cause__) and cause is not None:
                raise cause from error
            raise

    def _check_new(self, name: str) -> None:
        check_name("world", name)
        if name in self.names():
            raise InputError(f"world: {name!r} already exists; choose another name")


def _copy(source: Path, target: Path) -> None:
    """Copy a folder without its hidden files. The first system error is raised unchanged, whereas `shutil.copytree` would convert
    it to text.
    """
    target.mkdir()
    for path in source.iterdir():
        if path.name.startswith("."):
            continue
        if path.is_dir():
            _copy(path, target / path.name)
        else:
            shutil.copyfile(path, target / path.name)


def generate_place(generator: str, parameters: Mapping[str, Any], seed: int) -> Place:
    """Generate a place, and return it.

    Raises:
        InputError: the generator is unknown, a parameter is invalid, or the place would be too large or cannot be generated.
    """
    made = build_component("map_generators", {**parameters, "name": generator}, "generator")
    part = made.part
    sides = [float(getattr(part, side, 0.0)) for side in ("width", "height")]
    cells = np.prod(sides) / float(getattr(part, "resolution", 1.0)) ** 2
    if cells > MOST_CELLS:
        raise InputError(
            f"generator: {sides[0]:g} x {sides[1]:g} m are {cells:.2g} cells; the pages can generate at most {MOST_CELLS:,}"
        )
    for key, value in parameters.items():
        if isinstance(value, int | float) and abs(value) > _MOST_THINGS:
            raise InputError(f"generator: {key}: expected at most {_MOST_THINGS} on the pages, got {value}")
    if seed < 0:
        raise InputError(f"seed: expected an integer of at least 0, got {seed}")
    place: Place = part.generate(Stream(generator, seed, "place", 0))
    return place


def describe_place(place: Place) -> dict[str, Any]:
    """Return a place in the format used by the front end, in the frame of the place's file: the map, its size, and all colours."""
    plan, (x, y) = encode_map(place.map), place.map.offset
    left, bottom, right, top = reach(place.map, [], 0.3)
    return {
        "size": [round(float(side), 3) for side in place.map.size],
        "resolution": float(place.map.resolution),
        "extent": [round(left + x, 3), round(bottom + y, 3), round(right + x, 3), round(top + y, 3)],
        "map": _moved(plan, x, y) if x or y else plan,
        "zones": [
            {"label": zone.label, "polygon": [place.map.to_file(p).round(3).tolist() for p in zone.polygons]}
            for zone in place.zones
        ],
        "colours": {"light": COLOURS, "dark": DARK},
        "states": [mark_of(number) for number in range(len(SOCIAL_STATES))],
        "names": list(SOCIAL_STATES),
    }


def _moved(plan: dict[str, Any], x: float, y: float) -> dict[str, Any]:
    """Return an encoded map with its coordinates shifted."""
    by = {"segments": [x, y, x, y], "discs": [x, y, 0.0], "extent": [x, y, x, y]}
    moved = {key: (np.asarray(plan[key]) + step).tolist() for key, step in by.items() if plan.get(key)}
    return {**plan, **moved, "polygons": [(np.asarray(polygon) + [x, y]).tolist() for polygon in plan["polygons"]]}


def _size(folder: Path) -> dict[str, Any]:
    """Return the size of a world's map, m, or the reason why it cannot be read."""
    try:
        return {"size": [round(float(side), 3) for side in _read(folder).map.size], "missing": ""}
    except InputError as error:
        return {"size": [], "missing": str(error)}


def check_image(path: Path) -> None:
    """Reject an image that is not a map or is too large for a page, judging by its header, before it is unpacked.

    Raises:
        InputError: the image is rejected.
    """
    from PIL import Image

    try:
        with image_of(path, ("PNG", "PPM", "BMP", "GIF", "JPEG")) as image:
            width, height = image.size
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise InputError(f"{path.name}: has too many pixels; the pages accept maps of at most {MOST_CELLS:,} cells") from error
    except (InputError, OSError) as error:
        raise InputError(
            f"{path.name}: not an image of a map: expected {', '.join(IMAGES)}, with content that matches its extension"
        ) from error
    if width * height > MOST_CELLS:
        raise InputError(f"{path.name}: {width} x {height} pixels; the pages accept maps of at most {MOST_CELLS:,} cells")


def _read(folder: Path) -> Place:
    return _read_once(folder, changed(folder))


@lru_cache(maxsize=64)
def _read_once(folder: Path, changed: int) -> Place:
    return read_place(folder)
