"""Parses the text of a file into a tree of values with line numbers, from which `agora.config` builds dataclasses.

The format is YAML 1.2 without its pitfalls, or JSON, which is first checked to be valid JSON. Duplicate keys, tags that name types,
aliases that contain themselves, and bytes that are not UTF-8 raise `InputError` with a line number.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from yaml.cyaml import CParser
from yaml.error import MarkedYAMLError, YAMLError
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from agora.errors import InputError, similar

_LARGEST_FILE = 16_000_000
_LARGEST_TREE = 6_000_000  # characters; maximum length of a text whose values keep their line numbers
_MOST_VALUES = 1_000_000
_DEEPEST = 100
_LONGEST_NAME = 200


@dataclass(frozen=True, eq=False)
class Node:
    """A value in a file (a scalar, a list of nodes, or a dict of nodes by key) and its line."""

    value: Any
    line: int | None
    key_lines: Mapping[str, int] = dataclasses.field(default_factory=dict)


def require_file(path: Path) -> None:
    """Check that a path is a regular file, rather than a folder, or a device or pipe that might never end.

    Raises:
        InputError: the path does not exist or is not a regular file.
    """
    if path.is_dir():
        raise InputError(f"{path}: expected a file, got a folder")
    if not path.exists():
        siblings = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
        raise InputError(f"{path}: there is no such file{similar(path.name, siblings)}")
    if not path.is_file():
        raise InputError(f"{path}: expected a file, got a device or a pipe")


def read_text(path: str | Path) -> str:
    """Return the text of a UTF-8 file of at most 16 MB.

    Raises:
        InputError: the file does not exist, is a folder, is too large, is not readable, or is not UTF-8.
    """
    path = Path(path)
    try:
        require_file(path)
        data = path.read_bytes() if path.stat().st_size <= _LARGEST_FILE else None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    if data is None:
        raise InputError(f"{path}: expected a file of at most {_LARGEST_FILE // 1_000_000} MB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}:{line}: expected UTF-8 text, got the byte 0x{data[error.start]:02x}") from error


def tree_of_text(text: str, where: str, is_json: bool) -> Node:
    """Return the tree of nodes in a text.

    Raises:
        InputError: the text is not YAML (or not JSON if JSON is expected), or contains elements that files must not contain; the
            message gives the line.
    """
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        pedsim = ("; convert a pedsim_ros scenario to a world with: agora import pedsim FILE --output FOLDER") * (
            "<scenario" in text
        )
        raise InputError(f"{where}:1: is XML; expected {'JSON' if is_json else 'YAML or JSON'}{pedsim}")
    if is_json:
        _check_json(text, where)
    if len(text) > _LARGEST_TREE:
        problem = "invalid, and too large to locate the error; it" if is_json else "too large; a YAML file"
        raise InputError(f"{where}: {problem} may have at most {_LARGEST_TREE // 1_000_000} MB")
    if is_json:
        text = _SURROGATES.sub(_joined, text.replace("\t", " "))
    try:
        return _TreeOfYaml(where, CParser(text)).document()
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else 1
        raise InputError(f"{where}:{line}: not valid YAML: {error.problem or error.context or 'cannot be parsed'}") from error
    except (YAMLError, ValueError) as error:
        message = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{where}:1: not valid YAML: {message}") from error


def quick_tree_of_json(text: str, where: str) -> Node | None:
    """Return the tree of a JSON text without line numbers, much faster than `tree_of_text`; None if the text has a problem that
    `tree_of_text` must report.
    """
    if "\\ud" in text or "\\uD" in text:
        return None
    try:
        values = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique)
        return tree_of_plain(values, where)
    except (ValueError, RecursionError, InputError):
        return None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key occurs twice")
    return made


def _check_json(text: str, where: str) -> None:
    """Raise an error for a text that is YAML but not JSON."""
    try:
        json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise InputError(f"{where}:{error.lineno}: not valid JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        first = next((found for found in _CONSTANTS.finditer(text) if found[1]), None)
        line = 1 if first is None else text.count("\n", 0, first.start()) + 1
        raise InputError(f"{where}:{line}: not valid JSON: {error}") from error


_CONSTANTS = re.compile(r'"(?:\\.|[^"\\])*"|(NaN|-?Infinity)')
"""Matches a JSON string, or (group 1) a number that Python accepts but JSON does not define."""


_SURROGATES = re.compile(r"((?<!\\)(?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
"""Matches a pair of JSON escapes (surrogates) that encode one character; YAML has no equivalent."""


def _joined(found: re.Match[str]) -> str:
    before, high, low = found.groups()
    return str(before) + (bytes.fromhex(high) + bytes.fromhex(low)).decode("utf-16-be")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number")


_TAG = "tag:yaml.org,2002:"
_TEXT_TAGS = {_TAG + name for name in ("str", "timestamp", "value", "merge")}
_PLAIN = (
    ("null", re.compile(r"~|null|Null|NULL|")),
    ("bool", re.compile(r"true|True|TRUE|false|False|FALSE")),
    ("int", re.compile(r"[-+]?(0b[0-1_]+|0o?[0-7_]+|[0-9_]+|0x[0-9a-fA-F_]+)")),
    ("float", re.compile(r"[-+]?([0-9][0-9_]*\.[0-9_]*([eE][-+]?[0-9]+)?|[0-9][0-9_]*[eE][-+]?[0-9]+|\.[0-9_]+([eE][-+][0-9]+)?)")),
    ("float", re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")),
)
_MAYBE_PLAIN = frozenset("-+0123456789.~nNtTfF")
"""The possible first characters of unquoted non-string scalars in `_PLAIN` (YAML 1.2, core schema)."""


class _TreeOfYaml:
    """Converts the parser's events to nodes, and rejects duplicate keys, foreign tags, and aliases that contain themselves."""

    def __init__(self, where: str, parser: Any) -> None:
        self.where, self.parser = where, parser
        self.anchors: dict[str, tuple[Node, int]] = {}
        self.open: set[str] = set()
        self.count = 0

    def fail(self, event: Any, message: str) -> InputError:
        return InputError(f"{self.where}:{event.start_mark.line + 1}: {message}")

    def document(self) -> Node:
        """Return the tree of the document, which must be the only one."""
        self.parser.get_event()
        first = self.parser.get_event()
        if not isinstance(first, DocumentStartEvent):
            raise InputError(f"{self.where}:1: expected a document, got an empty file")
        root = self.node(self.parser.get_event(), 0)
        self.parser.get_event()
        more = self.parser.get_event()
        if isinstance(more, DocumentStartEvent):
            raise self.fail(more, "not valid YAML: expected a single document, got more than one")
        return root

    def node(self, event: Any, depth: int) -> Node:
        """Return the node that begins with this event."""
        self.count += 1
        if depth > _DEEPEST:
            raise self.fail(event, "nested too deeply")
        if isinstance(event, AliasEvent):
            return self.alias(event)
        anchor, before = event.anchor, self.count
        if anchor is not None:
            self.open.add(anchor)
        if isinstance(event, ScalarEvent):
            made = Node(self.scalar(event), event.start_mark.line + 1)
        elif isinstance(event, SequenceStartEvent):
            made = Node(self.sequence(event, depth), event.start_mark.line + 1)
        else:
            made = self.mapping(event, depth)
        if self.count > _MOST_VALUES:
            raise self.fail(event, f"expected at most {_MOST_VALUES} values")
        if anchor is not None:
            self.open.discard(anchor)
            self.anchors[anchor] = made, self.count - before + 1
        return made

    def alias(self, event: Any) -> Node:
        """Return the value to which an alias refers; the value counts towards the size limit each time it is used."""
        if event.anchor in self.open:
            raise self.fail(event, "the aliases in this file refer to themselves or expand to too many values")
        if event.anchor not in self.anchors:
            raise self.fail(event, f"not valid YAML: found undefined alias {event.anchor!r}")
        made, size = self.anchors[event.anchor]
        self.count += size
        if self.count > _MOST_VALUES:
            raise self.fail(event, "the aliases in this file refer to themselves or expand to too many values")
        return made

    def sequence(self, event: Any, depth: int) -> list[Node]:
        self.plain_tag(event, "seq")
        values = []
        while not isinstance(item := self.parser.get_event(), SequenceEndEvent):
            values.append(self.node(item, depth + 1))
        return values

    def mapping(self, event: Any, depth: int) -> Node:
        self.plain_tag(event, "map")
        values: dict[str, Node] = {}
        lines: dict[str, int] = {}
        while not isinstance(key_event := self.parser.get_event(), MappingEndEvent):
            key = self.node(key_event, depth + 1).value
            if not isinstance(key, str):
                if isinstance(key, list | dict) or isinstance(key_event, AliasEvent):
                    raise self.fail(key_event, "expected a name as key, got a list or mapping")
                key = str(key_event.value)
            if key in values:
                raise self.fail(key_event, f"{key}: this key occurs twice; the first is on line {lines[key]}")
            lines[key] = key_event.start_mark.line + 1
            value = self.node(self.parser.get_event(), depth + 1)
            values[key] = value if value.value is not None else Node(None, lines[key])
        return Node(values, event.start_mark.line + 1, lines)

    def plain_tag(self, event: Any, kind: str) -> None:
        if event.tag not in (None, "!", _TAG + kind):
            raise self.fail(event, f"expected plain YAML, got the tag {event.tag!r}")

    def scalar(self, event: Any) -> Any:
        text = event.value
        tag = event.tag or _TAG + ("str" if not event.implicit[0] else _kind_of(text))
        try:
            if tag in _TEXT_TAGS or tag == "!":
                return text.encode("utf-16", "surrogatepass").decode("utf-16")
            if tag == _TAG + "null":
                return None
            if tag == _TAG + "bool":
                return {"true": True, "false": False}[text.lower()]
            if tag == _TAG + "int":
                return _integer(text)
            if tag == _TAG + "float":
                return float(text.replace("_", "").lower().replace(".inf", "inf").replace(".nan", "nan"))
        except (ValueError, KeyError) as error:
            raise self.fail(event, f"expected a {tag.removeprefix(_TAG)}, got {value_text(text)}") from error
        raise self.fail(event, f"expected plain YAML, got the tag {tag!r}")


