"""Export of a place to 3-D files of various kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from agora.errors import UnknownNameError
from agora.maps.world3d.mesh import glb, obj
from agora.maps.world3d.mjcf import mjcf
from agora.maps.world3d.sdf import sdf
from agora.maps.world3d.solids import Solids
from agora.maps.world3d.unity import unity

__all__ = ["export"]


def _obj(world: Solids, name: str) -> dict[str, str | bytes]:
    surfaces, materials = obj(world, f"{name}.mtl")
    return {f"{name}.obj": surfaces, f"{name}.mtl": materials}


KINDS: dict[str, Callable[[Solids, str], dict[str, str | bytes]]] = {
    "sdf": lambda world, name: {f"{name}.world": sdf(world)},
    "mjcf": lambda world, name: {f"{name}.xml": mjcf(world)},
    "glb": lambda world, name: {f"{name}.glb": glb(world)},
    "obj": _obj,
    "unity": lambda world, name: {f"{name}.unity.json": unity(world)},
}
"""Export formats for a place: functions that return files by name, given the solids and the common name of the files."""


def check_kinds(kinds: Iterable[str]) -> None:
    """Check that files of the given kinds can be written.

    Raises:
        UnknownNameError: a kind is unknown.
    """
    for kind in kinds:
        if kind not in KINDS:
            raise UnknownNameError("kind of 3-D file", kind, KINDS)


def export(world: Solids, folder: Path, kinds: Iterable[str]) -> list[Path]:
    """Write a place to files of the given kinds, named after the world, in an existing folder; return their paths.

    Raises:
        UnknownNameError: a kind is unknown; nothing was written.
    """
    kinds = tuple(kinds)
    check_kinds(kinds)
    files = {name: content for kind in kinds for name, content in KINDS[kind](world, world.name).items()}
    for name, content in files.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return [folder / name for name in files]
