"""The input files of a run, with digests that reveal whether a file has changed.

The record of a run (`agora.benchmark.bench.describe`) contains the values from suite files and presets, but only the names and
paths of robots, worlds, scenarios, potentials, models and data. The digests cover the contents of those files.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from agora.errors import InputError
from agora.registry import Named
from agora.share import data_home, folder


@runtime_checkable
class ReadsFiles(Protocol):
    """A component that reads files that its fields do not name (`named_file`)."""

    def files(self) -> Iterable[Path]:
        """Return files and folders; all files in a folder count, and missing files and folders are skipped."""


@runtime_checkable
class NamesParts(Protocol):
    """A component whose fields refer to other components by name, such as a trainer that names its teacher."""

    def named_parts(self) -> Iterable[Named]:
        """Return the components that the fields name, as objects."""


def inputs(*parts: Any) -> dict[str, str]:
    """Return the digest of every file that the episodes depend on, by file name, sorted.

    The names of files that come with Agora begin with ``configs/`` or ``scenarios/``, and the names of files in the data folder
    with ``data/``; other files are named by their full path.

    Args:
        parts: suites and planners, or any other values that contain components.

    Raises:
        InputError: a file cannot be read, or a data set is missing.
    """
    files = {file for part in parts for place in _places(part) for file in _files_in(place)}
    return dict(sorted((_name(file), _digest(file)) for file in files))


def difference(was: Mapping[str, str], now: Mapping[str, str], rest: str) -> str:
    """Return a sentence about the first file, in alphabetical order, that was added, removed or changed; empty if none was.

    Args:
        was: earlier digests, by name.
        now: current digests, by name.
        rest: end of the sentence, which gives the time of the change and the remedy.
    """
    for name in sorted({*was, *now}):
        if name not in now:
            return f"{name} was removed {rest}"
        if name not in was:
            return f"{name} was added {rest}"
        if was[name] != now[name]:
            return f"{name} was changed {rest} (its digest was {was[name]} and is now {now[name]})"
    return ""


def unread(component: Named) -> Named:
    """Return a copy of a component and its nested components without cached file contents, which may be outdated."""
    part = component.part
    if not dataclasses.is_dataclass(part) or isinstance(part, type):
        return component
    values = {field.name: getattr(part, field.name) for field in dataclasses.fields(part) if field.init}
    inner = {name: unread(value) for name, value in values.items() if isinstance(value, Named)}
    return Named(component.name, dataclasses.replace(part, **inner)) if inner or isinstance(part, ReadsFiles) else component


def named_file(value: str | Path) -> Path | None:
    """Return the existing file that a string in a configuration names; the string must contain a folder or an extension."""
    path = Path(value)
    try:
        return path if ("/" in str(value) or path.suffix) and path.is_file() else None
    except (OSError, ValueError):  # the string is too long for a path, or contains a zero byte
        return None


def _places(value: Any) -> Iterator[Path]:
    """Yield the files and folders named in a configuration."""
    if isinstance(value, Named):
        yield from _places(value.part)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _places(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _places(item)
    elif isinstance(value, str | Path):
        if (file := named_file(value)) is not None:
            yield file
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        if isinstance(value, ReadsFiles):
            yield from value.files()
        if isinstance(value, NamesParts):
            yield from _places(list(value.named_parts()))
        for field in dataclasses.fields(value):
            yield from _places(getattr(value, field.name))


def _files_in(place: Path) -> Iterator[Path]:
    """Yield a file itself, or all files in a folder except hidden files and documentation."""
    if place.is_dir():
        for path in place.rglob("*"):
            hidden = any(part.startswith(".") for part in path.relative_to(place).parts)
            if path.is_file() and not hidden and path.suffix != ".md":
                yield path.resolve()
    elif place.is_file():
        yield place.resolve()


def _name(file: Path) -> str:
    """Return the name under which a file is listed; it is the same on every machine if the file comes with Agora or is in the data
    folder.
    """
    shared, data = folder("configs").parent.resolve(), data_home().resolve()
    for name in ("configs", "scenarios"):
        if file.is_relative_to(shared / name):
            return file.relative_to(shared).as_posix()
    return f"data/{file.relative_to(data).as_posix()}" if file.is_relative_to(data) else str(file)


def _digest(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}") from error
