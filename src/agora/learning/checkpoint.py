"""The files from which a training continues:  its checkpoint and its curve; damaged ones are detected."""

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
"""Numbers that every checkpoint has."""

V = TypeVar("V")


class _Kept(dict[str, V]):
    """The numbers or the arrays of a checkpoint, by name."""

    def __init__(self, values: Mapping[str, V], path: Path, kind: str) -> None:
        super().__init__(values)
        self._path, self._kind = path, kind

    def __missing__(self, name: str) -> V:
        raise ResultsError(f"{self._path}: has no {self._kind} {name!r}, so it belongs to another trainer")


def write_checkpoint(path: Path, training: str, numbers: Mapping[str, float], arrays: Mapping[str, Array]) -> None:
    """Write a checkpoint, whole or not at all.

    Args:
        path: path of the file.
        training: digest of the training.
        numbers: numbers by name, `ALWAYS` among them.
        arrays: arrays by name.
    """
    said = json.dumps(numbers)
    about = {"numbers": said, "training": training, "digest": _digest(training, said, arrays)}
    write_whole(path, packed(arrays, about))


def read_checkpoint(path: Path, training: str) -> tuple[Mapping[str, float], Mapping[str, Array]]:
    """Return the numbers and arrays of a checkpoint.

    Args:
        path: path of the file.
        training: digest of the training that it must be of.

    Raises:
        ResultsError: the file is not a checkpoint, was damaged, is of another training, or holds numbers that are not finite;
            or, when a number or an array is looked up, it is not there.
    """
    about, arrays = _opened(path, with_arrays=True)
    numbers = _numbers(path, about)
    if about.get("training") != training:
        raise ResultsError(f"{path}: is a checkpoint of another training; restore that of this training, or choose another folder")
    if about.get("digest") != _digest(training, about["numbers"], arrays):
        raise ResultsError(f"{path}: is not a checkpoint: truncated or changed since it was written")
    check_finite(f"{path}:", arrays, ResultsError)
    return _Kept(numbers, path, "number"), _Kept(arrays, path, "array")


def steps_of(path: Path) -> float | None:
    """Return the environment steps after which a checkpoint was written; None if there is none that can be read."""
    try:
        return _numbers(path, _opened(path, with_arrays=False)[0])["steps"] if path.exists() else None
    except ResultsError:
        return None


def check_finite(where: str, arrays: Mapping[str, Array], error: type[Exception], rest: str = "") -> None:
    """Raise an error about an array that holds a number that is not finite: its message is ``where``, the array, ``rest``."""
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise error(f"{where} {name} is not finite{rest}")


def read_curve(path: Path) -> list[dict[str, Any]]:
    """Return the points of a curve; a last line without an end, which a kill has torn, is left out. [] where there is no file.

    Raises:
        ResultsError: the file cannot be read, or a line is not a point.
    """
    try:
        lines = read_text(path).split("\n")[:-1] if path.exists() else []
    except InputError as error:
        raise ResultsError(str(error)) from error
    return [point_of(line, f"{path}:{number}") for number, line in enumerate(lines, 1)]


def point_of(line: str, where: str) -> dict[str, Any]:
    """Return the point in a line of a curve.

    Args:
        line: the line.
        where: names the line in messages.

    Raises:
        ResultsError: the line is not a point.
    """
    try:
        point = json.loads(line)
    except (ValueError, RecursionError):
        point = None
    if not isinstance(point, dict) or not _is_number(point.get("steps")) or not all(map(_is_number, point.values())):
        raise ResultsError(f'{where}: expected a point such as {{"steps": 100, "loss": 0.5}}, got {line[:60]!r}')
    return point


def _opened(path: Path, *, with_arrays: bool) -> tuple[dict[str, str], dict[str, Array]]:
    """The metadata texts of a safetensors file, and its arrays if requested."""
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
    """The numbers of a checkpoint."""
    try:
        numbers = json.loads(about["numbers"])
    except (KeyError, ValueError, RecursionError) as error:
        raise ResultsError(f"{path}: is not a checkpoint: it contains no numbers") from error
    if not isinstance(numbers, dict) or not all(map(_is_number, numbers.values())) or not set(ALWAYS) <= set(numbers):
        raise ResultsError(f"{path}: is not a checkpoint: expected numbers {', '.join(ALWAYS)} and others, all finite")
    return numbers


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf


def _digest(training: str, numbers: str, arrays: Mapping[str, Array]) -> str:
    digest = hashlib.blake2b(f"{training}\0{numbers}\0".encode(), digest_size=16)
    for name in sorted(arrays):
        digest.update(f"{name}\0{arrays[name].dtype.str}\0{arrays[name].shape}\0".encode())
        digest.update(np.ascontiguousarray(arrays[name]).data)
    return digest.hexdigest()
