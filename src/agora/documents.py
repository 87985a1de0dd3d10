"""Text of a file to a tree of values that know their line: what `agora.config` builds dataclasses from.

YAML 1.2 (and JSON, which is checked as such first) without its pitfalls: duplicate keys, tags that name types, aliases that contain
themselves, and bytes that are not UTF-8 are `InputError`s with a line.
"""

from __future__ import annotations

import dataclasses
import json
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from agora.errors import InputError, nearest

_LARGEST_FILE = 16_000_000
_MOST_VALUES = 1_000_000


@dataclass(frozen=True, eq=False)
class Node:
    """A value of a file and where it stands: a scalar, a list of nodes, or a dict of nodes by key."""

    value: Any
    line: int | None
    key_lines: Mapping[str, int] = dataclasses.field(default_factory=dict)


def refuse_what_is_no_file(path: Path) -> None:
    """Make sure that a path is one of an ordinary file: folders, devices and pipes, which may never end, are none.

    Raises:
        InputError: it is something else, or there is nothing.
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
        InputError: there is no such file, it is a folder, too large, not readable, or not UTF-8.
    """
    path = Path(path)
    try:
        refuse_what_is_no_file(path)
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
    """The tree of nodes of a text."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    if is_json:
        _check_json(text, where)
        text = text.replace("\t", " ")
    yaml = YAML(typ="safe", pure=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            root = yaml.compose(StringIO(text))
        if root is None:
            raise InputError(f"{where}:1: expected a document, got an empty file")
        return _TreeOfYaml(where).node(root)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else 1
        raise InputError(f"{where}:{line}: not valid YAML: {error.problem or error.context or 'cannot be parsed'}") from error
    except RecursionError as error:
        raise InputError(f"{where}:1: nested too deeply") from error
    except (YAMLError, ValueError, IndexError, KeyError, AttributeError, TypeError, AssertionError, NotImplementedError) as error:
        message = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{where}:1: not valid YAML: {message}") from error


def quick_tree_of_json(text: str, where: str) -> Node | None:
    """The tree of a JSON text without lines, much faster; None where `tree_of_text` has something to say about the text."""
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
        raise ValueError("a key is here twice")
    return made


def _check_json(text: str, where: str) -> None:
    """Refuse a text that is YAML but not JSON."""
    try:
        json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise InputError(f"{where}:{error.lineno}: not valid JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}:1: not valid JSON: {error}") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number")


_TAG = "tag:yaml.org,2002:"
_TEXT_TAGS = {_TAG + name for name in ("str", "timestamp", "value", "merge")}


class _TreeOfYaml:
    """Turns the parser's nodes into ours; refuses duplicates, foreign tags, and aliases that contain themselves."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.open: set[int] = set()
        self.count = 0

    def fail(self, node: Any, message: str) -> InputError:
        return InputError(f"{self.where}:{node.start_mark.line + 1}: {message}")

    def node(self, node: Any) -> Node:
        from ruamel.yaml.nodes import MappingNode, SequenceNode

        self.count += 1
        if id(node) in self.open or self.count > _MOST_VALUES:
            raise self.fail(node, "the aliases of this file contain themselves, or too many values")
        self.open.add(id(node))
        line = node.start_mark.line + 1
        tag = str(node.tag)
        if isinstance(node, SequenceNode) and tag == _TAG + "seq":
            made = Node([self.node(item) for item in node.value], line)
        elif isinstance(node, MappingNode) and tag == _TAG + "map":
            made = self.mapping(node, line)
        elif isinstance(node, MappingNode | SequenceNode):
            raise self.fail(node, f"expected plain YAML, got the tag {tag!r}")
        else:
            made = Node(self.scalar(node, tag), line)
        self.open.discard(id(node))
        return made

    def mapping(self, node: Any, line: int) -> Node:
        values: dict[str, Node] = {}
        lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            key = self.node(key_node).value
            if not isinstance(key, str):
                if isinstance(key, list | dict):
                    raise self.fail(key_node, "expected a name as key, got a list or mapping")
                key = str(key_node.value)
            if key in values:
                raise self.fail(key_node, f"{key}: this key is here twice; the first is on line {lines[key]}")
            lines[key] = key_node.start_mark.line + 1
            value = self.node(value_node)
            values[key] = value if value.value is not None else Node(None, lines[key])
        return Node(values, line, lines)

    def scalar(self, node: Any, tag: str) -> Any:
        text = node.value
        try:
            if tag in _TEXT_TAGS:
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
            raise self.fail(node, f"expected a {tag.removeprefix(_TAG)}, got {shown(text)}") from error
        raise self.fail(node, f"expected plain YAML, got the tag {tag!r}")


def _integer(text: str) -> int:
    """YAML 1.2: decimal, 0o17 or 0x1f."""
    digits = text.replace("_", "")
    base = {"0x": 16, "0o": 8}.get(digits.lstrip("+-")[:2].lower(), 10)
    return int(digits, base)


def tree_of_plain(values: Any, where: str, path: str = "", depth: int = 0) -> Node:
    """The tree of plain Python data, which has no lines."""
    if depth > 100:
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
    if values is None or isinstance(values, bool | int | float | str):
        return Node(values, None)
    raise InputError(f"{where}: {path or 'top level'}: expected plain data, got {type(values).__name__}")


def located(path: str | Path, *keys: str | int) -> str:
    """The beginning of a message about a value of a file that was read: ``file:line: key.path``."""
    node = tree_of_text(read_text(path), str(path), Path(path).suffix.lower() == ".json")
    name = ""
    for key in keys:
        node = node.value[key]
        name = join(name, key) if isinstance(key, str) else f"{name}[{key}]"
    return f"{path}:{node.line}: {name}"


def shown(value: Any) -> str:
    """A value of a file as a message quotes it."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if value is None:
        return "nothing"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**18:
        return "an integer beyond 10^18"
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def similar(name: str, known: Iterable[str]) -> str:
    """The end of a message: the nearest known name where one is near, else nothing."""
    hint = nearest(name, known)
    return f"; {hint}" if hint.startswith("did you mean") else ""


def join(path: str, key: str) -> str:
    """The path of a key in a mapping, as a message names it."""
    return f"{path}.{key}" if path else key
