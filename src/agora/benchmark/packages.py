"""The packages that components come from, so that a run of one version of a planner is not mixed with one of another.

A version alone does not tell: a package that is installed as editable changes without it. So whatever is not Agora's own has a
digest of its Python files beside the version.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import Any

from agora import __version__
from agora.benchmark.inputs import NamesParts
from agora.registry import KINDS, Named, available

OWN = "agora-nav"
"""The distribution that Agora is."""

_CODE = (".py", ".so")


def packages(*parts: Any) -> dict[str, str]:
    """Return the version of every distribution that components come from, by its name, sorted.

    A version reads ``1.0, code DIGEST``, where the digest is of all Python files of the component's package; of Agora itself it is
    the version alone. A component that is of no distribution has its module's name, and a digest alone.

    Args:
        parts: suites, planners and metrics, or anything made of components.
    """
    modules: dict[str, set[str]] = defaultdict(set)
    for part in parts:
        for module in _modules(part):
            top = module.partition(".")[0]
            if top not in sys.stdlib_module_names:
                modules[top].add(module)
    told = [(OWN, __version__) if top == "agora" else _told(top, some) for top, some in modules.items()]
    return dict(sorted(told))


def change(was: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Say which package is not the same in two answers of `packages`, the first by name; empty where all are."""
    for name in sorted({*was, *now}):
        if was.get(name) != now.get(name):
            return f"package {name} was {was.get(name, 'not there')} and is {now.get(name, 'not there')}"
    return ""


def _modules(value: Any) -> Iterator[str]:
    """Names of the modules that define the components in a value."""
    if isinstance(value, Named):
        yield from _modules(value.part)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _modules(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _modules(item)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from (kind.__module__ for kind in type(value).__mro__)
        if isinstance(value, NamesParts):
            yield from _modules(list(value.named_parts()))
        for field in dataclasses.fields(value):
            yield from _modules(getattr(value, field.name))
    elif callable(value) and hasattr(value, "__module__"):
        yield str(value.__module__)


def _told(top: str, modules: set[str]) -> tuple[str, str]:
    """Name and version of a package that is not Agora's own, by the name of its top module and those of modules in it."""
    name = _distributions().get(top, top)
    try:
        return name, f"{version(name)}, code {_digest(modules)}"
    except PackageNotFoundError:
        return name, f"code {_digest(modules)}"


@functools.cache
def _distributions() -> dict[str, str]:
    """The names of distributions by their top modules; of two that have one, that which registers a component."""
    named = {top: names[0] for top, names in packages_distributions().items()}
    points = (point for kind in KINDS for point in available(kind).values())
    return named | {point.module.partition(".")[0]: point.dist.name for point in points if point.dist is not None}


def _digest(modules: set[str]) -> str:
    """The digest of all code files of the packages that modules are in."""
    digest = hashlib.blake2b(digest_size=16)
    for place in sorted(
        {_package(Path(file)) for module in modules if (file := getattr(sys.modules.get(module), "__file__", None))}
    ):
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.suffix in _CODE and path.is_file():
                digest.update(f"{path.relative_to(place.parent)}\0{path.stat().st_size}\0".encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()


def _package(file: Path) -> Path:
    """The folder of the outermost package that a module's file is in; the file itself where it is in none."""
    while (file.parent / "__init__.py").is_file():
        file = file.parent
    return file
