"""Packages that are installed for a test: a folder on Python's path with a module and its entry points."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agora import registry
from agora.benchmark.provenance import packages


@contextmanager
def installed(folder: Path, name: str, source: Path, **components: str) -> Iterator[None]:
    """Install a module as a package that registers components, each ``KIND__NAME="Class"``, and remove it at the end.

    Args:
        folder: an empty folder.
        name: name of the package, and of its distribution.
        source: file of the module.
        components: attributes of the module by kind and name.
    """
    about = folder / f"{name}-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_bytes(source.read_bytes())
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [f"[agora.{kind}]\n{one} = {name}:{attribute}\n" for (kind, one), attribute in _split(components).items()]
    (about / "entry_points.txt").write_text("".join(lines))
    sys.path.append(str(folder))
    _forget()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop(name, None)
        _forget()


def _split(components: dict[str, str]) -> dict[tuple[str, str], str]:
    """The attributes by kind and name."""
    return {(key.partition("__")[0], key.partition("__")[2]): attribute for key, attribute in components.items()}


def _forget() -> None:
    """Have the registry read all entry points anew."""
    for cached in (registry._points, registry.available, packages._distributions):
        cached.cache_clear()
