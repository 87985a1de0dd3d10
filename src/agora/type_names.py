"""Checks the structure of values, and gives hints about keys that a type does not have."""

from __future__ import annotations

import dataclasses
import math
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agora.errors import nearest
from agora.registry import KINDS, Plug, available, load, plug_of
from agora.yaml_tree import Node


def fits(node: Node, kind: Any) -> bool:
    """Return whether a value has the structure of a type."""
    origin = typing.get_origin(kind)
    if kind is Any:
        return True
    if dataclasses.is_dataclass(kind) or hasattr(kind, "_fields") or kind is dict or origin in (dict, Mapping):
        return isinstance(node.value, dict)
    if kind in (list, tuple) or origin in (list, tuple, Sequence):
        return isinstance(node.value, list)
    return not isinstance(node.value, list | dict)


def suggest_component(key: str, node: Node, hints: Mapping[str, Any]) -> str:
    """Return a hint that says which component in a mapping has a parameter that was written next to the component instead of inside
    it; empty if no component has the parameter.

    Args:
        key: key of the parameter. node: the mapping. hints: types of the mapping's values, by key.
    """
    for outer, hint in hints.items():
        plug, given = plug_of(hint), node.value.get(outer)
        name = "" if plug is None else plug.usual if given is None or isinstance(given.value, dict) else str(given.value)
        if plug is None or name not in available(plug.kind):
            continue
        if key in _parameters(plug.kind, name):
            return f"did you mean {outer}: {{name: {name}, {key}: ...}}?"
    return ""


def explain_unknown_parameters(node: Node, plug: Plug) -> Iterator[tuple[str, str]]:
    """Yield messages about parameters that the default component does not have, which may belong to another component whose name is
    missing.

    Args:
        node: parameters without a component name. plug: `Plug` with the default component.

    Yields:
        Key of the parameter, and a message.
    """
    known, kind = _parameters(plug.kind, plug.usual), KINDS[plug.kind]
    for key in node.value:
        if key not in known:
            others = f"(to choose another {kind}, set the key name: {', '.join(available(plug.kind))})"
            yield key, f"{kind} {plug.usual!r} has no parameter {key!r}; {nearest(key, known)} {others}"


def _parameters(kind: str, name: str) -> set[str]:
    """Return the names of a component's parameters."""
    return {field.name for field in dataclasses.fields(load(kind, name)) if field.init}


def looks_numeric(text: str) -> bool:
    """Return whether a text that is quoted in a file would be a number without the quotes."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
