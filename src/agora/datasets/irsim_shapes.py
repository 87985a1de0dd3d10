"""Converts the shapes and the obstacle map of an ir-sim world to exact shapes and map cells (a76275f,
lib/handler/geometry_handler.py).
"""

from __future__ import annotations

import importlib.util
import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np

from agora.core.state import Doubles
from agora.datasets.foreign_yaml import Notes, is_number, number_of, plain_of, wrong
from agora.errors import InputError, nearest
from agora.maps.grid import Map
from agora.seeds import Stream
from agora.yaml_tree import Node

_RESOLUTION = 0.05  # m, cell size for a world without an obstacle map
_LONGEST = 4000  # maximum number of cells along a side
_SHAPES = ("circle", "rectangle", "polygon", "linestring", "compound")


class Shapes:
    """Collects the shapes of static objects.

    Args:
        where: path of the file.
        notes: object that collects notes on the file.
        stream: random stream for random shapes.
    """

    def __init__(self, where: str, notes: Notes, stream: Stream) -> None:
        self.where, self.notes, self.stream = where, notes, stream
        self._segments: list[Doubles] = []
        self._discs: list[Doubles] = []
        self.polygons: tuple[Doubles, ...] = ()

    @property
    def segments(self) -> Doubles:
        """(S, 4) walls, m."""
        return np.array(self._segments).reshape(-1, 4)

    @property
    def discs(self) -> Doubles:
        """(D, 3) discs, m."""
        return np.array(self._discs).reshape(-1, 3)

    def add(self, line: int | None, shape: Any, state: tuple[float, ...]) -> None:
        """Add a shape at a state (x, y, heading).

        Raises:
            InputError: the shape is unknown, or its numbers are invalid.
        """
        known = {"name": "circle", "radius": 1.0} if shape is None else shape
        name = known.get("name") if isinstance(known, dict) else known
        if not isinstance(known, dict) or name not in _SHAPES:
            raise InputError(f"{self.where}:{line}: shape.name: no shape called {name!r}; {nearest(str(name), _SHAPES)}")
        if known.get("random_shape"):
            self._random(line, known, state)
        elif name == "circle":
            centre = _turned(self._points(line, "shape.center", [known.get("center", [0.0, 0.0])]), state)[0]
            self._discs.append(np.array([*centre, self._length(line, "radius", known.get("radius", 0.2))]))
        elif name == "rectangle":
            length, width = (self._length(line, key, known.get(key, 1.0)) for key in ("length", "width"))
            corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * np.array([length, width]) / 2
            self.polygons += (_turned(corners, state),)
        elif name == "compound":
            for part in known.get("parts") or ():
                x, y, h = (*part.get("pose", (0.0, 0.0, 0.0)), 0.0, 0.0, 0.0)[:3] if isinstance(part, dict) else (0.0, 0.0, 0.0)
                place = _turned(self._points(line, "shape.parts.pose", [[x, y]]), state)[0]
                self.add(line, part, (float(place[0]), float(place[1]), state[2] + float(h)))
        else:
            self._corners(line, name, known, state)

    def _corners(self, line: int | None, name: str, shape: dict[str, Any], state: tuple[float, ...]) -> None:
        """Add a polygon or a polyline, given by its points in the object's frame."""
        points = _turned(self._points(line, "shape.vertices", shape.get("vertices")), state)
        if name == "polygon" and len(points) > 2:
            self.polygons += (points,)
        else:
            self._segments += [np.concatenate(pair) for pair in itertools.pairwise(points) if (pair[0] != pair[1]).any()]

    def _random(self, line: int | None, shape: dict[str, Any], state: tuple[float, ...]) -> None:
        """Add a random circle or polygon as a disc with the shape's mean radius; random polygons have their own positions."""
        span = shape.get("radius_range") or shape.get("avg_radius_range") or [0.1, 1.0]
        low, high = (self._length(line, "radius_range", value) for value in (span[0], span[-1]))
        x, y = state[:2]
        if shape["name"] != "circle":
            area = shape.get("center_range", [0, 0, 10, 10])
            corners = self._points(line, "shape.center_range", [area[:2], area[2:4]] if isinstance(area, list) else area)
            x, y = (float(v) for v in self.stream.uniform(0.0, 1.0, 2) * (corners[1] - corners[0]) + corners[0])
            self.notes.add(line, "shape.random_shape", "random polygons become discs of their mean radius")
        self._discs.append(np.array([x, y, round(float(self.stream.uniform(low, high, 1)[0]), 3)]))

    def _length(self, line: int | None, key: str, value: Any) -> float:
        if not is_number(value) or not value > 0:
            raise wrong(self.where, line, f"shape.{key}", "a number above 0", value)
        return float(value)

    def _points(self, line: int | None, key: str, value: Any) -> Doubles:
        fine = isinstance(value, list) and value and all(isinstance(p, list) and len(p) >= 2 for p in value)
        if not fine or not all(is_number(v) for point in value for v in point[:2]):
            raise wrong(self.where, line, key, "points [x, y]", value)
        return np.array([point[:2] for point in value], float)


