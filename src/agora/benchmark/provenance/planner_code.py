"""Digests of planners over the driving code, the parameters and the weights, to detect planners that were changed after a draw.

The code covers the planner's modules and the modules of `_DRIVES` that these import, directly or not. The engine, sensors and maps
are the same for every planner and are left out. For a planner of another package, all code files of that package count.
"""

from __future__ import annotations

import ast
import functools
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import agora
from agora.benchmark.provenance.inputs import inputs
from agora.benchmark.provenance.packages import manifest, modules
from agora.config import dump, plain
from agora.draft.edition import Edition
from agora.errors import AgoraError
from agora.registry import Named

__all__ = ["after_draw", "digest_of"]

CHANGED, NOT_DRAWN = "changed after the draw", "not in the draw"
"""Marks of a planner with another digest than at the draw, and of a planner that was not there with these parameters."""

_DRIVES = ("agora.planners", "agora.policies", "agora.predictors", "agora.costmap")
"""Packages of Agora whose modules belong to a planner if the planner imports them."""

_HUBS = ("agora.planners.lift", "agora.planners.presets")
"""Modules that call planners but belong to none."""


def digest_of(planner: Named) -> str:
    """Return the digest of a planner: of its code, its parameters and the files that it reads.

    Raises:
        InputError: a file of the planner cannot be read.
    """
    own = _closure(name for name in modules(planner) if name.startswith(_DRIVES))
    digest = hashlib.blake2b(digest_size=16)
    digest.update(dump(plain(planner)).encode())
    for name, file in sorted(own.items()):
        digest.update(f"{name} {hashlib.blake2b(file.read_bytes(), digest_size=16).hexdigest()}\n".encode())
    for line in manifest(planner).splitlines():
        if not line.partition("  ")[2].startswith("agora/"):
            digest.update(f"{line}\n".encode())
    for name, value in inputs(planner).items():
        digest.update(f"{Path(name).name} {value}\n".encode())
    return digest.hexdigest()


def after_draw(edition: Edition, planners: Mapping[str, Named]) -> dict[str, str]:
    """Return the marks, by label, of planners that differ from the planners at the draw of an edition."""
    drawn, marks = set(edition.planners.values()), dict[str, str]()
    for label, planner in planners.items():
        try:
            same = digest_of(planner) in drawn
        except AgoraError:
            same = False
        if not same:
            marks[label] = CHANGED if label in edition.planners or planner.name in edition.planners else NOT_DRAWN
    return marks


def _closure(names: Iterable[str]) -> dict[str, Path]:
    """The files of modules of `_DRIVES`, and of the modules that they import, by name."""
    found: dict[str, Path] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        file = _file(name)
        if name not in found and name not in _HUBS and file is not None:
            found[name] = file
            waiting += _imported(file, file.stat().st_mtime_ns)
    return found


def _file(name: str) -> Path | None:
    """The file of a module of Agora; None if the name is not a module."""
    place = Path(agora.__file__).parent.joinpath(*name.split(".")[1:])
    return next((file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()), None)


@functools.lru_cache(maxsize=4096)
def _imported(file: Path, changed: int) -> list[str]:
    """The names in `_DRIVES` that a file imports, at any level."""
    names: list[str] = []
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return [name for name in names if name.startswith(_DRIVES)]
