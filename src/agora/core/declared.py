"""Arrays of a record, declared once, on the field. Allocation, checks, codecs and files are derived from the declaration.

``pose: Doubles = field(metadata=axes("T 3", stored=np.float32))`` is such a declaration. `declared_arrays` reads it, `empty_arrays`
allocates arrays, `agora.benchmark.results.store` derives Parquet columns, and `agora.wire` checks received arrays.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agora.core.state import Array

__all__ = ["declared_arrays"]

_KEY = "axes"


@dataclass(frozen=True)
class Axes:
    """The axes of an array, and the types of its numbers.

    Attributes:
        names: axes. A number is a fixed length; a name is a length shared by all fields of the record; ``T-1`` is one less than
            ``T``.
        kind: type of the numbers in memory.
        stored: type of the numbers in files.
        masked: whether values are meaningless, and not stored, where the record's ``pedestrian_present`` is False.
        kept: whether files contain the array.
        optional: whether the field may be None instead of an array.
    """

    names: tuple[str, ...]
    kind: Any
    stored: Any
    masked: bool = False
    kept: bool = True
    optional: bool = False

    def shape(self, lengths: Mapping[str, int]) -> tuple[int, ...]:
        """Return the lengths of all axes, given the lengths of the named axes."""
        return tuple(_length(name, lengths) for name in self.names)

    def __str__(self) -> str:
        """Return the axes in the form ``(T, P, 2)``."""
        return f"({', '.join(self.names)}{',' * (len(self.names) == 1)})"


def _length(name: str, lengths: Mapping[str, int]) -> int:
    base, _, less = name.partition("-")
    return int(base) if base.isdigit() else max(lengths[base] - int(less or 0), 0)


def axes(names: str, kind: Any = np.float64, *, stored: Any = None, masked: bool = False, kept: bool = True) -> dict[str, Any]:
    """Return the metadata for an array field; ``names`` are separated by spaces, and the other arguments are as in `Axes`."""
    return {_KEY: Axes(tuple(names.split()), kind, kind if stored is None else stored, masked, kept)}


@functools.cache
def declared_arrays(record: type) -> dict[str, Axes]:
    """Return the arrays that a dataclass declares, by name, in order of declaration."""
    fields = [field for field in dataclasses.fields(record) if _KEY in field.metadata]
    return {field.name: dataclasses.replace(field.metadata[_KEY], optional=field.default is None) for field in fields}


def empty_arrays(record: type, names: Sequence[str], **lengths: int) -> dict[str, Array]:
    """Return arrays of zeros for the named arrays of a record, given the lengths of the named axes."""
    arrays = declared_arrays(record)
    return {name: np.zeros(arrays[name].shape(lengths), arrays[name].kind) for name in names}


def find_misfit(record: type, arrays: Mapping[str, Any]) -> str:
    """Describe the first array whose axes differ from the declaration or whose lengths are inconsistent; empty if all arrays
    fit.
    """
    lengths: dict[str, int] = {}
    for name, one in declared_arrays(record).items():
        array = arrays.get(name)
        if array is None:
            continue
        shape = np.shape(array)
        if len(shape) == len(one.names):
            for axis, length in zip(one.names, shape, strict=True):
                if axis.isidentifier():
                    lengths.setdefault(axis, length)
        known = {axis: lengths.get(axis.partition("-")[0], 1) for axis in one.names} | lengths
        if len(shape) != len(one.names) or one.shape(known) != shape:
            said = ", ".join(f"{axis} = {n}" for axis, n in lengths.items() if any(a.partition("-")[0] == axis for a in one.names))
            return f"{name}: expected an array {one}{f' with {said}' if said else ''}, got {shape}"
    return ""