def _kind_of(text: str) -> str:
    """Return the tag of an unquoted scalar."""
    if not text or text[0] in _MAYBE_PLAIN:
        for kind, form in _PLAIN:
            if form.fullmatch(text):
                return kind
    return "str"


def _integer(text: str) -> int:
    """Parse a YAML 1.2 integer: decimal, 0o17 or 0x1f."""
    digits = text.replace("_", "")
    base = {"0x": 16, "0o": 8}.get(digits.lstrip("+-")[:2].lower(), 10)
    return int(digits, base)


def tree_of_plain(values: Any, where: str, path: str = "", depth: int = 0) -> Node:
    """Return the tree of plain Python data, which has no line numbers."""
    if depth > _DEEPEST:
        raise InputError(f"{where}: {path}: nested too deeply")
    if isinstance(values, Mapping):
        for key in values:
            if not isinstance(key, str):
                raise InputError(f"{where}: {path or 'top level'}: expected names as keys, got {key!r}")
        return Node({k: tree_of_plain(v, where, join(path, k), depth + 1) for k, v in values.items()}, None)
    if isinstance(values, list | tuple):
        return Node([tree_of_plain(v, where, f"{path}[{i}]", depth + 1) for i, v in enumerate(values)], None)
    if isinstance(values, np.generic):
        values = values.item()
    if values is None or isinstance(values, bool | int | float | str | np.ndarray):
        return Node(values, None)
    raise InputError(f"{where}: {path or 'top level'}: expected plain data, got {type(values).__name__}")


