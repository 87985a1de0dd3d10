"""The worlds of a server: those that come with Agora, those that were imported, and those in the folder's ``worlds``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from agora.config import build_component, parse
from agora.core.state import SOCIAL_STATES
from agora.documents import shown
from agora.errors import InputError, UnknownNameError
from agora.maps.place import Place, read_place
from agora.maps.save import whole, write_world
from agora.seeds import Stream
from agora.tasks.worlds.folder import imported_names, world_folder, world_names
from agora.viewer.replay import encode_map
from agora.viewer.scene import COLOURS, DARK, mark_of, reach
from agora.web.names import check_name

MOST_CELLS = 4_200_000
"""Most cells of a map that is made or taken by a page."""
_IMAGES = (".png", ".pgm", ".bmp", ".gif", ".jpg")
_MOST_THINGS = 1_000


class Worlds:
    """The worlds that scenarios of a server may name.

    Args:
        folder: folder of the own ones; it may not be there yet.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def own(self) -> list[str]:
        """Names of the own worlds."""
        return sorted(p.name for p in self._folder.iterdir() if (p / "map").is_dir()) if self._folder.is_dir() else []

    def names(self) -> dict[str, str]:
        """The origin of each world: "own", "imported" or "library"."""
        kinds = {"library": world_names(), "imported": imported_names(), "own": self.own()}
        return {name: origin for origin, names in kinds.items() for name in names}

    def folder(self, name: str) -> Path:
        """The folder of a world.

        Raises:
            UnknownNameError: there is none of this name.
        """
        known = self.names()
        if name not in known:
            raise UnknownNameError("world", name, known)
        return self._folder / name if known[name] == "own" else world_folder(name)

    def place(self, name: str) -> Place:
        """The map of a world, with what stands in it.

        Raises:
            UnknownNameError: there is none of this name. InputError: it cannot be read.
        """
        return _read(self.folder(name))

    def all(self) -> list[dict[str, Any]]:
        """Return all worlds as pages list them."""
        return [{"name": name, "origin": origin, **_size(self.folder(name))} for name, origin in sorted(self.names().items())]

    def world(self, name: str) -> dict[str, Any]:
        """Return a world as pages draw it, its places in the frame of its file.

        Raises:
            UnknownNameError: there is none of this name. InputError: it cannot be read.
        """
        return {"name": name, "origin": self.names().get(name, ""), **drawn(self.place(name))}

    def make(self, name: str, generator: str, parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
        """Make an own world by a generator, whole or not at all, and return it.

        Raises:
            InputError: there is a world of this name already, or the generator refuses.
        """
        self._check_new(name)
        place = generated(generator, parameters, seed)
        with whole(self._folder / name, "world") as folder:
            write_world(place, folder, ())
        return self.world(name)

    def take(self, name: str, text: str, image: bytes) -> dict[str, Any]:
        """Make an own world of a map of map_server, whole or not at all, and return it.

        Args:
            name: its name.
            text: the map's YAML; it names an image beside it.
            image: that image.

        Raises:
            InputError: there is a world of this name already, or the files are none of a map, or the map is too large.
        """
        self._check_new(name)
        named = parse(text, dict[str, Any], "map.yaml").get("image")
        if not isinstance(named, str) or Path(named).name != named or Path(named).suffix.lower() not in _IMAGES:
            raise InputError(f"map.yaml: image: expected the name of a file beside it ({', '.join(_IMAGES)}), got {shown(named)}")
        with whole(self._folder / name, "world") as folder:
            files = folder / "map"
            files.mkdir()
            (files / "map.yaml").write_text(text, encoding="utf-8")
            (files / named).write_bytes(image)
            try:
                rows, columns = read_place(folder).map.shape
            except InputError as error:
                raise InputError(str(error).replace(f"{files}/", "")) from error
            if rows * columns > MOST_CELLS:
                raise InputError(f"{named}: {columns} x {rows} pixels; a page takes maps of {MOST_CELLS:,} cells at most")
        return self.world(name)

    def _check_new(self, name: str) -> None:
        check_name("world", name)
        if name in self.names():
            raise InputError(f"world: there is one called {name!r} already; choose another name")


def generated(generator: str, parameters: Mapping[str, Any], seed: int) -> Place:
    """Return the place that a generator makes.

    Raises:
        InputError: there is no such generator, a parameter is wrong, the place would be too large, or it cannot be made.
    """
    made = build_component("map_generators", {**parameters, "name": generator}, "generator")
    part = made.part
    sides = [float(getattr(part, side, 0.0)) for side in ("width", "height")]
    cells = np.prod(sides) / float(getattr(part, "resolution", 1.0)) ** 2
    if cells > MOST_CELLS:
        raise InputError(
            f"generator: {sides[0]:g} x {sides[1]:g} m are {cells:.2g} cells; a page makes maps of {MOST_CELLS:,} at most"
        )
    for key, value in parameters.items():
        if isinstance(value, int | float) and abs(value) > _MOST_THINGS:
            raise InputError(f"generator: {key}: expected at most {_MOST_THINGS} on a page, got {value}")
    if seed < 0:
        raise InputError(f"seed: expected at least 0, got {seed}")
    place: Place = part.generate(Stream(generator, seed, "place", 0))
    return place


def drawn(place: Place) -> dict[str, Any]:
    """Return a place as a page draws it, in the frame of its file: its map, its size, and the colours of everything."""
    plan, (x, y) = encode_map(place.map), place.map.offset
    left, bottom, right, top = reach(place.map, [], 0.3)
    return {
        "size": [round(float(side), 3) for side in place.map.size],
        "resolution": float(place.map.resolution),
        "extent": [round(left + x, 3), round(bottom + y, 3), round(right + x, 3), round(top + y, 3)],
        "map": _moved(plan, x, y) if x or y else plan,
        "colours": {"light": COLOURS, "dark": DARK},
        "states": [mark_of(number) for number in range(len(SOCIAL_STATES))],
        "names": list(SOCIAL_STATES),
    }


def _moved(plan: dict[str, Any], x: float, y: float) -> dict[str, Any]:
    """An encoded map with its places moved."""
    by = {"segments": [x, y, x, y], "discs": [x, y, 0.0], "extent": [x, y, x, y]}
    moved = {key: (np.asarray(plan[key]) + step).tolist() for key, step in by.items() if plan.get(key)}
    return {**plan, **moved, "polygons": [(np.asarray(polygon) + [x, y]).tolist() for polygon in plan["polygons"]]}


def _size(folder: Path) -> dict[str, Any]:
    """The size of a world's map, m, or the reason why it cannot be read."""
    try:
        return {"size": [round(float(side), 3) for side in _read(folder).map.size], "missing": ""}
    except InputError as error:
        return {"size": [], "missing": str(error)}


@lru_cache(maxsize=64)
def _read(folder: Path) -> Place:
    return read_place(folder)
