"""Reads and writes the files from which a training run resumes: its checkpoint and its learning curve. Detects damaged files."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from agora.core.state import Array
from agora.errors import InputError, ResultsError, reading
from agora.files import write_whole
from agora.policies.weights import packed
from agora.yaml_tree import read_text, require_file

ALWAYS = ("steps", "seconds", "best_success", "best_seconds")
"""Names of the numbers in every checkpoint."""

V = TypeVar("V")


class _Kept(dict[str, V]):
    """The numbers or arrays in a checkpoint, by name."""

    def __init__(self, values: Mapping[str, V], path: Path, kind: str) -> None:
        super().__init__(values)
        self._path, self._kind = path, kind

    def __missing__(self, name: str) -> V:
        raise ResultsError(f"{self._path}: has no {self._kind} {name!r}, so it belongs to another trainer")


def write_checkpoint(path: Path, training: str, numbers: Mapping[str, float], arrays: Mapping[str, Array]) -> None:
    """Write a checkpoint atomically.

    Args:
        path: path of the file.
        training: digest of everything that determines the training run.
        numbers: numbers by name; the names in `ALWAYS` are required.
        arrays: arrays by name.
    """
    said = json.dumps(numbers)
    about = {"numbers": said, "training": training, "digest": _digest(training, said, arrays)}
    write_whole(path, packed(arrays, about))


def read_checkpoint(path: Path, training: str) -> tuple[Mapping[str, float], Mapping[str, Array]]:
    """Return the numbers and arrays of a checkpoint.

    Args:
        path: path of the file.
        training: digest of everything that determines the training run to which the checkpoint must belong.

    Raises:
        ResultsError: the file is not a checkpoint, is damaged, belongs to another training run, or contains non-finite numbers. The
            returned mappings also raise this error if a number or an array is missing.
    """
    about, arrays = _opened(path, with_arrays=True)
    numbers = _numbers(path, about)
    if about.get("training") != training:
        raise ResultsError(
            f"{path}: is a checkpoint of another training run; restore the checkpoint of this run, or choose another folder"
        )
    if about.get("digest") != _digest(training, about["numbers"], arrays):
        raise ResultsError(f"{path}: is not a checkpoint: truncated or changed since it was written")
    check_finite(f"{path}:", arrays, ResultsError)
    return _Kept(numbers, path, "number"), _Kept(arrays, path, "array")


def steps_of(path: Path) -> float | None:
    """Return the number of environment steps at which a checkpoint was written; None if there is no readable checkpoint."""
    try:
        return _numbers(path, _opened(path, with_arrays=False)[0])["steps"] if path.exists() else None
    except ResultsError:
        return None


def check_finite(where: str, arrays: Mapping[str, Array], error: type[Exception], rest: str = "") -> None:
    """Raise ``error`` if an array contains a non-finite number; the message consists of ``where``, the name of the array and
    ``rest``.
    """
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise error(f"{where} {name} is not finite{rest}")


def read_curve(path: Path) -> list[dict[str, Any]]:
    """Return the points of a learning curve; [] if the file does not exist.

    An incomplete last line, left by a killed process, is ignored.

    Raises:
        ResultsError: the file cannot be read, or a line is not a valid point.
    """
    try:
        lines = read_text(path).split("\n")[:-1] if path.exists() else []
    except InputError as error:
        raise ResultsError(str(error)) from error
    return [point_of(line, f"{path}:{number}") for number, line in enumerate(lines, 1)]


def point_of(line: str, where: str) -> dict[str, Any]:
    """Return the point in one line of a learning curve's file.

    Args:
        line: the line.
        where: name by which messages refer to the line.

    Raises:
        ResultsError: the line is not a valid point.
    """
    try:
        point = json.loads(line)
    except (ValueError, RecursionError):
        point = None
    if not isinstance(point, dict) or not _is_number(point.get("steps")) or not all(map(_is_number, point.values())):
        raise ResultsError(f'{where}: expected a point such as {{"steps": 100, "loss": 0.5}}, got {line[:60]!r}')
    return point


def _opened(path: Path, *, with_arrays: bool) -> tuple[dict[str, str], dict[str, Array]]:
    """Return the metadata of a safetensors file, and its arrays if requested."""
    from safetensors import safe_open

    try:
        with reading(path, "a checkpoint"):
            require_file(path)
            with safe_open(path, framework="numpy") as file:
                names = file.keys() if with_arrays else ()
                return file.metadata() or {}, {name: file.get_tensor(name) for name in names}
    except InputError as error:
        raise ResultsError(f"{path}: is not a checkpoint: {str(error).removeprefix(f'{path}: ')}") from error


def _numbers(path: Path, about: Mapping[str, str]) -> dict[str, float]:
    """Return the numbers in a checkpoint."""
    try:
        numbers = json.loads(about["numbers"])
    except (KeyError, ValueError, RecursionError) as error:
        raise ResultsError(f"{path}: is not a checkpoint: it contains no numbers") from error
    if not isinstance(numbers, dict) or not all(map(_is_number, numbers.values())) or not set(ALWAYS) <= set(numbers):
        raise ResultsError(f"{path}: is not a checkpoint: expected finite numbers, including {', '.join(ALWAYS)}")
    return numbers


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf


def _digest(training: str, numbers: str, arrays: Mapping[str, Array]) -> str:
    digest = hashlib.blake2b(f"{training}\0{numbers}\0".encode(), digest_size=16)
    for name in sorted(arrays):
        digest.update(f"{name}\0{arrays[name].dtype.str}\0{arrays[name].shape}\0".encode())
        digest.update(np.ascontiguousarray(arrays[name]).data)
    return digest.hexdigest()