def location_of(path: str | Path, *keys: str | int) -> str:
    """Return the start of a message about a value in a file: ``file:line: key.path``."""
    node, name = _tree_of_file(Path(path), Path(path).stat().st_mtime_ns), ""
    for key in keys:
        node = node.value[key]
        name = join(name, key) if isinstance(key, str) else f"{name}[{key}]"
    return f"{path}:{node.line}: {name}"


@functools.lru_cache(maxsize=4)
def _tree_of_file(path: Path, changed: int) -> Node:
    """Return the tree of a file, cached until the file changes, because several messages may refer to the same file."""
    return tree_of_text(read_text(path), str(path), path.suffix.lower() == ".json")


def value_text(value: Any) -> str:
    """Return a value from a file in the form in which messages quote it."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}"
    if value is None:
        return "nothing"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**18:
        return "an integer beyond 10^18"
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def clip(text: str) -> str:
    """Return a name in the form in which messages quote it, with at most 200 characters."""
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 3] + "..."


def given_at(node: Node, key: str) -> int | None:
    """Return the line of a key (nested keys are separated by dots); 0 if the tree has no line numbers, None if the key is
    missing.
    """
    first, _, rest = key.partition(".")
    if not isinstance(node.value, dict) or first not in node.value:
        return None
    return given_at(node.value[first], rest) if rest else node.key_lines.get(first, node.line) or 0


def leave_out(tree: dict[str, Any], key: str) -> None:
    """Remove a key from plain data; dots separate nested keys."""
    first, _, rest = key.partition(".")
    if not rest:
        tree.pop(first, None)
    elif isinstance(tree.get(first), dict):
        leave_out(tree[first], rest)


def join(path: str, key: str) -> str:
    """Return the path of a key in a mapping, in the form used in messages."""
    return f"{path}.{key}" if path else key
