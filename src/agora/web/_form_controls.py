"""The controls that a form shows for the types of a dataclass's fields."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from agora.registry import plug_of

_KNOWN = {float: "number", int: "whole", bool: "yes", str: "text"}


def control_of(hint: Any) -> str:
    """Return the control for a value: ``number``, ``whole``, ``yes``, ``text``, ``choice``, ``component`` or ``other``."""
    if plug_of(hint) is not None:
        return "component"
    if choices_of(hint):
        return "choice"
    members = _members(hint)
    return _KNOWN.get(_bare(members[0]), "other") if len(members) == 1 else "other"


def choices_of(hint: Any) -> tuple[Any, ...]:
    """Return the values that a type offers as choices; empty if the type is not a choice."""
    members = _members(hint)
    if len(members) != 1:
        return ()
    bare = _bare(members[0])
    return typing.get_args(bare) if typing.get_origin(bare) is Literal else ()


def structure_of(hint: Any) -> dict[str, Any] | None:
    """Return the structure of a composite value; None for a single value, or for a value that forms cannot show.

    ``of`` is the control for each part; it may also be ``record`` or ``shares``. ``many`` is true for a list, ``length`` is its
    number of parts, and ``single`` is true if a single part may be written without the list. ``word`` is the key of a record whose
    value alone may stand for the record. ``optional`` is true if the value may be missing.
    """
    members = _members(hint)
    optional = len(_all(hint)) > len(members)
    lists = [one for one in members if typing.get_origin(_bare(one)) is tuple]
    records = [one for one in members if dataclasses.is_dataclass(_bare(one))]
    said = {
        "of": "",
        "many": False,
        "length": 0,
        "single": False,
        "word": "",
        "record": "",
        "kind": "",
        "choices": [],
        "optional": optional,
    }
    if lists:
        inner, length = _inner(lists[0])
        part = _part(inner)
        return None if part is None else {**said, **part, "many": True, "length": length, "single": inner in members}
    if records and plug_of(hint) is None:
        word = next((one for one in members if typing.get_origin(_bare(one)) is Literal), None)
        return {
            **said,
            "of": "record",
            "record": _bare(records[0]).__name__,
            "word": "" if word is None else _key_of(records[0], word),
        }
    if len(members) == 1 and typing.get_origin(_bare(members[0])) in (dict, Mapping):
        values = [_bare(value) for value in typing.get_args(_bare(members[0]))[1:]]
        return {**said, "of": "shares"} if values == [float] else None
    return None


def nested_dataclasses(hint: Any) -> Iterator[type]:
    """Yield the dataclasses that a value of a type may contain."""
    if plug_of(hint) is not None:
        return
    for member in _members(hint):
        bare = _bare(member)
        if dataclasses.is_dataclass(bare) and isinstance(bare, type):
            yield bare
        elif typing.get_origin(bare) is tuple:
            for inner in typing.get_args(bare):
                yield from nested_dataclasses(inner)


def _part(inner: Any) -> dict[str, Any] | None:
    """Return the control for the parts of a list."""
    plug, bare = plug_of(inner), _bare(inner)
    if plug is not None:
        return {"of": "component", "kind": plug.kind}
    if dataclasses.is_dataclass(bare) and isinstance(bare, type):
        return {"of": "record", "record": bare.__name__}
    kind = control_of(inner)
    return None if kind == "other" else {"of": kind, "choices": list(map(str, choices_of(inner)))}


def _inner(hint: Any) -> tuple[Any, int]:
    """Return the type of a list's parts, and their number; 0 means any number."""
    arguments = [one for one in typing.get_args(_bare(hint)) if one is not Ellipsis]
    return arguments[0], 0 if Ellipsis in typing.get_args(_bare(hint)) else len(arguments)


def _key_of(record: Any, word: Any) -> str:
    """Return the field of a dataclass that accepts the same strings as a choice."""
    hints = typing.get_type_hints(_bare(record), include_extras=True)
    return next((name for name, hint in hints.items() if choices_of(hint) == typing.get_args(_bare(word))), "")


def _bare(hint: Any) -> Any:
    """Return a type without its annotations."""
    return _bare(typing.get_args(hint)[0]) if typing.get_origin(hint) is typing.Annotated else hint


def _all(hint: Any) -> tuple[Any, ...]:
    """Return the types of a union; for other types, the type itself."""
    if typing.get_origin(_bare(hint)) in (typing.Union, types.UnionType):
        return tuple(member for one in typing.get_args(_bare(hint)) for member in _all(one))
    return (hint,)


def _members(hint: Any) -> tuple[Any, ...]:
    """Return the types of a union except None; for other types, the type itself."""
    return tuple(one for one in _all(hint) if one is not type(None))
