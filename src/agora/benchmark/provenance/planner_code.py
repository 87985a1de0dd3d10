"""Digests of planners (driving code, parameters and weights), used to detect planners that were changed after an edition was drawn.

A planner's code consists of the planner's own modules and the modules in `_DRIVES` that they import, directly or indirectly. The
engine, sensors and maps are the same for every planner and are left out. For a planner from another package, all code files of that
package count.

Only code affects the digest. A module may be moved or renamed, and its docstrings, comments, blank lines and imports may be edited
(`docs/decisions/2026-11-30-only-code-counts.md`).
"""

from __future__ import annotations

import ast
import functools
import hashlib
import io
import tokenize
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeGuard

import agora
from agora.benchmark.provenance.inputs import inputs
from agora.benchmark.provenance.packages import manifest, modules
from agora.config import dump, plain
from agora.draft.edition import Edition
from agora.errors import AgoraError
from agora.registry import Named

__all__ = ["after_draw", "digest_of"]

CHANGED, NOT_DRAWN = "changed after the draw", "not in the draw"
"""Marks of a planner whose digest has changed since the draw, and of a planner that did not exist with these parameters at the
draw.
"""

_DRIVES = ("agora.planners", "agora.policies", "agora.predictors", "agora.costmap")
"""Packages of Agora whose modules count as part of a planner that imports them."""

_HUBS = ("agora.planners.adapters", "agora.planners.presets")
"""Modules that call planners but are not part of any planner."""


def digest_of(planner: Named) -> str:
    """Return the digest of a planner's code, its parameters and the files that it reads.

    Raises:
        InputError: a file of the planner cannot be read.
    """
    own = _closure(name for name in modules(planner) if name.startswith(_DRIVES))
    digest = hashlib.blake2b(digest_size=16)
    digest.update(dump(plain(planner)).encode())
    for line in sorted(_code_digest(file, file.stat().st_mtime_ns) for file in own.values()):
        digest.update(f"{line}\n".encode() if line else b"")
    for line in manifest(planner).splitlines():
        if not line.partition("  ")[2].startswith("agora/"):
            digest.update(f"{line}\n".encode())
    for name, value in inputs(planner).items():
        digest.update(f"{Path(name).name} {value}\n".encode())
    return digest.hexdigest()


def after_draw(edition: Edition, planners: Mapping[str, Named]) -> dict[str, str]:
    """Return the marks, by label, of planners that have changed since an edition was drawn."""
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
    """Return the files of the given modules in `_DRIVES`, and of all modules in `_DRIVES` that they import, directly or indirectly,
    by module name.
    """
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
    """Return the file of an Agora module; None if no module has this name."""
    place = Path(agora.__file__).parent.joinpath(*name.split(".")[1:])
    return next((file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()), None)


@functools.lru_cache(maxsize=4096)
def _code_digest(file: Path, changed: int) -> str:
    """Return the digest of the code of a module; empty if the module has none."""
    code = code_of(file.read_text(encoding="utf-8"))
    return code and hashlib.blake2b(code.encode(), digest_size=16).hexdigest()


def code_of(source: str) -> str:
    """Return the source code of a module without docstrings, comments, imports, blank lines and trailing white space."""
    lines = [line.encode() for line in source.split("\n")]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom) or _is_text(node):
            first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
            for row in range(first, last + 1):
                begin = node.col_offset if row == first else 0
                end = (node.end_col_offset or 0) if row == last else len(lines[row])
                lines[row] = lines[row][:begin] + b" " * (end - begin) + lines[row][end:]
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:  # a comment extends to the end of its line
            row = token.start[0] - 1
            lines[row] = lines[row].removesuffix(token.string.encode())
    return "\n".join(line.decode().rstrip() for line in lines if line.strip())


def _is_text(node: ast.AST) -> TypeGuard[ast.Expr]:
    """Return whether a statement consists only of a string, like a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


@functools.lru_cache(maxsize=4096)
def _imported(file: Path, changed: int) -> list[str]:
    """Return the names of the modules in `_DRIVES` that a file imports, including imports inside functions and classes."""
    names: list[str] = []
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [_module_of(node.module, alias.name) for alias in node.names]
    return [name for name in names if name.startswith(_DRIVES)]


def _module_of(module: str, name: str) -> str:
    """Return the module that ``from module import name`` imports from: ``module`` itself, or its submodule ``name``."""
    inner = f"{module}.{name}"
    return module if _file(inner) is None else inner
