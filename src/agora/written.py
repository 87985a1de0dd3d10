"""Writes dataclasses as plain data and as YAML, and describes the fields that `agora.config` reads: their keys, their types, and
which are not read.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import typing
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, Literal

import numpy as np

from agora.errors import InputError
from agora.registry import Named, name_of, plug_of
from agora.yaml_tree import leave_out

__all__ = ["dump", "fields_of", "key_of", "names_of", "plain", "unread"]


@functools.cache
def fields_of(kind: Any) -> tuple[dict[str, Any], list[str], dict[str, str]]:
    """Return three things: the types of a dataclass's parameters by key; the keys without a default; and the field names by key."""
    hints = typing.get_type_hints(kind, include_extras=True)
    fields = [field for field in dataclasses.fields(kind) if field.init]
    required = [key_of(f) for f in fields if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING]
    return {key_of(f): hints[f.name] for f in fields}, required, {key_of(f): f.name for f in fields}


def key_of(field: dataclasses.Field[Any]) -> str:
    """Return the key of a field in files: its name, or ``key`` in its metadata if the key is not a valid Python name."""
    return str(field.metadata.get("key", field.name))


def names_of(record: Any, key: str) -> tuple[str, ...]:
    """Return the values of the Literal field ``key`` of a dataclass; empty if there is no such field."""
    hint = fields_of(record)[0].get(key)
    return typing.get_args(hint) if typing.get_origin(hint) is Literal else ()


def unread(record: Any) -> Mapping[str, str]:
    """Return the keys that a record does not read because of its other values, with the reasons."""
    found: Mapping[str, str] = record.unread() if hasattr(type(record), "unread") else {}
    return found


def plain(value: Any, kind: Any = Any, *, only_read: bool = False) -> Any:
    """Return a dataclass (or anything made of dataclasses) as plain data: dicts in field order, lists and scalars.

    Args:
        value: the value to write.
        kind: type of the value; a component whose type is annotated with a `Plug` is written with its registered name.
        only_read: whether to leave out the keys that are not read, which must not appear in a file.

    Raises:
        InputError: the value contains something that a file cannot hold: a non-finite number, an object, or an unregistered
            component.
    """
    each = functools.partial(plain, only_read=only_read)
    if isinstance(value, Named):
        return {"name": value.name, **each(value.part)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        plug, hints = plug_of(kind), fields_of(type(value))[0]
        name = {} if plug is None else {"name": name_of(plug.kind, value)}
        written = {key_of(f): f.name for f in dataclasses.fields(value) if f.init}
        tree = name | {key: each(getattr(value, field), hints[key]) for key, field in written.items()}
        for key in unread(value) if only_read else ():
            leave_out(tree, key)
        return tree
    if isinstance(value, Mapping):
        return {str(key): each(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        items = (*typing.get_args(kind), Any) if typing.get_origin(kind) in (list, tuple, Sequence) else (Any,)
        return [each(item, items[0]) for item in value]
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"a file cannot contain the number {value}")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise InputError(f"a file cannot contain a {type(value).__name__}")


def dump(value: Any) -> str:
    """Return a dataclass (or anything made of dataclasses) as YAML text that `parse` can read back; equal values give the same
    text.

    Raises:
        InputError: as for `plain`.
    """
    from ruamel.yaml import YAML

    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.allow_unicode = False
    yaml.width = 120
    out = StringIO()
    yaml.dump(plain(value, only_read=True), out)
    return out.getvalue()
