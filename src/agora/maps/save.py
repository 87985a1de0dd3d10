"""Writing world folders atomically: they appear complete or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from agora.errors import InputError
from agora.maps.place import Place, write_place
from agora.maps.world3d.export import check_kinds, export
from agora.maps.world3d.solids import solids

__all__ = ["whole", "write_world"]


@contextmanager
def whole(output: Path, name: str = "folder") -> Iterator[Path]:
    """Return a context manager for writing a folder that appears under its final name only once it is complete; ``name`` is what
    messages call the folder.

    Raises:
        InputError: the folder exists and is not empty, or cannot be written.
    """
    output = output.absolute()
    part, mine = output.with_name(f".{output.name}.{os.getpid()}.part"), False
    try:
        if output.exists() and (not output.is_dir() or any(output.iterdir())):
            raise InputError(f"{name} {output}: exists and is not an empty folder; nothing was written")
        part.mkdir(parents=True)
        mine = True
        yield part
        os.replace(part, output)
    except OSError as error:
        raise InputError(f"{name} {output}: cannot be written: {error}") from error
    finally:
        if mine:
            shutil.rmtree(part, ignore_errors=True)


def write_world(place: Place, folder: Path, kinds: Sequence[str], *, height: float = 2.5, name: str = "") -> None:
    """Write a place into an existing folder, and 3-D files of the given kinds into its ``worlds`` folder.

    Args:
        place: place to write.
        folder: folder of the world.
        kinds: kinds of 3-D files (`agora.maps.world3d.export.KINDS`).
        height: height of walls, m.
        name: name of the 3-D files; the map's name if empty.

    Raises:
        UnknownNameError: a kind is unknown; nothing was written.
    """
    check_kinds(kinds)
    write_place(place, folder)
    if kinds:
        (folder / "worlds").mkdir()
        export(solids(place, height=height, name=name or place.map.name), folder / "worlds", kinds)