def _turned(points: Doubles, state: tuple[float, ...]) -> Doubles:
    """Return points (N, 2), m, transformed from the frame of a body at a state (x, y, heading) to the world frame."""
    c, s = math.cos(state[2]), math.sin(state[2])
    moved: Doubles = points @ np.array([[c, s], [-s, c]]) + np.array(state[:2])
    return moved


def ground_of(world: Node, where: str, name: str, size: tuple[float, ...], offset: tuple[float, ...], notes: Notes) -> Map:
    """Return the map of a world without objects: open ground, or a map made from the image ``obstacle_map``.

    Args:
        world: mapping under the ``world`` key.
        where: path of the file.
        name: name of the map.
        size: width and height of the map, m.
        offset: lower-left corner of the map, m.
        notes: object that collects notes on the file.

    Raises:
        InputError: the image cannot be read.
    """
    given = world.value.get("obstacle_map")
    origin = (float(offset[0]), float(offset[1]))
    resolution = _RESOLUTION * max(1, math.ceil(max(size) / (_RESOLUTION * _LONGEST)))
    columns, rows = (max(2, math.ceil(side / resolution)) for side in size)
    if given is None or given.value is None:
        return Map(name, resolution, origin, np.zeros((rows, columns), np.bool_))
    if not isinstance(given.value, str):
        notes.add(given.line, "world.obstacle_map", "not imported: a generated map; agora map generate creates maps")
        return Map(name, resolution, origin, np.zeros((rows, columns), np.bool_))
    step = number_of(world.value.get("mdownsample"), where, "world.mdownsample", 1.0)
    if step < 1 or step != int(step):
        raise wrong(where, world.line, "world.mdownsample", "an integer of at least 1", plain_of(world.value["mdownsample"]))
    dark = _dark(_image(Path(where).parent, given.value), f"{where}:{given.line}: world.obstacle_map")
    dark = dark[::-1][:: int(step), :: int(step)]
    cell = min(size[0] / dark.shape[1], size[1] / dark.shape[0])
    columns, rows = (max(2, round(side / cell)) for side in size)
    row = np.minimum((np.arange(rows) + 0.5) * dark.shape[0] / rows, dark.shape[0] - 1).astype(int)
    column = np.minimum((np.arange(columns) + 0.5) * dark.shape[1] / columns, dark.shape[1] - 1).astype(int)
    return Map(name, cell, origin, dark[np.ix_(row, column)])


def _image(folder: Path, name: str) -> Path:
    """Return the path of an image: next to the file, or in the installed package ir-sim (util/util.py, file_check)."""
    found = importlib.util.find_spec("irsim")
    package = [Path(place) / "world" / "map" / name for place in (found.submodule_search_locations or ())] if found else []
    return next((path for path in (folder / name, *package) if path.is_file()), folder / name)


def _dark(path: Path, where: str) -> Any:
    """Return a mask (rows, columns) of the pixels in an image that are darker than 50 % grey."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            return np.asarray(image.convert("L")) < 127.5
    except (OSError, UnidentifiedImageError, ValueError, SyntaxError) as error:
        raise InputError(f"{where}: {path.name}: not a readable image next to the file ({error})") from error
