"""Types in the words of messages, and whether a value has the shape of one."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from agora.documents import Node
from agora.ranges import Within


def fits(node: Node, kind: Any) -> bool:
    """Return whether a value's shape is that of a type."""
    origin = typing.get_origin(kind)
    if kind is Any:
        return True
    if dataclasses.is_dataclass(kind) or hasattr(kind, "_fields") or kind is dict or origin in (dict, Mapping):
        return isinstance(node.value, dict)
    if kind in (list, tuple) or origin in (list, tuple, Sequence):
        return isinstance(node.value, list)
    return not isinstance(node.value, list | dict)


def described(kind: Any) -> str:
    """A type in the words of a message."""
    words = {float: "a number", int: "an integer", str: "a text", bool: "true or false", Path: "a path", type(None): "nothing"}
    origin = typing.get_origin(kind)
    if origin is typing.Annotated:
        bounds = [f" in {part}" for part in kind.__metadata__ if isinstance(part, Within)]
        return described(typing.get_args(kind)[0]) + "".join(bounds)
    if origin is Literal:
        return f"one of {', '.join(map(str, typing.get_args(kind)))}"
    if origin in (typing.Union, types.UnionType):
        return " or ".join(described(k) for k in typing.get_args(kind))
    if dataclasses.is_dataclass(kind) or hasattr(kind, "_fields") or kind is dict or origin in (dict, Mapping):
        return "a mapping"
    return words.get(kind, "a list" if kind in (list, tuple) or origin in (list, tuple, Sequence) else "a value")


def looks_numeric(text: str) -> bool:
    """Return whether a text is a number in quotes."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
