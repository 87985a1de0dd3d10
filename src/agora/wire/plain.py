"""Conversion of records to plain data and back, with the same strict rules as for files (`agora.config`). The fields of a record
are the schema.

A dataclass or NamedTuple becomes a dict of its fields, an array stays an array, and an enumeration becomes its number. On reading,
the keys, types, ranges, array types and, if the record declares them (`agora.core.declared`), axes are checked.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import math
import typing
from dataclasses import replace
from typing import Any, TypeVar, cast

import numpy as np

from agora.config import Builder, plain
from agora.core.declared import find_misfit
from agora.core.recording import Recording
from agora.draft.stage import Stage
from agora.errors import InputError
from agora.maps.doors import Door, with_door
from agora.maps.grid import Map
from agora.registry import Named
from agora.yaml_tree import Node, join, tree_of_plain

T = TypeVar("T")
_LATER: dict[str, type] = {"Map": Map, "Door": Door}
"""Types that records in packages below `agora.maps` name only for type checkers."""
_DERIVED: dict[type, tuple[str, ...]] = {Map: ("stages",)}
"""Fields that are derived from other fields and are not transmitted."""


def to_plain(value: Any) -> Any:
    """Return a record, or anything made of records, as plain data; arrays are not copied.

    Raises:
        InputError: the record contains a value that cannot be converted to plain data.
    """
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Named | Stage):
        return plain(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        left = _DERIVED.get(type(value), ())
        return {f.name: to_plain(getattr(value, f.name)) for f in dataclasses.fields(value) if f.init and f.name not in left}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: to_plain(field) for name, field in value._asdict().items()}
    if isinstance(value, dict):
        return {name: to_plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise InputError(f"messages cannot contain a {type(value).__name__}")


def from_plain(values: Any, kind: type[T], where: str) -> T:
    """Build a record from plain data; ``where`` names the data in messages.

    Raises:
        InputError: a key is missing or unknown, or a value, an array's type or its axes do not match the record.
    """
    return cast(T, _RecordBuilder(where, complete=True).run(tree_of_plain(values, where), kind))


class _RecordBuilder(Builder):
    """Builds records that hold arrays, enumerations and other records."""

    def value(self, node: Node, kind: Any, path: str) -> Any:
        if typing.get_origin(kind) is np.ndarray:
            return self.array(node, kind, path)
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return self.member_of(node, kind, path)
        if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
            return self.record(node, kind, path)
        return super().value(node, kind, path)

    def finite(self, node: Node, path: str) -> float:
        """Build a number; unlike in files it may be infinite, such as the length of the path to an unreachable goal."""
        number = float(node.value)
        if math.isnan(number):
            raise self.unexpected(node, path, "a number")
        return number

    def scalar(self, node: Node, kind: Any, path: str) -> Any:
        if kind is float and isinstance(node.value, float) and math.isinf(node.value):
            return node.value
        return super().scalar(node, kind, path)

    def array(self, node: Node, kind: Any, path: str) -> Any:
        (number,) = typing.get_args(typing.get_args(kind)[1])
        if not isinstance(node.value, np.ndarray):
            raise self.unexpected(node, path, f"an array of {_named(number)}")
        if number is not Any and node.value.dtype != number:
            raise self.unexpected(node, path, f"an array of {_named(number)}")
        if np.isnan(node.value).any():
            raise self.wrong(node.line, path, "expected numbers, got NaN")
        return node.value

    def member_of(self, node: Node, kind: type[enum.Enum], path: str) -> Any:
        if not isinstance(node.value, bool) and node.value in [each.value for each in kind]:
            return kind(node.value)
        raise self.unexpected(node, path, f"one of {', '.join(f'{e.value} ({e.name.lower()})' for e in kind)}")

    def fields(self, kind: Any) -> tuple[dict[str, Any], list[str], dict[str, str]]:
        return _fields(kind) or super().fields(kind)

    def record(self, node: Node, kind: Any, path: str) -> Any:
        if isinstance(node.value, dict) and isinstance(kind, type) and dataclasses.is_dataclass(kind):
            given = {name: n.value for name, n in node.value.items() if isinstance(n.value, np.ndarray)}
            if wrong := find_misfit(kind, given):
                name, _, message = wrong.partition(": ")
                raise self.wrong(node.line, join(path, name), message)
        built = super().record(node, kind, path)
        if isinstance(built, Map) and built.door is not None:
            return with_door(replace(built, door=None), built.door)
        return built


@functools.cache
def _fields(kind: Any) -> tuple[dict[str, Any], list[str], dict[str, str]] | None:
    """Return the types of a record's fields by key, the required keys, and the field names by key, if `agora.config` cannot
    determine all of them.

    Such a record is a NamedTuple, has derived fields, or names types in `_LATER`. For other records, return None.
    """
    if hasattr(kind, "_fields"):
        names, required = list(kind._fields), [name for name in kind._fields if name not in kind._field_defaults]
    elif kind in _DERIVED or kind is Recording:
        some = [f for f in dataclasses.fields(kind) if f.init and f.name not in _DERIVED.get(kind, ())]
        names = [f.name for f in some]
        required = [f.name for f in some if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING]
    else:
        return None
    hints = typing.get_type_hints(kind, localns=_LATER, include_extras=True)
    return {name: hints[name] for name in names}, required, {name: name for name in names}


def _named(number: Any) -> str:
    return "numbers" if number is Any else np.dtype(number).name
