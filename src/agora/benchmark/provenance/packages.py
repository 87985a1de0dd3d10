"""Identifies the code that computes results (Agora and the packages of components), so that a run never mixes two versions.

A version alone is not enough, because the code of an editable installation or a checkout changes without a new version. Every
package therefore has a digest of its code files in addition to its version. `manifest` lists these files, so that an error can name
the files that have changed.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import agora
from agora import __version__
from agora.benchmark.provenance.inputs import NamesParts
from agora.draft.stage import Stage
from agora.engine.wiring import Wiring
from agora.errors import AgoraError, InputError
from agora.planners.adapters import declaration_of
from agora.policies.policy import Policy
from agora.registry import KINDS, Named, available
from agora.robots.model import load_robot

OWN = "agora-nav"
"""Name of Agora's own distribution."""

_AGORA = Path(agora.__file__).resolve().parent
_CODE = (".py", ".so")
_NO_CODE = ("__pycache__", "node_modules", "_share")
"""Folders of a package that contain no code. Configuration files, which are in ``_share`` in a wheel and elsewhere in a checkout,
are covered by `agora.benchmark.provenance.inputs`.
"""

_MOST_FILES = 5


def packages(*parts: Any) -> dict[str, str]:
    """Return the versions of Agora and of every distribution that contains one of the components, sorted by name.

    A version has the form ``1.0, code DIGEST``. The digest covers all code files of the component's package and is the same for a
    checkout, an editable installation and a wheel. A component that does not belong to any distribution is listed under the name of
    its module, with only a digest.

    Args:
        parts: suites, planners and metrics, or any other values that contain components.
    """
    return dict(sorted((name, _version(name, _lines(*places))) for name, places in _places(parts).items()))


def names(*parts: Any) -> set[str]:
    """Return the names of the packages that `packages` lists for components, without reading the declarations of planners."""
    return set(_places(parts, ask=False))


def modules(*parts: Any) -> set[str]:
    """Return the names of the modules that define the components, the channels of planners and the parts of policies."""
    return {name for part in parts for name in _modules(part, True)}


def manifest(*parts: Any) -> str:
    """Return a list of the code files covered by the digests of `packages`: one line per file with its digest and path, in the
    format of ``b2sum -l 128``.
    """
    return "".join(line for places in _places(parts).values() for line in _lines(*places))


