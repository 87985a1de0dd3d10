"""Map files: map_server's YAML with its image (PGM, PNG ...), and files of shapes.

A file of shapes is YAML or JSON with these keys, all of them optional, except that bounds or at least one shape must be given::

    name: hall
    resolution: 0.1                       # of the distance field, m
    bounds: [-1.0, -2.0, 12.0, 7.5]       # x0, y0, x1, y1; if omitted, the shapes and a ``margin`` around them
    margin: 1.0
    segments: [[0, 0, 10, 0], [10, 0, 10, 5]]       # thin walls x0, y0, x1, y1
    polygons: [[[3, 1], [4, 1], [3.5, 2]]]          # filled obstacles, corners x, y
    discs: [[7, 3, 0.25]]                           # round pillars x, y, radius
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from agora.config import dump, load
from agora.core.state import Array
from agora.errors import InputError, similar
from agora.maps.frame import moved, offset_of
from agora.maps.grid import LARGEST, Map, check_size
from agora.packed import image_of
from agora.ranges import Checked, NotNegative, Positive
from agora.yaml_tree import location_of

__all__ = ["write_map"]

_WHITE, _GREY, _BLACK = 254, 205, 0
_LETHAL, _NO_INFORMATION = 100, 255


@dataclass(frozen=True)
class MapFile(Checked):
    """The keys of map_server's YAML (wiki.ros.org/map_server, section 1.2).

    Attributes:
        image: path of the image, relative to the YAML's folder.
        resolution: length of a pixel, m.
        origin: x, y, yaw of the image's lower-left corner; yaw must be 0.
        negate: 1 if white is occupied.
        occupied_thresh: darkness above which a pixel is occupied.
        free_thresh: darkness below which a pixel is free.
        mode: how pixels are read: pixels between the thresholds are unknown (trinary) or have graded values (scale), or every pixel
            is itself an occupancy value (raw).
        type: "indoor" or "outdoor" in Arena's maps; not used.
    """

    image: str
    resolution: Positive
    origin: tuple[float, float, float]
    negate: int | bool = 0
    occupied_thresh: float = 0.65
    free_thresh: float = 0.196
    mode: Literal["trinary", "scale", "raw"] = "trinary"
    type: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.origin[2] != 0:
            raise InputError(
                f"origin: expected yaw 0, got {self.origin[2]}; rotate the image instead, because rotated maps are not supported"
            )
        if self.negate not in (0, 1):
            raise InputError(f"negate: expected 0 or 1, got {self.negate}")
        if not 0 <= self.free_thresh <= self.occupied_thresh <= 1:
            raise InputError("free_thresh: expected 0 <= free_thresh <= occupied_thresh <= 1")


@dataclass(frozen=True)
class ShapesFile(Checked):
    """The keys of a file of shapes; the module's docstring has an example.

    Attributes:
        segments: thin walls x0, y0, x1, y1, m.
        polygons: filled obstacles, corners x, y, m.
        discs: round pillars x, y, radius, m.
        bounds: x0, y0, x1, y1, m; if not given, the shapes' bounding box plus ``margin``.
        margin: free space around the shapes, m.
        resolution: length of a cell of the distance field, m.
        name: name of the map.
    """

    segments: tuple[tuple[float, float, float, float], ...] = ()
    polygons: tuple[tuple[tuple[float, float], ...], ...] = ()
    discs: tuple[tuple[float, float, float], ...] = ()
    bounds: tuple[float, float, float, float] | None = None
    margin: NotNegative = 1.0
    resolution: float = 0.1
    name: str = "shapes"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.map()

    def map(self) -> Map:
        """Return the map that the file describes."""
        offset, bounds = offset_of(self._corner()), self.bounds
        back = (-offset[0], -offset[1])
        if bounds is not None:
            x0, y0, x1, y1 = moved(np.reshape(bounds, (2, 2)), back).ravel().tolist()
            bounds = (x0, y0, x1, y1)
        map = Map.from_shapes(
            segments=moved(np.reshape(self.segments, (-1, 2, 2)), back).reshape(-1, 4),
            discs=moved(np.reshape(self.discs, (-1, 3)), back),
            polygons=[moved(polygon, back) for polygon in self.polygons],
            bounds=bounds,
            margin=self.margin,
            resolution=self.resolution,
            name=self.name,
        )
        return replace(map, offset=offset) if any(offset) else map

    def _corner(self) -> tuple[float, float]:
        """Return the lower-left corner of the bounds or, without bounds, of the shapes; (0, 0) if there are neither."""
        if self.bounds is not None:
            return self.bounds[:2]
        corners = [np.reshape(self.segments, (-1, 2)), *(np.reshape(p, (-1, 2)) for p in self.polygons)]
        points = np.concatenate([*corners, np.reshape(self.discs, (-1, 3))[:, :2]])
        x, y = points.min(0) if len(points) else (0.0, 0.0)
        return float(x), float(y)


def _pixels(path: Path, resolution: float) -> Array:
    """Return the image of a map, whose pixels are ``resolution`` metres wide, as (rows, columns, channels) uint8, top row first."""
    from PIL import Image

    limit, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None  # our limit is lower, and its message says what to do
    try:
        with image_of(path) as image:
            if max(image.size) > LARGEST or min(image.size) < 2:
                raise InputError(f"{path}: {image.size[0]} x {image.size[1]} pixels; expected 2 to {LARGEST} per side")
            check_size(image.size[1], image.size[0], resolution, str(path))
            if image.mode not in ("1", "L", "LA", "P", "PA", "RGB", "RGBA"):
                raise InputError(f"{path}: expected an image with 8 bits per channel, got mode {image.mode!r}")
            transparent = image.mode in ("LA", "PA") or "transparency" in image.info
            wanted = "L" if image.mode in ("1", "L") else "RGBA" if transparent or image.mode == "RGBA" else "RGB"
            pixels: Array = np.asarray(image.convert(wanted))
    except FileNotFoundError as error:
        beside = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
        raise InputError(f"{path}: image not found{similar(path.name, beside)}") from error
    finally:
        Image.MAX_IMAGE_PIXELS = limit
    return pixels.reshape(*pixels.shape[:2], -1)


def occupancy(pixels: Array, mode: str, negate: bool, occupied_thresh: float, free_thresh: float) -> Array:
    """Return the occupancy values for an image according to map_server's rules: 0 free, 100 occupied, 1 to 99 in between, 255
    unknown.

    The darkness (255 - mean of the channels) / 255 is compared with both thresholds. As in map_server, the mean includes the alpha
    channel in trinary mode, and a pixel between the thresholds with alpha 0 is unknown in scale mode.

    Args:
        pixels: (rows, columns, channels) uint8, channels 1, 3, or 4 with alpha.
        mode: trinary, scale or raw.
        negate: whether white is occupied.
        occupied_thresh: darkness above which a pixel is occupied.
        free_thresh: darkness below which a pixel is free.
    """
    has_alpha = pixels.shape[2] == 4
    colours = pixels[..., :3] if has_alpha and mode != "trinary" else pixels
    mean = colours.mean(axis=2, dtype=np.float64)
    mean = 255.0 - mean if negate else mean
    if mode == "raw":
        return np.asarray(mean.astype(np.uint8))
    dark = (255.0 - mean) / 255.0
    between = np.full(dark.shape, _NO_INFORMATION, np.uint8)
    if mode == "scale":
        ratio = np.clip((dark - free_thresh) / max(occupied_thresh - free_thresh, 1e-300), 0.0, 1.0)
        opaque = pixels[..., 3] > 0 if has_alpha else True
        between = np.where(opaque, (1 + 98 * ratio).astype(np.uint8), between)
    return np.asarray(np.where(dark > occupied_thresh, np.uint8(_LETHAL), np.where(dark < free_thresh, np.uint8(0), between)))


def read_map(path: str | Path) -> Map:
    """Read a map in map_server's format: a YAML file and the image that it names.

    As in costmap_2d's static layer, values of 100 or more are occupied, except for 255, which is unknown; lower values are free.

    Raises:
        InputError: the YAML file or the image cannot be read or is invalid; the message names the file, line and key.
    """
    path = Path(path)
    file = load(path, MapFile)
    try:
        pixels = _pixels(path.parent / file.image, file.resolution)
    except InputError as error:
        raise InputError(f"{location_of(path, 'image')}: {error}") from error
    values = occupancy(pixels, file.mode, bool(file.negate), file.occupied_thresh, file.free_thresh)[::-1]
    unknown, offset = values == _NO_INFORMATION, offset_of(file.origin)
    x, y = moved(file.origin[:2], (-offset[0], -offset[1]))
    return Map(
        name=path.parent.parent.name if path.stem == "map" and path.parent.name == "map" else path.stem,
        resolution=file.resolution,
        origin=(float(x), float(y)),
        occupied=(values >= _LETHAL) & ~unknown,
        unknown=unknown if unknown.any() else None,
        offset=offset,
    )


def write_map(map: Map, path: str | Path, *, image: Literal["pgm", "png"] = "pgm") -> None:
    """Write the cells of a map as a map_server YAML file and, in the same folder, an image from which map_server reads the same
    cells.

    An image cannot contain exact shapes: cells whose centre is within half a cell of a shape are written as occupied.

    Args:
        map: map to write.
        path: path of the YAML file; the image has the same name with a different extension.
        image: format of the image, which is also its extension.
    """
    from PIL import Image

    path = Path(path)
    unknown = np.zeros(map.shape, np.bool_) if map.unknown is None else map.unknown
    pixels = np.where(map.cells, np.uint8(_BLACK), np.where(unknown, np.uint8(_GREY), np.uint8(_WHITE)))
    file = path.with_suffix(f".{image}")
    Image.fromarray(np.ascontiguousarray(pixels[::-1])).save(file)
    path.write_text(dump(MapFile(file.name, map.resolution, (*map.to_file(map.origin).tolist(), 0.0))), encoding="utf-8")


def read_shapes(path: str | Path) -> Map:
    """Read a file of segments, polygons and discs as a map without cells.

    Raises:
        InputError: the file cannot be read or is invalid; the message names the file, line and key.
    """
    return load(path, ShapesFile).map()


def write_shapes(map: Map, path: str | Path) -> None:
    """Write the shapes of a map to a file from which `read_shapes` reads the same map; cells are not written."""
    (x0, y0), (width, height) = map.to_file(map.origin).tolist(), map.size
    file = ShapesFile(
        segments=tuple((*a.tolist(), *b.tolist()) for a, b in map.to_file(map.segments.reshape(-1, 2, 2))),
        polygons=tuple(tuple(map.to_file(p).tolist()) for p in map.polygons),
        discs=tuple(map.to_file(map.discs).tolist()),
        bounds=(x0, y0, x0 + width, y0 + height),
        resolution=map.resolution,
        name=map.name,
    )
    Path(path).write_text(dump(file), encoding="utf-8")
