"""User files in YAML or JSON, read once and checked strictly into the frozen dataclasses that the code uses.

All problems in a file are reported together, each as ``file:line: key.path: what was expected, got what``. Problems are unknown
keys, missing keys, wrong types, non-finite numbers, duplicate keys, and values that ``__post_init__`` rejects with a `ValueError`.
The only conversions are from an integer to a float and from a list to a tuple.

A key that is given but not read is also a problem. A dataclass whose values determine which of its keys are read has a method
``unread``. It returns the keys that are not read, with dots between nested keys, and the reasons, such as "with source: truth".
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, cast

from agora.errors import InputError, UnknownNameError, nearest, similar
from agora.ranges import LARGEST, LARGEST_WHOLE, Within, type_name
from agora.registry import KINDS, Named, Plug, plug_of
from agora.registry import load as load_component
from agora.type_names import explain_unknown_parameters, fits, looks_numeric, suggest_component
from agora.written import dump, fields_of, names_of, plain, unread
from agora.yaml_tree import (
    Node,
    clip,
    given_at,
    join,
    quick_tree_of_json,
    read_text,
    tree_of_plain,
    tree_of_text,
    value_text,
)

__all__ = [
    "build",
    "build_component",
    "component_values",
    "dump",
    "load",
    "parse",
    "parse_component",
    "parse_components",
    "parse_parameters",
    "plain",
    "split",
]  # noqa

T = TypeVar("T")
_MOST_PROBLEMS = 20
_CALLED = re.compile(r"(\w+)\((.*)\)")


class _Wrong(Exception):  # noqa: N818
    """Raised inside the builder after a problem has been recorded; never leaves this module."""


def load(path: str | Path, kind: type[T]) -> T:
    """Read a YAML or JSON file into a dataclass (or another type made of dataclasses, lists, tuples, dicts and scalars).

    Args:
        path: path of the file; ``.json`` files are checked as JSON, all others are read as YAML 1.2.
        kind: type that the file describes.

    Raises:
        InputError: the file cannot be read, or does not describe a ``kind``.
    """
    text = read_text(path)
    return parse(text, kind, str(path), is_json=Path(path).suffix.lower() == ".json")


def parse(text: str, kind: type[T], where: str = "text", *, is_json: bool = False) -> T:
    """Build a ``kind`` from YAML or JSON text; ``where`` names the text in messages.

    Raises:
        InputError: as for `load`.
    """
    quick = quick_tree_of_json(text, where) if is_json else None
    if quick is not None:
        with suppress(InputError):  # errors are found again below, with line numbers if the text is not too long
            return cast(T, Builder(where).run(quick, kind))
    return cast(T, Builder(where).run(tree_of_text(text, where, is_json), kind))


def build(values: Any, kind: type[T], where: str = "configuration", *, complete: bool = False) -> T:
    """Build a ``kind`` from plain data (dicts, lists, scalars), with the same rules as for files.

    Args:
        values: the data.
        kind: type that the data describe.
        where: name of the data in messages.
        complete: whether the data was written by `plain`, which writes every key; if so, keys without effect are not errors.

    Raises:
        InputError: as for `load`.
    """
    return cast(T, Builder(where, complete).run(tree_of_plain(values, where), kind))


def build_component(kind: str, values: Mapping[str, Any], where: str = "configuration") -> Named:
    """Build a component from a mapping with its ``name`` and its parameters; ``where`` identifies the mapping in messages.

    Raises:
        InputError: the component is unknown, does not have a parameter, or rejects a value.
    """
    return cast(Named, Builder(where).run(tree_of_plain(dict(values), where), Annotated[Named, Plug(kind)]))


def parse_parameters(text: str, where: str) -> dict[str, Any]:
    """Parse a text of the form ``key=value,key=value``, in which values are written as in YAML, and return the values by key.

    Raises:
        InputError: the text does not have this form.
    """
    parts = (re.sub(r"=\s*(\w+\(.*\))\s*$", lambda called: "=" + json.dumps(called[1]), part) for part in split(text))
    flow = ", ".join(part.replace("=", ": ", 1) for part in parts)
    return cast(dict[str, Any], parse("{" + flow + "}", dict, where))


def parse_component(kind: str, text: str, where: str = "configuration") -> Named:
    """Build a component from a string, which is its name, ``name(key=value, key=value)`` or ``name:key=value,key=value``.

    Raises:
        InputError: the component is unknown, does not have a parameter or rejects a value, or the text has another form.
    """
    return build_component(kind, component_values(text, where), where)


def component_values(text: str, where: str) -> dict[str, Any]:
    """Return the ``name`` and the parameters given by a component string, in the form that `parse_component` accepts.

    Raises:
        InputError: the text has another form.
    """
    called = _CALLED.fullmatch(text.strip())
    name, rest = called.groups() if called else text.strip().partition(":")[::2]
    if "(" in name:
        raise InputError(f"{where}: expected name(key=value, ...), got {text.strip()!r}")
    return {"name": name.strip()} | parse_parameters(rest, where)


def parse_components(kind: str, text: str, where: str = "configuration") -> tuple[Named, ...]:
    """Build the components in a comma-separated list, such as ``groups,social_states(weights={phone: 2, queue: 0})``.

    Raises:
        InputError: as for `parse_component`.
    """
    return tuple(parse_component(kind, part, where) for part in split(text))


def split(text: str) -> list[str]:
    """Split a text at commas, except for commas inside brackets."""
    parts, depth, current = [], 0, ""
    for letter in text:
        depth += (letter in "[{(") - (letter in "]})")
        if letter == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += letter
    return [p for p in (*parts, current) if p.strip()]


class Builder:
    """Builds one value and collects all problems on the way; `agora.wire.plain` uses it to build records with arrays.

    Attributes:
        where: name of the document in messages.
        problems: problems found so far, at most `_MOST_PROBLEMS`.
        complete: whether a program wrote every key of every record; if so, keys without effect are not errors.
    """

    def __init__(self, where: str, complete: bool = False) -> None:
        self.where = where
        self.complete = complete
        self.problems: list[str] = []

    def run(self, node: Node, kind: Any) -> Any:
        """Build the value of a whole document; raise an `InputError` that lists all problems, if there are any."""
        try:
            value = self.value(node, kind, "")
        except _Wrong:
            value = None
        except RecursionError as error:
            raise InputError(f"{self.where}:1: nested too deeply") from error
        if self.problems:
            full = len(self.problems) >= _MOST_PROBLEMS
            raise InputError("\n".join(self.problems + ["there may be more problems"] * full))
        return value

    def wrong(self, line: int | None, path: str, message: str) -> _Wrong:
        """Record a problem, and return the exception to raise."""
        place = self.where if line is None else f"{self.where}:{line}"
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(f"{place}: {clip(path)}: {message}" if path else f"{place}: {message}")
        return _Wrong()

    def unexpected(self, node: Node, path: str, expected: str) -> _Wrong:
        """Record that a value is not as expected, and return the exception to raise."""
        hint = ""
        if isinstance(node.value, str) and expected in ("a number", "an integer"):
            hint = "; remove the quotes" if looks_numeric(node.value) else ""
        return self.wrong(node.line, path, f"expected {expected}, got {value_text(node.value)}{hint}")

    def value(self, node: Node, kind: Any, path: str) -> Any:
        """Build a value of type ``kind``; ``path`` is its key in messages."""
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin is typing.Annotated:
            if (plug := plug_of(kind)) is None:
                return self.ranged(node, kind, path)
            named = self.component(node, plug, path)
            return named if arguments[0] is Named else named.part
        if origin is Literal:
            return self.choice(node, arguments, path)
        if origin in (typing.Union, types.UnionType):
            return self.union(node, arguments, path)
        if dataclasses.is_dataclass(kind):
            return self.record(node, kind, path)
        if kind is Any:
            return self.anything(node, path)
        if kind in (list, tuple) or origin in (list, tuple, Sequence):
            return self.sequence(node, list if list in (kind, origin) else tuple, arguments, path)
        if kind is dict or origin in (dict, Mapping):
            return self.mapping(node, arguments[1] if arguments else Any, path)
        return self.scalar(node, kind, path)

    def component(self, node: Node, plug: Plug, path: str) -> Named:
        """Build a registered component from its name, from ``name(key=value, key=value)``, or from a mapping with ``name`` and its
        parameters.
        """
        if isinstance(node.value, str) and (called := _CALLED.fullmatch(node.value)):
            values = {"name": called[1]} | parse_parameters(called[2], f"{self.where}:{node.line}: {path}")
            node = dataclasses.replace(tree_of_plain(values, self.where), line=node.line)
        kind, name, given = plug.kind, node, Node({}, node.line)
        if isinstance(node.value, dict):
            if "name" not in node.value and not plug.usual:
                raise self.wrong(node.line, join(path, "name"), f"expected a valid {KINDS[kind]} name, got nothing")
            name = node.value.get("name", Node(plug.usual, node.line))
            given = dataclasses.replace(node, value={k: v for k, v in node.value.items() if k != "name"})
        if not isinstance(name.value, str):
            raise self.unexpected(name, path, f"a valid {KINDS[kind]} name")
        try:
            part = load_component(kind, name.value)
        except UnknownNameError as error:
            raise self.wrong(name.line, path, str(error)) from error
        if name is not node and "name" not in node.value:
            for key, message in explain_unknown_parameters(given, plug):
                raise self.wrong(node.key_lines.get(key, node.line), join(path, key), message)
        return Named(name.value, self.record(given, part, path))

    def scalar(self, node: Node, kind: Any, path: str) -> Any:
        """Build a number, a string, a path, a Boolean or None."""
        value = node.value
        if kind in (None, type(None)) and value is None:
            return None
        if kind is bool and isinstance(value, bool):
            return value
        if kind is int and isinstance(value, int) and not isinstance(value, bool):
            if abs(value) > LARGEST_WHOLE:
                raise self.unexpected(node, path, "an integer of at most 64 bits")
            return value
        if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
            number = self.finite(node, path)
            if abs(number) > LARGEST:
                raise self.unexpected(node, path, f"a number in [-{LARGEST:g}, {LARGEST:g}]")
            return number
        if kind is str and isinstance(value, str):
            return value
        if kind is Path and isinstance(value, str) and value and "\0" not in value:
            return Path(value)
        raise self.unexpected(node, path, type_name(kind))

    def finite(self, node: Node, path: str) -> float:
        """Build a finite number."""
        try:
            number = float(node.value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise self.unexpected(node, path, "a finite number")
        return number

    def ranged(self, node: Node, kind: Any, path: str) -> Any:
        """Build a number that must lie in the `Within` range of its type."""
        value = self.value(node, typing.get_args(kind)[0], path)
        for bounds in kind.__metadata__:
            if isinstance(bounds, Within) and not bounds.holds(value):
                raise self.unexpected(node, path, type_name(kind))
        return value

    def choice(self, node: Node, names: tuple[Any, ...], path: str) -> Any:
        """Build a value that must be one of the given names."""
        for name in names:
            if node.value == name and type(node.value) is type(name):
                return name
        message = f"expected one of {', '.join(map(str, names))}, got {value_text(node.value)}"
        if isinstance(node.value, str):
            message += similar(node.value, [str(name) for name in names])
        raise self.wrong(node.line, path, message)

    def union(self, node: Node, kinds: tuple[Any, ...], path: str) -> Any:
        """Build a value of one of several types."""
        if node.value is None and type(None) in kinds:
            return None
        for kind in kinds:
            if plug_of(kind) is not None:  # an optional component
                return self.value(node, kind, path)
        fitting = [kind for kind in kinds if fits(node, kind)]
        records = [kind for kind in fitting if dataclasses.is_dataclass(kind)]
        if len(records) > 1:
            return self.record(node, self.member(node, records, path), path)
        for kind in fitting:
            attempt = type(self)(self.where, self.complete)
            try:
                value = attempt.value(node, kind, path)
            except _Wrong:
                value = None
            if not attempt.problems:
                return value
            if len(fitting) == 1 and (isinstance(node.value, dict | list) or typing.get_origin(kind) is Literal):
                self.problems += attempt.problems
                raise _Wrong
        raise self.unexpected(node, path, " or ".join(type_name(kind) for kind in kinds))

    def member(self, node: Node, records: list[Any], path: str) -> Any:
        """Build the member of a union that the key ``kind`` or ``mode`` selects; without such a key, the member that lacks this
        field.
        """
        for key in ("kind", "mode"):
            names = {name: record for record in records for name in names_of(record, key)}
            if names:
                break
        else:
            raise TypeError(f"{records} have no Literal field 'kind' or 'mode' to tell them apart")
        nameless = [record for record in records if not names_of(record, key)]
        if key not in node.value and len(nameless) == 1:
            return nameless[0]
        if key not in node.value:
            raise self.wrong(node.line, path, f"expected the key {key!r} with one of {', '.join(names)}, but the key is missing")
        return names[self.choice(node.value[key], tuple(names), join(path, key))]

    def sequence(self, node: Node, make: Any, arguments: tuple[Any, ...], path: str) -> Any:
        """Build a list or tuple."""
        if not isinstance(node.value, list):
            raise self.unexpected(node, path, "a list")
        count = len(node.value)
        if make is list or not arguments or arguments[-1] is Ellipsis:
            kinds = (arguments[0] if arguments else Any,) * count
        elif len(arguments) == count:
            kinds = arguments
        else:
            raise self.wrong(node.line, path, f"expected a list of {len(arguments)} values, got {count}")
        return make(self.all((node.value[i], kinds[i], f"{path}[{i}]") for i in range(count)))

    def mapping(self, node: Node, kind: Any, path: str) -> dict[str, Any]:
        """Build a dict whose values have one type."""
        if not isinstance(node.value, dict):
            raise self.unexpected(node, path, "a mapping")
        keys = node.value.keys()
        return dict(zip(keys, self.all((node.value[key], kind, join(path, key)) for key in keys), strict=True))

    def all(self, parts: Iterator[tuple[Node, Any, str]]) -> list[Any]:
        """Build all parts and return them; continue after a problem, so that all problems are reported."""
        built, failed = [], False
        for part in parts:
            try:
                built.append(self.value(*part))
            except _Wrong:
                failed = True
                if len(self.problems) >= _MOST_PROBLEMS:
                    break
        if failed:
            raise _Wrong
        return built

    def anything(self, node: Node, path: str) -> Any:
        """Return plain data unchanged."""
        if isinstance(node.value, list):
            return self.sequence(node, list, (), path)
        if isinstance(node.value, dict):
            return self.mapping(node, Any, path)
        if isinstance(node.value, float):
            return self.finite(node, path)
        return node.value

    def fields(self, kind: Any) -> tuple[dict[str, Any], list[str], dict[str, str]]:
        """Return three things: the types of a record's fields by key; the required keys; and the field names by key."""
        return fields_of(kind)

    def record(self, node: Node, kind: Any, path: str) -> Any:
        """Build a dataclass from a mapping of its fields."""
        if not isinstance(node.value, dict):
            raise self.unexpected(node, path, f"a mapping with the keys {', '.join(self.fields(kind)[0])}")
        hints, required, names = self.fields(kind)
        before = len(self.problems)
        for key in islice((key for key in node.value if key not in hints), _MOST_PROBLEMS):
            hint = suggest_component(key, node, hints) or nearest(key, hints)
            self.wrong(node.key_lines.get(key, node.line), join(path, key), f"unknown key; {hint}")
        for key in required:
            if key not in node.value:
                self.wrong(node.line, join(path, key), f"expected {type_name(hints[key])}, got nothing: the key is missing")
        given = [key for key in hints if key in node.value]
        built = {}
        for key in given:
            try:
                built[names[key]] = self.value(node.value[key], hints[key], join(path, key))
            except _Wrong:
                continue
        if len(self.problems) > before:
            raise _Wrong
        try:
            made = kind(**built)
        except (ValueError, OverflowError, InputError) as error:
            first = str(error).split(maxsplit=1)[0].rstrip(":,;") if str(error) else ""
            line = node.value[first].line if first in node.value else node.line
            raise self.wrong(line, path, str(error)) from error
        if not self.complete:
            for key, why in unread(made).items():
                if (line := given_at(node, key)) is not None:
                    self.wrong(line or None, join(path, key), f"has no effect {why}; leave it out")
        if len(self.problems) > before:
            raise _Wrong
        return made