def change(was: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return a description of the first package that differs between two results of `packages`; empty if none differs."""
    for name in sorted({*was, *now}):
        if was.get(name) != now.get(name):
            return f"package {name} was {was.get(name, 'not installed')} and is {now.get(name, 'not installed')}"
    return ""


def changed_files(listed: str) -> str:
    """Return a description of the files in a `manifest` that have changed since then, like `different_files`; empty if none has."""
    places = {path.partition("/")[0] for path in _digests(listed)}
    return different_files(
        listed, "".join(line for name in places if (place := _place_of(name)) is not None for line in _lines(place))
    )


def different_files(listed: str, later: str) -> str:
    """Return a description of the first few files that differ between a `manifest` and a later one; empty if none differs."""
    was, now = _digests(listed), _digests(later)
    words = ("changed", "gone", "new")
    different = [path for path in sorted({*was, *now}) if was.get(path) != now.get(path)]
    said = [f"{path} ({words[(path not in now) + 2 * (path not in was)]})" for path in different[:_MOST_FILES]]
    more = len(different) - len(said)
    return ", ".join(said) + (f" and {more} more" if more else "")


def check_imported() -> None:
    """Make sure that Agora's files have not changed since this process imported them.

    Raises:
        InputError: a file was changed, so modules imported from now on would be of a different version.
    """
    if changed := changed_files("".join(_IMPORTED)):
        raise InputError(f"Agora's own code has changed since this program started: {changed}; restart the program")


def _places(parts: Iterable[Any], ask: bool = True) -> dict[str, set[Path]]:
    """Return the outermost packages or modules that contain the components, by name of the distribution; Agora is always included.

    If ``ask`` is True, the declarations of planners are also read, which may run programs and load weights.
    """
    places: dict[str, set[Path]] = defaultdict(set, {OWN: {_AGORA}})
    for part in parts:
        for module in _modules(part, ask):
            top = module.partition(".")[0]
            file = getattr(sys.modules.get(module), "__file__", None)
            if top not in (*sys.stdlib_module_names, "agora"):
                places[_distributions().get(top, top)] |= {_outermost(module, Path(file))} if file else set()
    return places


def _modules(value: Any, ask: bool) -> Iterator[str]:
    """Yield the names of the modules that define the components in a value."""
    if isinstance(value, Named):
        yield from _modules(value.part, ask)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _modules(item, ask)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _modules(item, ask)
    elif isinstance(value, functools.partial):
        yield from _modules(value.func, ask)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from (kind.__module__ for kind in type(value).__mro__)
        yield from _modules(list(_by_name(value, ask)), ask)
        for field in dataclasses.fields(value):
            yield from _modules(getattr(value, field.name), ask)
    elif callable(value) and hasattr(value, "__module__"):
        yield str(value.__module__)


def _by_name(component: Any, ask: bool) -> Iterator[Any]:
    """Yield the components to which a component refers: its named parts and, for a planner, its channels and the parts of its
    policy.
    """
    if isinstance(component, NamesParts):
        yield from component.named_parts()
    if isinstance(component, Stage):
        yield from (load_robot(name) for name in component.models)
    if ask and hasattr(type(component), "declares"):
        with suppress(AgoraError):  # not a planner, or its program does not run, or its weights are not trained yet
            yield from [provider for provider, _ in Wiring.of(declaration_of(component).needs).order]
            yield from [policy] if isinstance(policy := getattr(component, "policy", None), Policy) else []


def _version(name: str, lines: Iterable[str]) -> str:
    """Return the version string of a package, given the lines of its manifest."""
    code = f"code {hashlib.blake2b(''.join(lines).encode(), digest_size=16).hexdigest()}"
    try:
        return f"{__version__ if name == OWN else version(name)}, {code}"
    except PackageNotFoundError:
        return code


@functools.cache
def _distributions() -> dict[str, str]:
    """Return the names of distributions by top-level module; if two distributions share a module, the distribution that registers a
    component is used.
    """
    named = {top: names[0] for top, names in packages_distributions().items()}
    points = (point for kind in KINDS for point in available(kind).values())
    return named | {point.module.partition(".")[0]: point.dist.name for point in points if point.dist is not None}


def _lines(*places: Path) -> Iterator[str]:
    """Yield the manifest lines of packages and modules, computed from the current contents of their files."""
    for place in sorted(places):
        for file in [place] if place.is_file() else _files(place):
            known = file.stat()
            digest = _digest(file, known.st_ino, known.st_size, known.st_mtime_ns, known.st_ctime_ns)
            yield f"{digest}  {file.relative_to(place.parent).as_posix()}\n"


@functools.cache
def _digest(file: Path, *_: int) -> str:
    """Return the digest of a file, which is read again only if its inode, size or a timestamp has changed."""
    return hashlib.blake2b(file.read_bytes(), digest_size=16).hexdigest()


def _files(folder: Path) -> list[Path]:
    """Return the code files of a package, sorted."""
    found: list[Path] = []
    for here, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in _NO_CODE and not name.startswith(".")]
        found += [Path(here, name) for name in files if name.endswith(_CODE)]
    return sorted(found)


def _digests(listed: str) -> dict[str, str]:
    """Return the digests in a manifest, by path."""
    return {path: digest for digest, _, path in (line.partition("  ") for line in listed.splitlines())}


def _outermost(module: str, file: Path) -> Path:
    """Return the folder of the outermost package of a module, or the module's file if it is in no package."""
    depth = module.count(".") + (file.name == "__init__.py")
    return file.parents[depth - 1] if depth else file


def _place_of(name: str) -> Path | None:
    """Return the folder of the package, or the file of the module, with the given name; None if Python does not find it."""
    if name == _AGORA.name:
        return _AGORA
    with suppress(ValueError):  # the main program, which is not imported
        if (spec := find_spec(name.partition(".")[0])) is not None:
            return Path(str([*(spec.submodule_search_locations or ()), spec.origin][0]))
    return None


_IMPORTED = tuple(_lines(_AGORA))
"""The lines of Agora's manifest at the time when this module was imported."""
