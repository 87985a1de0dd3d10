"""Reads tables of numbers from text files, with error messages that give the line number, and caches the contents of files."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from pathlib import Path
from typing import TypeVar

import numpy as np

from agora.core.state import Doubles
from agora.errors import InputError
from agora.yaml_tree import read_text

T = TypeVar("T")


def once_per_file(read: Callable[[Path], T]) -> Callable[[Path], T]:
    """Decorate a function that reads a file, so that its most recent results are cached and a file is read again only if it has
    changed.
    """

    @lru_cache(maxsize=8)
    def keep(path: Path, stamp: tuple[int, int, int]) -> T:
        return read(path)

    @wraps(read)
    def reader(path: Path) -> T:
        try:
            stat = path.stat()
        except OSError:
            return read(path)
        return keep(path, (stat.st_ino, stat.st_mtime_ns, stat.st_size))

    return reader


def read_table(path: Path, columns: int, *, separator: str | None = None, header: str | None = None) -> Doubles:
    """Read rows of ``columns`` finite numbers; empty lines are skipped.

    Args:
        path: path of the file.
        columns: number of columns in each row.
        separator: text between two numbers; None for white space.
        header: expected first line; None if the file has no header.

    Raises:
        InputError: the file cannot be read, or a row is invalid.
    """
    return read_numbered(path, columns, separator=separator, header=header)[1]


def read_numbered(
    path: Path, columns: int, *, separator: str | None = None, header: str | None = None
) -> tuple[list[int], Doubles]:
    """Read rows like `read_table`, and also return the line number of each row.

    Raises:
        InputError: the file cannot be read, or a row is invalid.
    """
    lines = read_text(path).splitlines()
    start = 0
    if header is not None:
        if not lines or lines[0].strip() != header:
            raise InputError(f"{path}:1: expected the header {header!r}, got {lines[0][:60] if lines else 'an empty file'!r}")
        start = 1
    rows = {
        number: numbers(line, columns, f"{path}:{number}", separator)
        for number, line in enumerate(lines[start:], start + 1)
        if line.strip()
    }
    if not rows:
        raise InputError(f"{path}:1: expected rows of {columns} numbers, got none")
    return list(rows), np.array(list(rows.values()))


def numbers(line: str, columns: int, where: str, separator: str | None = None) -> list[float]:
    """Return the ``columns`` finite numbers in a line; ``where`` is the location of the line for error messages.

    Raises:
        InputError: the line does not consist of exactly ``columns`` finite numbers.
    """
    try:
        values = [float(word) for word in line.split(separator)]
    except ValueError as error:
        raise InputError(f"{where}: expected {columns} numbers, got {line.strip()[:60]!r}") from error
    if len(values) != columns or not np.isfinite(values).all():
        raise InputError(f"{where}: expected {columns} finite numbers, got {line.strip()[:60]!r}")
    return values
