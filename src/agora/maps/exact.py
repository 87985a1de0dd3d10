"""Lossless map files: cells and shapes are stored bit for bit (``.npz``, without pickles)."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from agora.errors import reading
from agora.maps.grid import Map
from agora.packed import arrays_of
from agora.yaml_tree import require_file

_LARGEST = 500_000_000  # maximum size of the arrays of occupied and unknown cells in a file, bytes


def encode_exact(place: Map) -> bytes:
    """Return the bytes of the file for a map."""
    file = io.BytesIO()
    write_exact(place, file)
    return file.getvalue()


def write_exact(place: Map, path: Path | BinaryIO) -> None:
    """Write a map to a file, given as a path or as an open file.

    Raises:
        OSError: the file cannot be written.
    """
    heights: dict[str, Any] = {} if place.ground is None else {"ground": place.ground}
    np.savez_compressed(
        path,
        name=np.array(place.name),
        frame=np.array([place.resolution, *place.origin, *place.offset]),
        occupied=place.occupied,
        unknown=np.zeros((0, 0), np.bool_) if place.unknown is None else place.unknown,
        segments=place.segments,
        discs=place.discs,
        corners=np.concatenate([np.zeros((0, 2)), *place.polygons]),
        polygons=np.array([len(polygon) for polygon in place.polygons], np.int64),
        **heights,
    )


def read_exact(path: Path) -> Map:
    """Read a map file written by `write_exact`.

    Raises:
        InputError: the file cannot be read, or is not in this format.
    """
    require_file(path)
    with reading(path, "a cached map"), path.open("rb") as file:
        return decode_exact(file, str(path))


def decode_exact(stream: BinaryIO, where: str) -> Map:
    """Read a map from an open file written by `write_exact`.

    Args:
        stream: the file, which must be seekable.
        where: name of the file for messages.

    Raises:
        InputError: the file is not in this format.
    """
    with reading(where, "a cached map"), arrays_of(stream, where, _LARGEST) as file:
        resolution, x, y, *offset = (float(v) for v in file["frame"])
        return Map(
            name=str(file["name"]),
            resolution=resolution,
            origin=(x, y),
            occupied=file["occupied"],
            unknown=file["unknown"] if file["unknown"].size else None,
            segments=file["segments"],
            discs=file["discs"],
            polygons=tuple(np.split(file["corners"], np.cumsum(file["polygons"])[:-1])) if len(file["polygons"]) else (),
            offset=(offset[0], offset[1]) if offset else (0.0, 0.0),
            ground=file.get("ground"),
        )
