"""Folders of work that can be resumed: a run, a parameter search, a calibration, a training run.

Only one process at a time may work in such a folder. A record in the folder contains the data that determines the results; the work
can be resumed only if this data is unchanged. Versions and file digests are compared first, so that the error can name the package
or file that has changed.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agora.benchmark.provenance.inputs import difference
from agora.benchmark.provenance.packages import change, changed_files, check_imported
from agora.config import dump
from agora.errors import ResultsError
from agora.files import write_whole
from agora.yaml_tree import read_text, value_text

_CODE = "code.txt"
"""File with the manifest of the code that determines the results in a folder (`agora.benchmark.provenance.packages.manifest`)."""


@contextmanager
def exclusive_access(folder: Path) -> Iterator[None]:
    """Create a folder of results and lock it against other processes; the lock ends with the process.

    Raises:
        ResultsError: the folder cannot be created, or another process works in it.
        InputError: Agora's own code has changed since this process started.
    """
    check_imported()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise ResultsError(f"{folder}: cannot be written: {error.strerror or error}") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise ResultsError(f"{folder}: another run is using it") from error
    finally:
        os.close(handle)


def mark_of(decides: Mapping[str, Any]) -> str:
    """Return the digest of the plain data that determines results; the files of a run are marked with this digest."""
    return hashlib.blake2b(dump(decides).encode(), digest_size=16).hexdigest()


def check_resumed(record: Path, what: str, was: Mapping[str, Any], now: Mapping[str, Any], resume: bool, more: str = "") -> None:
    """Make sure that the work in a folder may be resumed, and that it is the same work as the requested work.

    Args:
        record: file that describes the existing work.
        what: word for the work in messages, such as "run", "training" or "calibration".
        was: plain data that determined the results when the work started, by name.
        now: plain data that determines the results now, by name.
        resume: whether to resume the work.
        more: alternative to resuming that the message suggests.

    Raises:
        ResultsError: ``resume`` is False, or some data differs; the message names the difference.
    """
    if not resume:
        raise ResultsError(f"{record.parent}: already contains a {what}; choose another folder, or continue it with --resume{more}")
    _check_files_and_packages(record.parent, was, now, f"since the {what} started")
    for part in dict.fromkeys([*now, *was]):
        if was.get(part) != now.get(part):
            words = difference_of(was.get(part), now.get(part), part)
            raise ResultsError(f"{record}: {words}; a {what} can only be resumed with the settings it started with")


def _check_files_and_packages(folder: Path, was: Mapping[str, Any], now: Mapping[str, Any], since: str) -> None:
    """Make sure that ``inputs`` and ``packages``, if the data contains them, have not changed since the work started."""
    for key in ("inputs", "packages"):
        if key in now and not isinstance(was.get(key), Mapping):
            raise ResultsError(
                f"{folder}: was started by a version of Agora that did not record {key}; start again in another folder"
            )
    rest = f"{since}; put the file back, or choose another folder"
    if changed := difference(was.get("inputs", {}), now.get("inputs", {}), rest):
        raise ResultsError(f"{folder}: {changed}")
    if "packages" in now and (changed := code_change(folder, was["packages"], now["packages"])):
        raise ResultsError(f"{folder}: {changed} {since}; put the code back, or choose another folder")


def check_software(record: Path, what: str, was: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Make sure that the versions of Python and of the numerical packages have not changed since the work started.

    Args:
        record: file that describes the work.
        what: word for the work in messages.
        was: versions when the work started, by name.
        now: current versions, by name.

    Raises:
        ResultsError: a version differs.
    """
    for name in [name for name in was if was[name] != now.get(name)]:
        raise ResultsError(
            f"{record.parent}: {name} was {was[name]} when the {what} started and is now {now.get(name, 'not installed')}; "
            "install the earlier version, or choose another folder"
        )


def write_code(folder: Path, manifest: str) -> None:
    """Save the manifest of the code in use when work in a folder begins. Raises: OSError: the file cannot be written."""
    write_whole(folder / _CODE, manifest)


def code_change(folder: Path, was: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return a description of the first package that has changed since the work in a folder started, with its changed files; empty
    if none has.
    """
    changed = change(was, now)
    return f"{changed}: {files}" if changed and (files := changed_files(code_of(folder))) else changed


def code_of(folder: Path) -> str:
    """Return the manifest of the code that was in use when the work in a folder started; empty if the folder has no manifest."""
    return read_text(folder / _CODE) if (folder / _CODE).is_file() else ""


def difference_of(was: Any, now: Any, path: str, places: tuple[str, str] | None = None) -> str:
    """Return a description of the first difference between two trees of plain data, including its location in the tree."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in [*was, *now]:
            if was.get(key) != now.get(key):
                return difference_of(was.get(key), now.get(key), f"{path}.{key}", places)
    if isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        pairs = enumerate(zip(was, now, strict=True))
        return next(difference_of(a, b, f"{path}[{i}]", places) for i, (a, b) in pairs if a != b)
    if places is None:
        return f"{path} was {value_text(was)}, but is now {value_text(now)}"
    return f"{path} is {value_text(was)} {places[0]} and {value_text(now)} {places[1]}"
